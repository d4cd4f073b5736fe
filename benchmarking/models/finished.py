"""Finished ONNX and TorchScript files: opened, asked for their inputs, and run at every batch that they will be given."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.models.comparison import batches, difference
from benchmarking.models.exporters import Opened
from benchmarking.models.made_inputs import NUMPY, made
from benchmarking.models.running import ExportError, Run, open_scripted, run_onnx
from benchmarking.models.triton_config import MODEL_FILES

_ONNX_TYPES: Mapping[str, str] = {"float": "FP32", "double": "FP64", "float16": "FP16", **{name.lower(): name for name in NUMPY}}


def open_onnx(path: Path, folder: Path, max_batch_size: int) -> Opened:
    """Open a finished ONNX file, and copy it into a folder.

    Args:
        path: of the file.
        folder: of the export.
        max_batch_size: see `benchmarking.models.comparison.batches`.

    Raises:
        ExportError: it is none, of an opset that nobody here knows, or does not take the batches.
    """
    import onnx

    if not path.is_file():
        raise ExportError(f"there is no file {path}")
    try:
        onnx.checker.check_model(str(path))
        graph = onnx.load(str(path), load_external_data=False)
    except Exception as error:
        raise ExportError(f"{path.name} is no ONNX model: {_first_line(error)}") from error
    if any(one.data_location == onnx.TensorProto.EXTERNAL for one in graph.graph.initializer):
        raise ExportError(f"{path.name} keeps its weights in other files; save it as one file (onnx.save with save_as_external_data=False)")
    run = run_onnx(path)
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = [_onnx_input(one, max_batch_size) for one in session.get_inputs()]
    _check_batches(run, inputs, max_batch_size, path.name)
    shutil.copyfile(path, folder / MODEL_FILES["onnx"])
    opsets = ", ".join(f"{one.domain or 'ai.onnx'} {one.version}" for one in graph.opset_import)
    return inputs, [one.name for one in session.get_outputs()], run, f"a finished file ({opsets})"


def open_torchscript(path: Path, folder: Path, request: Mapping[str, Any]) -> Opened:
    """Open a finished TorchScript file, and copy it into a folder.

    Args:
        path: of the file.
        folder: of the export.
        request: with `inputs`, `outputs` and `max_batch_size`.

    Raises:
        ExportError: it is none, or does not take the inputs or batches.
    """
    if not path.is_file():
        raise ExportError(f"there is no file {path}")
    try:
        run = open_scripted(path)
    except (RuntimeError, OSError) as error:
        raise ExportError(f"{path.name} is no TorchScript file: {_first_line(error)}") from error
    inputs = [{**one, "name": f"{one['name']}__{number}"} for number, one in enumerate(request["inputs"])]
    _check_batches(run, inputs, request["max_batch_size"], path.name)
    shutil.copyfile(path, folder / MODEL_FILES["pt"])
    count = len(run(made(inputs, min(1, request["max_batch_size"]), 0)))
    names = [*request["outputs"]] or ["output" if count == 1 else f"output_{number}" for number in range(count)]
    return inputs, [f"{name}__{number}" for number, name in enumerate(names)], run, "a finished file"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _onnx_input(one: Any, max_batch_size: int) -> dict[str, Any]:
    match = re.fullmatch(r"tensor\((\w+)\)", one.type)
    if match is None or match[1] not in _ONNX_TYPES:
        raise ExportError(f"input {one.name!r} is a {one.type}; tensors of numbers are served")
    shape = [size if isinstance(size, int) and size > 0 else -1 for size in one.shape]
    if max_batch_size == 0:
        return {"name": one.name, "datatype": _ONNX_TYPES[match[1]], "shape": shape}
    if not shape:
        raise ExportError(f"input {one.name!r} is a single number, without a batch dimension; say `max_batch_size: 0`")
    if shape[0] > 0 and max_batch_size > shape[0]:
        raise ExportError(
            f"input {one.name!r} is fixed at a batch of {shape[0]}; export it with a dynamic first dimension, or say `max_batch_size: 0`"
        )
    return {"name": one.name, "datatype": _ONNX_TYPES[match[1]], "shape": shape[1:]}


def _check_batches(run: Run, inputs: Sequence[Mapping[str, Any]], max_batch_size: int, about: str) -> None:
    """Raise `ExportError` where a model does not take a batch, or answers it otherwise than its rows one by one."""
    for rows in batches(max_batch_size):
        given = made(inputs, rows, rows)
        try:
            whole = run(given)
            alone = [run([values[at : at + 1] for values in given]) for at in range(rows)] if rows > 1 else []
        except Exception as error:
            raise ExportError(f"{about} does not take a batch of {rows}: {_first_line(error)}") from error
        for at, row in enumerate(alone):
            text = difference([one[at : at + 1] for one in whole], row)
            if text:
                raise ExportError(f"{about} answers row {at} of a batch of {rows} otherwise than that row alone: {text}")
