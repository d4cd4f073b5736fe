"""Inputs for a model, made by seed, and tensors as the KServe v2 protocol writes them. Numpy alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMPY: Mapping[str, str] = {
    "BOOL": "bool", "UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64", "INT8": "int8", "INT16": "int16",
    "INT32": "int32", "INT64": "int64", "FP16": "float16", "FP32": "float32", "FP64": "float64",
}  # fmt: skip
"""Data types of the protocol as numpy has them."""

FREE = 16
"""Size of a free dimension in what is made, where nobody says."""
_BELOW = 2
_DIGITS = 3
"""Of made numbers, so that JSON writes them short and reads them back as they were."""


def datatype_of(dtype: str) -> str:
    """Return the protocol's name of a numpy type; raises KeyError for one that it does not have."""
    return {numpy: name for name, numpy in NUMPY.items()}[dtype]


def made(inputs: Sequence[Mapping[str, Any]], rows: int, seed: int, *, shorter: int = 0) -> list[NDArray[Any]]:
    """Return one array for each input.

    Args:
        inputs: each with `datatype`, `shape` (-1 where free), and where known `sample` (a size for each dimension) and `below`.
        rows: samples, which become the first dimension; 0 for a model without one.
        seed: of the numbers.
        shorter: what free dimensions are smaller by.
    """
    import numpy as np

    random = np.random.default_rng(seed)
    found = []
    for one in inputs:
        sizes = one.get("sample") or [FREE if size < 0 else size for size in one["shape"]]
        shape = [max(1, size - shorter) if free < 0 else size for size, free in zip(sizes, one["shape"], strict=True)]
        shape = [rows, *shape] if rows else shape
        dtype = np.dtype(NUMPY[one["datatype"]])
        if dtype.kind == "f":
            found.append(np.round(random.standard_normal(shape), _DIGITS).astype(dtype))
        elif dtype.kind == "b":
            found.append(random.integers(0, 2, shape).astype(dtype))
        else:
            most = min(one.get("below") or _BELOW, int(np.iinfo(dtype).max) + 1)
            found.append(random.integers(0, most, shape, dtype=np.uint64 if dtype.kind == "u" else np.int64).astype(dtype))
    return found


def tensor(name: str, values: NDArray[Any]) -> dict[str, Any]:
    """Return a tensor as the v2 protocol writes it in JSON: `name`, `datatype`, `shape`, `data` in row-major order."""
    flat = values.reshape(-1)
    # The shortest text of a 4-byte number is that of its own precision, not of the 8 bytes that Python makes of it.
    data = [float(str(value)) for value in flat] if values.dtype.kind == "f" else flat.tolist()
    return {"name": name, "datatype": datatype_of(values.dtype.name), "shape": [*values.shape], "data": data}
