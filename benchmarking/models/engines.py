"""TensorRT engines of exported models: what trtexec is told, and where what it made is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backends.deployment import Tensor
from backends.engine_order import EngineBuilder, EngineOrder
from benchmarking.models.exported import ExportedModel
from benchmarking.models.made_inputs import FREE
from benchmarking.models.triton_config import MODEL_FILES
from definitions.errors import UserError

HALF_TOLERANCE: Mapping[str, float] = {"absolute": 2e-2, "relative": 2e-2}
"""What answers in 16-bit numbers may differ by from torch's in 32: they have 11 bits, and layers add up."""

ENGINES = "engines"


def trtexec_arguments(
    inputs: Sequence[Tensor], samples: Mapping[str, Sequence[int]], max_batch_size: int, preferred: Sequence[int], precision: str
) -> tuple[str, ...]:
    """Return what trtexec is told beside its files: shapes from one sample to the most, best at the preferred batch, and the precision.

    Args:
        inputs: of the model.
        samples: sizes of the dimensions of an input that are free, by its name; `FREE` for each where it has none.
        max_batch_size: 0 for a model without a batch dimension, whose shapes are in the file.
        preferred: batches that the server waits for; the largest of them counts.
        precision: `fp32` or `fp16`.
    """
    shapes = []
    if max_batch_size:
        best = max([size for size in preferred if size <= max_batch_size], default=max_batch_size)
        for flag, rows in (("minShapes", 1), ("optShapes", best), ("maxShapes", max_batch_size)):
            listed = ",".join(f"{one.name}:{'x'.join(map(str, (rows, *_sizes(one, samples))))}" for one in inputs)
            shapes.append(f"--{flag}={listed}")
    return (*shapes, *(["--fp16"] if precision == "fp16" else []), "--skipInference")


def _sizes(tensor: Tensor, samples: Mapping[str, Sequence[int]]) -> list[int]:
    given = samples.get(tensor.name)
    return [*given] if given else [FREE if size < 0 else size for size in tensor.shape]


def engine(name: str, found: ExportedModel, arguments: tuple[str, ...], instance_type: str, build: EngineBuilder | None) -> Path:
    """Return the engine of a model for a type of instance; made now where it is not kept yet.

    Args:
        name: of the model in the definition.
        found: its export as ONNX.
        arguments: of trtexec.
        instance_type: that will load it.
        build: makes one; None where the back-end makes none.

    Raises:
        UserError: there is nobody who could make it, or it could not be made.
    """
    key = hashlib.sha256(json.dumps([instance_type, *arguments]).encode()).hexdigest()[:16]
    target = found.folder / ENGINES / key / MODEL_FILES["trt"]
    if target.is_file():
        return target
    if build is None:
        raise UserError(
            f"model {name!r} as trt",
            "its engine is made by trtexec on a GPU of the kind that serves it, and this back-end makes none",
            "use a back-end that makes it, or platform onnx",
        )
    build(EngineOrder(name, found.file, arguments, instance_type, target))
    return target


def half_reference(found: ExportedModel) -> Path:
    """Return the reference of a model with the tolerance of 16-bit numbers, beside its own."""
    path = found.folder / "reference-fp16.json"
    if not path.is_file():
        content: dict[str, Any] = json.loads(found.reference.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**content, "tolerance": dict(HALF_TOLERANCE)}), encoding="utf-8")
    return path
