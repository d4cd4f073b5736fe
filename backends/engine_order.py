"""What a back-end is asked for that compiles a model for the instances which will serve it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class EngineOrder:
    """A TensorRT engine to be made of an ONNX file, on the type of instance that will load it: it loads on no other kind of GPU.

    Args:
        model: name in the definition.
        onnx: file of the model.
        arguments: of `trtexec`, without the paths of its input and output.
        instance_type: that it is made on.
        target: where the engine is put.
        max_run_s: seconds that the job may take.
    """

    model: str
    onnx: Path
    arguments: tuple[str, ...]
    instance_type: str
    target: Path
    max_run_s: float = 3600.0


Say = Callable[[str], None]
EngineBuilder = Callable[[EngineOrder], None]
"""Makes the engine of an order; raises `UserError` where it cannot."""
Billed = Callable[[str, str, float | None], None]
"""Told of each job that makes an engine, by its name and type of instance: that it begins (None), then the seconds that it was billed."""
