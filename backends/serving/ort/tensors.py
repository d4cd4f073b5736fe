"""Requests and answers of KServe's inference protocol v2, with tensors as JSON or as bytes, to and from arrays. Pure.

The protocol: https://kserve.github.io/website/docs/concepts/architecture/data-plane/v2-protocol. Tensors as bytes: Triton's extension for
binary tensor data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

DTYPES = {
    "BOOL": "bool",
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "FP16": "float16",
    "FP32": "float32",
    "FP64": "float64",
}
"""The protocol's names of data types, and numpy's; strings (`BYTES`) are not served."""
NAMES = {dtype: name for name, dtype in DTYPES.items()}


class BadRequestError(Exception):
    """A request that the model cannot be given, with the reason in words."""


@dataclass(frozen=True)
class InferRequest:
    """One request.

    Args:
        arrays: inputs by name.
        outputs: names that are asked for, each with whether as bytes; empty for all.
        is_binary: whether outputs that say nothing come as bytes.
        identity: that the answer repeats; empty for none.
    """

    arrays: Mapping[str, NDArray[Any]]
    outputs: Sequence[tuple[str, bool]]
    is_binary: bool
    identity: str


def decode(body: bytes, header_bytes: int | None) -> InferRequest:
    """Return the request in a body.

    Args:
        body: JSON, with the bytes of tensors after it where `header_bytes` is given.
        header_bytes: length of the JSON; None where all is JSON.

    Raises:
        BadRequestError: it is no request of this protocol.
    """
    if header_bytes is not None and not 0 < header_bytes <= len(body):
        raise BadRequestError(f"the JSON header is said to have {header_bytes} bytes, the body has {len(body)}")
    try:
        head = _read(body if header_bytes is None else body[:header_bytes])
        inputs = head["inputs"]
        rows = [(str(row["name"]), str(row["datatype"]), [int(side) for side in row["shape"]], row) for row in inputs]
        asked = [(str(row["name"]), row.get("parameters", {}).get("binary_data")) for row in head.get("outputs", ())]
        is_binary = bool(head.get("parameters", {}).get("binary_data_output", False))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequestError(f"no request of the inference protocol v2: {type(error).__name__}: {error}") from error
    at = len(body) if header_bytes is None else header_bytes
    arrays: dict[str, NDArray[Any]] = {}
    for name, datatype, shape, row in rows:
        if name in arrays:
            raise BadRequestError(f"input {name!r} is there twice")
        if datatype not in DTYPES:
            raise BadRequestError(f"input {name!r} has datatype {datatype!r}; known: {', '.join(DTYPES)}")
        size = row.get("parameters", {}).get("binary_data_size") if isinstance(row.get("parameters", {}), dict) else None
        if size is not None:
            arrays[name] = _of_bytes(name, body[at : at + int(size)], int(size), datatype, shape)
            at += int(size)
        else:
            arrays[name] = _of_list(name, row.get("data"), datatype, shape)
    if at != len(body):
        raise BadRequestError(f"{len(body) - at} bytes after the last tensor")
    outputs = [(name, is_binary if binary is None else bool(binary)) for name, binary in asked]
    return InferRequest(arrays, outputs, is_binary, str(head.get("id", "")))


def encode(model: str, request: InferRequest, arrays: Mapping[str, NDArray[Any]]) -> tuple[bytes, int | None]:
    """Return the body of an answer, and the length of its JSON where bytes of tensors follow it, else None.

    Args:
        model: name of the model.
        request: that is answered.
        arrays: all outputs by name, in the model's order.

    Raises:
        BadRequestError: an output was asked for that the model does not have.
    """
    wanted = request.outputs or [(name, request.is_binary) for name in arrays]
    rows: list[dict[str, Any]] = []
    pieces: list[bytes] = []
    is_finite = True
    for name, is_binary in wanted:
        if name not in arrays:
            raise BadRequestError(f"output {name!r} was asked for; the model has {', '.join(arrays)}")
        array = arrays[name]
        row: dict[str, Any] = {"name": name, "datatype": NAMES[array.dtype.name], "shape": [*array.shape]}
        if is_binary:
            pieces.append(array.tobytes())
            row["parameters"] = {"binary_data_size": array.nbytes}
        else:
            row["data"] = array.ravel()
            is_finite = is_finite and _is_finite(array)
        rows.append(row)
    head: dict[str, Any] = {"model_name": model, "model_version": "1", "outputs": rows}
    if request.identity:
        head["id"] = request.identity
    text = _written(head, is_finite)
    return b"".join([text, *pieces]), len(text) if pieces else None


def _read(text: bytes) -> Any:
    """Return what JSON says. What orjson does not take (NaN), or is no JSON, is left to the standard library, and to its words."""
    try:
        import orjson

        return orjson.loads(text)
    except (ImportError, ValueError):
        return json.loads(text)


def _written(head: Mapping[str, Any], is_finite: bool) -> bytes:
    """Return JSON with arrays as lists; by orjson, which writes the digits that a float32 has and no more, where it can: not NaN."""
    if is_finite:
        try:
            import orjson

            return orjson.dumps(head, option=orjson.OPT_SERIALIZE_NUMPY)
        except (ImportError, TypeError):  # not here; or a type that it does not know (float16 of old ones)
            pass
    return json.dumps(head, separators=(",", ":"), default=lambda array: array.tolist()).encode()


def _is_finite(array: NDArray[Any]) -> bool:
    import numpy as np

    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def _of_bytes(name: str, data: bytes, said_bytes: int, datatype: str, shape: Sequence[int]) -> NDArray[Any]:
    import numpy as np

    dtype = np.dtype(DTYPES[datatype])
    expected = _count(name, shape) * dtype.itemsize
    if len(data) != said_bytes or said_bytes != expected:
        raise BadRequestError(
            f"input {name!r} of shape {[*shape]} takes {expected} bytes of {datatype}; {said_bytes} said, {len(data)} there"
        )
    return np.frombuffer(data, dtype).reshape(shape)


def _of_list(name: str, data: Any, datatype: str, shape: Sequence[int]) -> NDArray[Any]:
    import numpy as np

    if not isinstance(data, list):
        raise BadRequestError(f"input {name!r} has no data")
    try:
        # Strict for whole numbers, as 0.5 of an INT64 would become 0 without a word.
        array = np.asarray(data)
        if array.size and (array.dtype.kind not in "biuf" or (array.dtype.kind == "f" and np.dtype(DTYPES[datatype]).kind in "iub")):
            raise BadRequestError(f"the data of input {name!r} are no numbers of {datatype}")
        array = array.astype(DTYPES[datatype], copy=False).ravel()
    except (ValueError, OverflowError, TypeError) as error:
        raise BadRequestError(f"the data of input {name!r} are no numbers of {datatype}: {error}") from error
    expected = _count(name, shape)
    if array.size != expected:
        raise BadRequestError(f"input {name!r} of shape {[*shape]} has {expected} elements; {array.size} came")
    return array.reshape(shape)


def _count(name: str, shape: Sequence[int]) -> int:
    count = 1
    for side in shape:
        if side < 0:
            raise BadRequestError(f"input {name!r} has the shape {[*shape]}")
        count *= side
    return count
