"""Tensors as KServe's v2 protocol sends them: as JSON, or as JSON followed by their bytes. Standard library only."""

from __future__ import annotations

import json
import math
import struct
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BINARY_TYPE = "application/vnd.sagemaker-triton.binary+json;json-header-size="
JSON_TYPE = "application/json"

_CODES = {
    "BOOL": "?", "INT8": "b", "INT16": "h", "INT32": "i", "INT64": "q", "UINT8": "B", "UINT16": "H", "UINT32": "I", "UINT64": "Q",
    "FP16": "e", "FP32": "f", "FP64": "d",
}  # fmt: skip
"""The struct module's code of each datatype; all are little-endian on the wire."""

_FLOATS = ("FP16", "FP32", "FP64")


class BadTensorError(ValueError):
    """What should be a tensor is none."""


@dataclass(frozen=True)
class TensorValue:
    """A tensor: `shape` with its batch dimension, `data` flat, in row-major order, (product of shape,)."""

    name: str
    datatype: str
    shape: tuple[int, ...]
    data: Sequence[float]

    @property
    def is_float(self) -> bool:
        """Whether its numbers are rounded."""
        return self.datatype in _FLOATS


def tensor_of(held: Mapping[str, Any]) -> TensorValue:
    """Return a tensor of its JSON form; nested `data` are flattened.

    Raises:
        BadTensorError: a part is missing or of the wrong type, or there are more or fewer numbers than its shape says.
    """
    try:
        name, datatype, shape, data = str(held["name"]), str(held["datatype"]), tuple(int(size) for size in held["shape"]), held["data"]
    except (KeyError, TypeError, ValueError) as error:
        raise BadTensorError(f"a tensor needs name, datatype, shape and data ({type(error).__name__}: {error})") from error
    flat = _flat(data)
    if len(flat) != math.prod(shape):
        raise BadTensorError(f"{name} has {len(flat)} numbers where its shape {list(shape)} needs {math.prod(shape)}")
    return TensorValue(name, datatype, shape, flat)


def _flat(data: Any) -> Sequence[float]:
    if not isinstance(data, list):
        raise BadTensorError(f"data of a tensor is a {type(data).__name__}, not a list")
    while data and isinstance(data[0], list):
        data = [value for part in data for value in part]
    if not all(isinstance(value, (int, float)) for value in data):
        raise BadTensorError("data of a tensor holds what is no number")
    numbers: list[float] = data
    return numbers


def packed(tensor: TensorValue) -> bytes:
    """Return the bytes of a tensor's numbers; raises `BadTensorError` for a datatype that is not known or a number that it cannot hold."""
    code = _code(tensor.datatype)
    try:
        if code in "fd":
            held = array(code, tensor.data)
            if sys.byteorder == "big":
                held.byteswap()
            return held.tobytes()
        return struct.pack(f"<{len(tensor.data)}{code}", *tensor.data)
    except (struct.error, OverflowError, TypeError) as error:
        raise BadTensorError(f"{tensor.name}: {error} ({tensor.datatype})") from error


def unpacked(content: bytes, datatype: str) -> Sequence[float]:
    """Return the numbers in these bytes, (n,); raises `BadTensorError` where they are no whole number of values."""
    code = _code(datatype)
    size = struct.calcsize(f"<{code}")
    if len(content) % size:
        raise BadTensorError(f"{len(content)} bytes are no whole number of {datatype}")
    return struct.unpack(f"<{len(content) // size}{code}", content)


def json_body(tensors: Sequence[TensorValue]) -> tuple[bytes, str]:
    """Return body and content type of a request with these inputs as JSON."""
    inputs = [{"name": one.name, "datatype": one.datatype, "shape": one.shape, "data": list(one.data)} for one in tensors]
    return json.dumps({"inputs": inputs}, separators=(",", ":"), allow_nan=False).encode(), JSON_TYPE


def binary_body(tensors: Sequence[TensorValue], outputs: Sequence[str]) -> tuple[bytes, str]:
    """Return body and content type of a request with these inputs as bytes, which asks for these outputs as bytes."""
    parts = [packed(one) for one in tensors]
    inputs = [
        {"name": one.name, "datatype": one.datatype, "shape": one.shape, "parameters": {"binary_data_size": len(part)}}
        for one, part in zip(tensors, parts, strict=True)
    ]
    asked = [{"name": name, "parameters": {"binary_data": True}} for name in outputs]
    head = json.dumps({"inputs": inputs, **({"outputs": asked} if asked else {})}, separators=(",", ":")).encode()
    return b"".join([head, *parts]), f"{BINARY_TYPE}{len(head)}"


def outputs_of(body: bytes, headers: Mapping[str, str]) -> tuple[TensorValue, ...]:
    """Return the outputs of an answer.

    Args:
        body: of the answer.
        headers: by lower-case names; the length of the JSON part stands in the content type, or in `inference-header-content-length`.

    Raises:
        BadTensorError: they cannot be read.
    """
    said = headers.get("content-type", "").partition("json-header-size=")[2] or headers.get("inference-header-content-length", "")
    length = int(said) if said.strip().isdigit() else len(body)
    try:
        held = json.loads(body[:length])
    except ValueError as error:
        raise BadTensorError(f"the answer is no JSON: {error}") from error
    if not isinstance(held, dict) or not isinstance(held.get("outputs"), list):
        raise BadTensorError("the answer has no list of outputs")
    at, found = length, []
    for output in held["outputs"]:
        if not isinstance(output, dict):
            raise BadTensorError("an output is no object")
        size = (output.get("parameters") or {}).get("binary_data_size")
        if size is not None:
            if at + int(size) > len(body):
                raise BadTensorError("the answer has fewer bytes than its outputs need")
            output = {**output, "data": list(unpacked(body[at : at + int(size)], str(output.get("datatype"))))}
            at += int(size)
        found.append(tensor_of(output))
    return tuple(found)


def _code(datatype: str) -> str:
    if datatype not in _CODES:
        raise BadTensorError(f"datatype {datatype!r} is not known ({', '.join(_CODES)})")
    return _CODES[datatype]
