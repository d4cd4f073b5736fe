import json

import pytest

from benchmarking.workloads.load.endpoint import ServedModel, TensorShape
from benchmarking.workloads.load.payloads import declared, make_payloads
from benchmarking.workloads.load.tensors import TensorValue

X, Y = TensorShape("x", "FP32", (3,)), TensorShape("y", "FP32", (-1,))
REFERENCE = (TensorValue("x", "FP32", (1, 3), (10.0, 20.0, 30.0)),)
WITH_REFERENCE = ServedModel((X,), (Y,), 8, REFERENCE, (TensorValue("y", "FP32", (1, 1), (6.0,)),), 0.5, 0.0)


def inputs(payload):
    return json.loads(payload.body)["inputs"]


def test_the_reference_comes_first_with_as_many_rows_as_asked():
    first, second = make_payloads(WITH_REFERENCE, "json", 2, 2, 0)
    assert inputs(first) == [{"name": "x", "datatype": "FP32", "shape": [2, 3], "data": [10.0, 20.0, 30.0] * 2}]
    assert first.expected.outputs == (TensorValue("y", "FP32", (2, 1), [6.0, 6.0]),)
    assert first.expected.absolute == 0.5
    assert second.expected is None  # learnt from the first answer
    numbers = inputs(second)[0]["data"]
    assert len(set(numbers)) == 6
    assert all(10 <= number <= 30 for number in numbers)


def test_the_seed_decides():
    model = ServedModel((TensorShape("ids", "INT64", (-1,)),), (Y,), 4, (TensorValue("ids", "INT64", (1, 5), (1, 9, 3, 3, 3)),))
    one, other = (make_payloads(model, "json", 3, 1, seed) for seed in (1, 2))
    assert one == make_payloads(model, "json", 3, 1, 1)
    assert one[0].body == other[0].body  # the reference
    assert one[1].body != other[1].body != one[2].body
    drawn = inputs(one[1])[0]
    assert drawn["shape"] == [1, 5]
    assert all(isinstance(number, int) and 1 <= number <= 9 for number in drawn["data"])


def test_a_model_without_rows_or_reference():
    model = ServedModel((TensorShape("x", "FP32", (-1, 2)),), (Y,), 0)
    assert inputs(make_payloads(model, "json", 1, 1, 0)[0])[0]["shape"] == [1, 2]
    assert declared(model, 1).outputs[0].shape == (-1,)
    assert declared(WITH_REFERENCE, 4).outputs[0].shape == (4, -1)


def test_binary_is_smaller():
    wide = ServedModel((TensorShape("x", "FP32", (1000,)),), (Y,), 1)
    as_json, as_bytes = (make_payloads(wide, kind, 1, 1, 0)[0] for kind in ("json", "binary"))
    assert len(as_bytes.body) < 4_300 < len(as_json.body)
    assert as_bytes.content_type.startswith("application/vnd.sagemaker-triton.binary+json;json-header-size=")


@pytest.mark.parametrize(
    ("model", "kind", "count", "rows", "said"),
    [
        (WITH_REFERENCE, "xml", 1, 1, "json or binary"),
        (WITH_REFERENCE, "json", 0, 1, "from 1"),
        (WITH_REFERENCE, "json", 1, 9, "8 rows"),
        (ServedModel((X,), (Y,), 0), "json", 1, 2, "1 rows"),
        (ServedModel((TensorShape("x", "BYTES", (1,)),), (Y,), 1), "binary", 1, 1, "BYTES"),
        (ServedModel((TensorShape("x", "FP32", (1_600_000,)),), (Y,), 1), "binary", 1, 1, "6,291,456"),
    ],
)
def test_what_cannot_be_sent_is_refused(model, kind, count, rows, said):
    with pytest.raises(SystemExit, match=said):
        make_payloads(model, kind, count, rows, 0)
