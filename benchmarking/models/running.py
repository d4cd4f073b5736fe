"""Runs a model in torch or ONNX Runtime, from arrays to arrays, whatever its forward takes and returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

Run = Callable[[Sequence[Any]], list[Any]]
"""From one array an input to one array an output."""


class ExportError(Exception):
    """What is wrong with a model, in words for its user."""


def called_by_name(network: Any, names: Sequence[str]) -> bool:
    """Return whether the inputs are given to a network's forward by name; by position where it knows none of the names.

    Raises:
        ExportError: it knows some of them, or needs more than are given.
    """
    parameters = inspect.signature(network.forward).parameters.values()
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters):
        return all(any(one.name == name for one in parameters) for name in names)
    known = [one.name for one in parameters]
    unknown = [name for name in names if name not in known]
    if unknown and len(unknown) < len(names):
        raise ExportError(f"input {unknown[0]!r} is no parameter of its forward({', '.join(known)})")
    needed = [one.name for one in parameters if one.default is one.empty]
    left = [name for name in needed if name not in names] if not unknown else needed[len(names) :]
    if left:
        raise ExportError(f"its forward needs {', '.join(needed)}, and `inputs` has {', '.join(names)}")
    if len(names) > len(known):
        raise ExportError(f"its forward takes {len(known)} inputs ({', '.join(known)}), and `inputs` has {len(names)}")
    return not unknown


def flattened(network: Any, names: Sequence[str], *, by_name: bool) -> Any:
    """Return a module whose forward takes tensors in order and returns a tuple of tensors, whatever the network's own returns."""
    import torch

    class Flat(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = network

        def forward(self, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
            found = self.inner(**dict(zip(names, given, strict=True))) if by_name else self.inner(*given)
            return tuple(tensors_in(found))

    return Flat().eval()


def tensors_in(found: Any) -> list[Any]:
    """Return the tensors in what a forward returned, in order; raises `ExportError` where there is something else."""
    import torch

    if isinstance(found, torch.Tensor):
        return [found]
    parts = found.values() if isinstance(found, Mapping) else found if isinstance(found, (list, tuple)) else None
    if parts is None:
        raise ExportError(f"it returns a {type(found).__name__}; tensors, tuples and mappings of tensors are known")
    return [tensor for part in parts if part is not None for tensor in tensors_in(part)]


def run_torch(network: Any, given: Sequence[Any]) -> list[Any]:
    """Return what a network answers, without gradients."""
    import torch

    with torch.no_grad():
        return [one.detach().numpy() for one in tensors_in(network(*(torch.from_numpy(values) for values in given)))]


def open_scripted(path: Path) -> Run:
    """Return what runs a TorchScript file on the processor; raises RuntimeError where it is none."""
    import torch

    return partial(run_torch, torch.jit.load(str(path), map_location="cpu").eval())  # type: ignore[no-untyped-call]


def run_onnx(path: Path) -> Run:
    """Return what runs an ONNX file on the processor; raises `ExportError` where ONNX Runtime does not take it."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ExportError(f"onnxruntime is missing ({error}); install the extra serving") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ExportError(f"ONNX Runtime {onnxruntime.__version__} does not take it: {str(error).strip().splitlines()[0]}") from error
    names = [one.name for one in session.get_inputs()]
    return lambda given: list(session.run(None, dict(zip(names, given, strict=True))))
