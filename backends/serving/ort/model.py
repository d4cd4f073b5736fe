"""One loaded ONNX model: its session, what it may be given, and running it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.serving.ort.tensors import DTYPES, NAMES, BadRequestError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ONNX = {"float": "float32", "double": "float64"}


class OrtModel:
    """A session of ONNX Runtime.

    Args:
        folder: unpacked package, with `1/model.onnx`.
        max_batch_size: rows that one request may have; 0 where the first dimension is none of rows.
        threads: that compute one request.

    Raises:
        FileNotFoundError: there is no `1/model.onnx`.
        RuntimeError: ONNX Runtime does not take it; its own words.
    """

    def __init__(self, folder: Path, max_batch_size: int, threads: int = 1) -> None:
        import onnxruntime

        file = folder / "1" / "model.onnx"
        if not file.is_file():
            there = ", ".join(sorted(path.name for path in (folder / "1").glob("*"))) or "nothing"
            raise FileNotFoundError(f"the package has no 1/model.onnx; in its folder 1 is {there}")
        options = onnxruntime.SessionOptions()
        # Requests are computed side by side, by default each on the thread that it came on; operators one after the other.
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        # Threads that wait for work by spinning take the cores of the requests beside.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # The arena keeps what a burst took for as long as the model is loaded, so that memory a copy would depend on the load before.
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise RuntimeError(f"ONNX Runtime {onnxruntime.__version__} does not take 1/model.onnx: {error}") from error
        self.max_batch_size = max_batch_size
        self.inputs = {one.name: (_numpy_name(one.type), [*one.shape]) for one in self._session.get_inputs()}
        self._outputs = [one.name for one in self._session.get_outputs()]

    def check(self, arrays: Mapping[str, NDArray[Any]]) -> int:
        """Return how many rows a request has; 0 where the model has none.

        Raises:
            BadRequestError: the model cannot be given these arrays.
        """
        return checked_rows(self.inputs, arrays, self.max_batch_size)

    def run(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return all outputs by name; raises `RuntimeError` with ONNX Runtime's words."""
        try:
            found = self._session.run(self._outputs, dict(arrays))
        except Exception as error:
            raise RuntimeError(f"ONNX Runtime: {error}") from error
        return dict(zip(self._outputs, found, strict=True))


def checked_rows(inputs: Mapping[str, tuple[str, list[Any]]], arrays: Mapping[str, NDArray[Any]], max_batch_size: int) -> int:
    """Return how many rows a request has; 0 where the model has none.

    Args:
        inputs: by name numpy's data type and the shape, in which what is no whole number is free.
        arrays: of the request.
        max_batch_size: of the model.

    Raises:
        BadRequestError: the model cannot be given these arrays.
    """
    if arrays.keys() != inputs.keys():
        raise BadRequestError(f"the model takes the inputs {', '.join(inputs)}; {', '.join(arrays) or 'none'} came")
    rows = set()
    for name, (dtype, shape) in inputs.items():
        array = arrays[name]
        if array.dtype.name != dtype:
            raise BadRequestError(f"input {name!r} is {NAMES.get(dtype, dtype)}; {NAMES[array.dtype.name]} came")
        fits = len(shape) == array.ndim and all(
            not isinstance(side, int) or side == own for side, own in zip(shape, array.shape, strict=True)
        )
        if not fits:
            raise BadRequestError(f"input {name!r} has the shape {_text(shape)}; {_text([*array.shape])} came")
        rows.add(array.shape[0] if array.ndim else 0)
    if not max_batch_size:
        return 0
    if len(rows) != 1:
        raise BadRequestError(f"the inputs have different numbers of rows: {sorted(rows)}")
    count = rows.pop()
    if not 1 <= count <= max_batch_size:
        raise BadRequestError(f"{count} rows; at least 1 and at most max_batch_size = {max_batch_size} are taken at once")
    return int(count)


def _numpy_name(kind: str) -> str:
    inner = kind.removeprefix("tensor(").removesuffix(")")
    dtype = _ONNX.get(inner, inner)
    if dtype not in DTYPES.values():
        raise RuntimeError(f"an input is {kind}; served are tensors of {', '.join(DTYPES.values())}")
    return dtype


def _text(shape: list[Any]) -> str:
    return "[" + ", ".join(str(side) if isinstance(side, int) else "-1" for side in shape) + "]"
