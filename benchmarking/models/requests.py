"""What the process that exports is asked for, and the key by which its answer is kept: equal requests give one file."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarking.models.packaging import file_sha256
from definitions import strict_json
from definitions.errors import UserError
from definitions.models import (
    ArchiveModel,
    FactoryModel,
    OnnxModel,
    ResNetModel,
    SmallCnnModel,
    TensorSpec,
    TextEncoderModel,
    TorchScriptModel,
)

Exportable = SmallCnnModel | ResNetModel | TextEncoderModel | FactoryModel | OnnxModel | TorchScriptModel
"""All but what is packaged already."""

_FORM = 1
"""Raised when the same request is to be made anew, as what is made of it has changed."""


def is_exportable(model: object) -> bool:
    """Return whether a model is opened or exported here, and not an archive already."""
    return not isinstance(model, ArchiveModel)


def export_request(model: Exportable, platform: str, source_dir: str) -> dict[str, Any]:
    """Return a request of `benchmarking.models.exporting.export`.

    Args:
        model: of the definition.
        platform: `onnx`, `pt` or `trt`, whose engine is made of ONNX.
        source_dir: where modules of factories are looked for.
    """
    found: dict[str, Any] = {
        "type": model.type,
        "platform": "onnx" if platform == "trt" else platform,
        "max_batch_size": model.max_batch_size,
        "inputs": [],
        "outputs": [],
        "seed": getattr(model, "seed", 0),
        "opset": getattr(model, "opset", None) if platform != "pt" else None,
    }
    if isinstance(model, (OnnxModel, TorchScriptModel)):
        found["path"] = model.path
        if isinstance(model, TorchScriptModel):
            found |= {"inputs": [_input(one) for one in model.inputs], "outputs": [*model.outputs]}
    elif isinstance(model, FactoryModel):
        found |= {"factory": model.factory, "arguments": model.arguments, "source_dir": source_dir}
        found |= {"inputs": [_input(one) for one in model.inputs], "outputs": [*model.outputs]}
    else:
        found |= {"settings": model.model_dump(mode="json"), "inputs": _own_inputs(model), "outputs": ["scores"]}
        for key in ("max_batch_size", "preferred_batch_sizes", "precision", "warm_up", "opset", "seed"):
            found["settings"].pop(key)
    return found


def _input(one: TensorSpec) -> dict[str, Any]:
    return {"name": one.name, "datatype": one.datatype, "shape": [*one.shape], "below": one.below}


def _own_inputs(model: SmallCnnModel | ResNetModel | TextEncoderModel) -> list[dict[str, Any]]:
    if isinstance(model, TextEncoderModel):
        tokens = {"datatype": "INT64", "shape": [-1], "sample": [model.length]}
        return [{"name": "input_ids", "below": model.vocabulary, **tokens}, {"name": "attention_mask", "below": 2, **tokens}]
    return [{"name": "image", "datatype": "FP32", "shape": [3, model.image_size, model.image_size]}]


def request_key(request: Mapping[str, Any]) -> str:
    """Return a hash of what determines an export: the request, the code or file that it names, and the version of what exports.

    Raises:
        UserError: the file that it names is not there.
    """
    content = {key: value for key, value in request.items() if key not in ("path", "source_dir")}
    if "path" in request:
        path = Path(request["path"])
        if not path.is_file():
            raise UserError(f"models: there is no file {path}", advice="a path is relative to the definition's file")
        content["file"] = file_sha256(path)
    if "factory" in request:
        content["code"] = _code_of(request["factory"].partition(":")[0], Path(request["source_dir"]))
    versions = {name: _version(name) for name in ("torch", "onnxruntime")}
    text = strict_json.dumps({"form": _FORM, "versions": versions, **content})
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _code_of(module: str, source_dir: Path) -> str:
    """Return what tells one state of a module's code from another: hashes of the user's own files, else the version of its package."""
    top = module.partition(".")[0]
    own = [source_dir / f"{top}.py", source_dir / top]
    if not any(path.exists() for path in own):
        return f"{top} {_version(top)}"
    digest = hashlib.sha256()
    # A module of the user's may import any other file beside it.
    for path in sorted(source_dir.rglob("*.py")):
        if not any(part.startswith(".") for part in path.relative_to(source_dir).parts):
            digest.update(f"{path.relative_to(source_dir)} {file_sha256(path)}\n".encode())
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "?"
