"""Requests and answers of the inference protocol v2."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest

from backends.serving.ort.tensors import BadRequestError, decode, encode


def body(shape, data, datatype="FP32", **more):
    return json.dumps({"inputs": [{"name": "x", "datatype": datatype, "shape": shape, "data": data}], **more}).encode()


def binary(shape, data, said=None, datatype="FP32"):
    head = {"name": "x", "datatype": datatype, "shape": shape, "parameters": {"binary_data_size": len(data) if said is None else said}}
    text = json.dumps({"inputs": [head]}).encode()
    return text + data, len(text)


def test_numbers_are_read_nested_or_flat():
    flat = decode(body([2, 2], [1, 2, 3, 4]), None).arrays["x"]
    nested = decode(body([2, 2], [[1, 2], [3, 4]]), None).arrays["x"]
    assert flat.tolist() == nested.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert flat.dtype == np.float32


def test_bytes_are_read_as_they_are():
    data = np.asarray([[1.5, -2.0]], "<f4").tobytes()
    assert decode(*binary([1, 2], data)).arrays["x"].tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ((b"{", None), "no request"),
        ((b"[]", None), "no request"),
        ((b'{"inputs": 3}', None), "no request"),
        ((body([2, 2], [1, 2, 3]), None), "has 4 elements; 3 came"),
        ((body([-1, 2], [1, 2]), None), "has the shape"),
        ((body([1, 1], [0.5], "INT64"), None), "no numbers of INT64"),
        ((body([1, 1], ["a"]), None), "no numbers of FP32"),
        ((body([1, 1], [[1], [2, 3]]), None), "no numbers of FP32"),
        ((body([1], [1], "BYTES"), None), "datatype 'BYTES'"),
        ((body([1], "abc"), None), "has no data"),
        ((b"{}", 9), "9 bytes, the body has 2"),
        (binary([1, 2], b"1234"), "takes 8 bytes of FP32; 4 said"),
        (binary([1, 1], b"12345678", said=4), "4 bytes after the last tensor"),
    ],
)
def test_what_is_no_request_is_refused_with_the_reason(request_, words):
    with pytest.raises(BadRequestError, match=words):
        decode(*request_)


def test_an_input_twice_is_refused():
    row = {"name": "x", "datatype": "FP32", "shape": [1], "data": [1]}
    with pytest.raises(BadRequestError, match="twice"):
        decode(json.dumps({"inputs": [row, row]}).encode(), None)


def test_outputs_come_as_they_were_asked_for():
    arrays = {"y": np.asarray([[1.0, 2.0]], "float32"), "z": np.asarray([7], "int64")}
    text, length = encode("m", decode(body([1], [1], id="17"), None), arrays)
    assert length is None
    assert json.loads(text) == {
        "model_name": "m",
        "model_version": "1",
        "id": "17",
        "outputs": [
            {"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [1.0, 2.0]},
            {"name": "z", "datatype": "INT64", "shape": [1], "data": [7]},
        ],
    }
    mixed = decode(body([1], [1], outputs=[{"name": "z"}, {"name": "y", "parameters": {"binary_data": True}}]), None)
    data, length = encode("m", mixed, arrays)
    head = json.loads(data[:length])
    assert [row["name"] for row in head["outputs"]] == ["z", "y"]
    assert head["outputs"][1]["parameters"] == {"binary_data_size": 8}
    assert np.frombuffer(data[length:], "<f4").tolist() == [1.0, 2.0]


def test_an_output_that_the_model_does_not_have_is_refused():
    with pytest.raises(BadRequestError, match="'q' was asked for; the model has y"):
        encode("m", decode(body([1], [1], outputs=[{"name": "q"}]), None), {"y": np.zeros(1, "float32")})


@pytest.mark.parametrize("has_orjson", [True, False])
def test_numbers_are_the_same_with_orjson_and_without(monkeypatch, has_orjson):
    if not has_orjson:
        monkeypatch.setitem(sys.modules, "orjson", None)
    asked = decode(body([1, 3], [0.1, 1e-30, -2.5], outputs=[]), None)
    found, _ = encode("m", asked, {"y": asked.arrays["x"], "n": np.asarray([2**62], "int64"), "h": np.asarray([0.5], "float16")})
    rows = json.loads(found)["outputs"]
    assert np.asarray(rows[0]["data"], "float32").tolist() == asked.arrays["x"].ravel().tolist()
    assert [row["data"] for row in rows[1:]] == [[2**62], [0.5]]
    # A float32 is told by the digits that it has.
    assert (b"0.1," in found) == has_orjson


def test_what_is_no_number_is_read_and_answered_as_before():
    asked = decode(body([1, 2], [math.nan, math.inf]), None)
    assert np.isnan(asked.arrays["x"][0, 0])
    found, _ = encode("m", asked, {"y": asked.arrays["x"]})
    assert b"[NaN,Infinity]" in found.replace(b" ", b"")
