import json

import pytest

from benchmarking.workloads.load.tensors import BadTensorError, TensorValue, binary_body, json_body, outputs_of, packed, tensor_of, unpacked

X = TensorValue("x", "FP32", (1, 2), (0.5, -1.0))
IDS = TensorValue("ids", "INT64", (1, 3), (1, 2, 3))


def test_json_holds_the_numbers():
    body, content_type = json_body([X])
    assert content_type == "application/json"
    assert json.loads(body) == {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [0.5, -1.0]}]}


def test_binary_is_a_header_and_little_endian_bytes():
    body, content_type = binary_body([X, IDS], ["y"])
    length = int(content_type.partition("json-header-size=")[2])
    head = json.loads(body[:length])
    assert [one["parameters"]["binary_data_size"] for one in head["inputs"]] == [8, 24]
    assert head["outputs"] == [{"name": "y", "parameters": {"binary_data": True}}]
    assert body[length:] == bytes.fromhex("0000003f000080bf") + b"".join(number.to_bytes(8, "little") for number in (1, 2, 3))


@pytest.mark.parametrize("datatype", ["FP16", "FP32", "FP64", "INT8", "UINT16", "INT64", "BOOL"])
def test_bytes_there_and_back(datatype):
    numbers = (True, False) if datatype == "BOOL" else (0, 1, 2)
    assert unpacked(packed(TensorValue("t", datatype, (len(numbers),), numbers)), datatype) == numbers


def test_answers_of_either_form():
    body = json.dumps({"outputs": [{"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [[0.5, -1.0]]}]}).encode()
    assert outputs_of(body, {}) == (TensorValue("y", "FP32", (1, 2), [0.5, -1.0]),)
    head = json.dumps({"outputs": [{"name": "y", "datatype": "FP32", "shape": [2], "parameters": {"binary_data_size": 8}}]}).encode()
    whole = head + packed(X)
    for headers in ({"inference-header-content-length": str(len(head))}, {"content-type": f"a/b;json-header-size={len(head)}"}):
        assert outputs_of(whole, headers)[0].data == [0.5, -1.0]
    with pytest.raises(BadTensorError, match="fewer bytes"):
        outputs_of(whole[:-1], {"inference-header-content-length": str(len(head))})


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"outputs":[3]}', b'{"outputs":[{"name":"y"}]}'])
def test_what_holds_no_outputs(body):
    with pytest.raises(BadTensorError):
        outputs_of(body, {})


def test_numbers_and_shape_must_agree():
    with pytest.raises(BadTensorError, match="1 numbers where"):
        tensor_of({"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [1.0]})
    with pytest.raises(BadTensorError, match="no number"):
        tensor_of({"name": "y", "datatype": "FP32", "shape": [1], "data": ["a"]})
    with pytest.raises(BadTensorError, match="datatype"):
        packed(TensorValue("y", "BYTES", (1,), (1,)))
    with pytest.raises(BadTensorError):
        packed(TensorValue("y", "INT8", (1,), (300,)))
