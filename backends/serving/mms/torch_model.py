"""One loaded TorchScript model, with the face of `OrtModel`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.serving.ort.model import checked_rows
from backends.serving.ort.tensors import DTYPES
from backends.serving.pbtxt import ModelConfig

if TYPE_CHECKING:
    from numpy.typing import NDArray


class TorchScriptRunner:
    """A TorchScript module on the processor.

    Args:
        folder: unpacked package, with `1/model.pt`.
        config: of the package: names, types and shapes of what goes in and comes out, in the order of the module's arguments.
        max_batch_size: rows that one request may have; 0 where the first dimension is none of rows.
        threads: that compute one request.

    Raises:
        RuntimeError: torch does not take it; its own words.
    """

    def __init__(self, folder: Path, config: ModelConfig, max_batch_size: int, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        load: Any = torch.jit.load
        self._module = load(str(folder / "1" / "model.pt"), map_location="cpu").eval()
        self._max_batch_size = max_batch_size
        free: list[Any] = ["rows"] if max_batch_size else []
        self._inputs = {
            one.name: (DTYPES[one.datatype], [*free, *(side if side >= 0 else "free" for side in one.dims)]) for one in config.inputs
        }
        self._outputs = [one.name for one in config.outputs]

    def check(self, arrays: Mapping[str, NDArray[Any]]) -> int:
        """Return how many rows a request has; raises `BadRequestError` where the model cannot be given it."""
        return checked_rows(self._inputs, arrays, self._max_batch_size)

    def run(self, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return all outputs by name; raises `RuntimeError` with torch's words."""
        import numpy
        import torch

        with torch.inference_mode():
            found = self._module(*(torch.from_numpy(numpy.array(arrays[name])) for name in self._inputs))
        several = found if isinstance(found, tuple | list) else [found]
        return {name: one.numpy() for name, one in zip(self._outputs, several, strict=True)}
