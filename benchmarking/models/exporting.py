"""The process that makes or opens a model, exports it, and compares what came out with torch: `python -m ... REQUEST FOLDER`.

It is a process of its own as it runs code of the user's, needs torch's memory, and may have another interpreter than Outrider.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.models.comparison import ABSOLUTE, RELATIVE, batches
from benchmarking.models.made_inputs import made, tensor
from benchmarking.models.running import ExportError

ROWS = 4
"""Rows of the reference, where the model takes so many at once."""
RESULT, REFERENCE, FAILED = "exported.json", "reference.json", "failed.json"


def main(request_path: str, folder: str) -> int:
    """Export the model of a request into a folder; returns 0, or 3 where `failed.json` says what is wrong with the model."""
    request = json.loads(Path(request_path).read_text(encoding="utf-8"))
    place = Path(folder)
    try:
        result = export(request, place)
    except ExportError as error:
        (place / FAILED).write_text(json.dumps({"fact": str(error)}), encoding="utf-8")
        return 3
    (place / RESULT).write_text(json.dumps(result), encoding="utf-8")
    return 0


def export(request: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Export one model, and return its inputs and outputs, by what it was exported and at which batches it was compared.

    Args:
        request: `type`, `platform` (`onnx` or `pt`), `max_batch_size`, `inputs`, `outputs` (names, may be empty), `seed`, and what the
            type needs: `settings`, or `factory` and `arguments`, or `path`; `opset`, or None.
        folder: for the file of the model and its reference.
    """
    if request["type"] == "onnx":
        from benchmarking.models.finished import open_onnx

        opened = open_onnx(Path(request["path"]), folder, request["max_batch_size"])
    elif request["type"] == "torchscript":
        from benchmarking.models.finished import open_torchscript

        opened = open_torchscript(Path(request["path"]), folder, request)
    else:
        from benchmarking.models.exporters import exported_network

        opened = exported_network(_network(request), request, folder)
    inputs, names, run, exporter = opened
    most = request["max_batch_size"]
    rows = min(ROWS, most)
    given = made(inputs, rows, request["seed"])
    answers = run(given)
    names = names or _output_names(len(answers))
    if len(names) != len(answers):
        raise ExportError(f"it returns {len(answers)} tensors, and `outputs` names {len(names)}")
    shorter = run(made(inputs, rows, request["seed"], shorter=1))
    outputs = [
        {"name": name, "datatype": tensor("", one.reshape(-1)[:1])["datatype"], "shape": _free(one.shape, other.shape, 1 if most else 0)}
        for name, one, other in zip(names, answers, shorter, strict=True)
    ]
    reference = {
        "inputs": [tensor(one["name"], values) for one, values in zip(inputs, given, strict=True)],
        "outputs": [tensor(name, values) for name, values in zip(names, answers, strict=True)],
        "tolerance": {"absolute": ABSOLUTE, "relative": RELATIVE},
    }
    (folder / REFERENCE).write_text(json.dumps(reference), encoding="utf-8")
    plain = [{key: one[key] for key in ("name", "datatype", "shape")} for one in inputs]
    return {"inputs": plain, "outputs": outputs, "exporter": exporter, "compared_at": [*batches(most)]}


def _free(shape: Sequence[int], other: Sequence[int], skip: int) -> list[int]:
    """Return a shape without its batch, with -1 where a shorter input made it another."""
    if len(shape) != len(other):
        return [*shape[skip:]]
    return [size if size == shorter else -1 for size, shorter in zip(shape[skip:], other[skip:], strict=True)]


def _output_names(count: int) -> list[str]:
    return ["output"] if count == 1 else [f"output_{number}" for number in range(count)]


def _network(request: Mapping[str, Any]) -> Any:
    """Return the network of a request, with random weights by its seed, as it is for inference."""
    try:
        import torch
    except ImportError as error:
        raise ExportError(f"{sys.executable} has no torch ({error}); install the extra demo, or say another `python`") from error
    torch.manual_seed(request["seed"])
    if request["type"] != "torch":
        from benchmarking.models.networks import network

        return network(request["settings"]).eval()
    module, _, function = request["factory"].partition(":")
    try:
        factory = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ExportError(f"factory {request['factory']}: {error}") from error
    try:
        found = factory(**request["arguments"])
    except Exception as error:
        raise ExportError(f"{request['factory']}({_shown(request['arguments'])}) failed: {type(error).__name__}: {error}") from error
    if not isinstance(found, torch.nn.Module):
        raise ExportError(f"{request['factory']} returned a {type(found).__name__}, and no torch.nn.Module")
    return found.eval()


def _shown(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in arguments.items())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
