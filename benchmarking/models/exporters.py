"""From a network of torch to an ONNX or TorchScript file: each exporter in turn, until one answers as torch does at every batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarking.models.comparison import batches, difference
from benchmarking.models.made_inputs import made
from benchmarking.models.running import ExportError, Run, called_by_name, flattened, open_scripted, run_onnx, run_torch
from benchmarking.models.triton_config import MODEL_FILES

Opened = tuple[list[dict[str, Any]], list[str], Run, str]
"""Inputs, names of outputs (empty where there are none yet), what runs the model, and by what it was exported."""


def exported_network(network: Any, request: Mapping[str, Any], folder: Path) -> Opened:
    """Export a network by the first exporter whose file answers as torch does.

    Args:
        network: in inference mode.
        request: see `benchmarking.models.exporting.export`.
        folder: for the file.

    Raises:
        ExportError: none does; says what each came to.
    """
    platform, inputs = request["platform"], [dict(one) for one in request["inputs"]]
    names = [one["name"] for one in inputs]
    flat = flattened(network, names, by_name=called_by_name(network, names))
    run = partial(run_torch, flat)
    most, seed = request["max_batch_size"], request["seed"]
    example = made(inputs, min(2, most), seed)
    try:
        count = len(run(example))
    except Exception as error:
        shapes = ", ".join(f"{name} {[*values.shape]}" for name, values in zip(names, example, strict=True))
        raise ExportError(f"it does not take its inputs ({shapes}): {type(error).__name__}: {error}") from error
    path = folder / MODEL_FILES[platform]
    outputs = [*request["outputs"]] or ["output" if count == 1 else f"output_{number}" for number in range(count)]
    if len(outputs) != count:
        raise ExportError(f"it returns {count} tensors, and `outputs` names {len(outputs)}")
    exporters: Mapping[str, Callable[[], Run]] = (
        {
            "torch.jit.trace": lambda: _traced(flat, example, path),
            "torch.jit.script": lambda: _scripted(network, path),
        }
        if platform == "pt"
        else {
            "torch.onnx (TorchScript)": lambda: _onnx(flat, example, path, inputs, outputs, request, dynamo=False),
            "torch.onnx (dynamo)": lambda: _onnx(flat, example, path, inputs, outputs, request, dynamo=True),
        }
    )
    failures = []
    for exporter, make in exporters.items():
        try:
            came = make()
            wrong = compared(run, came, inputs, most, seed)
        except Exception as error:  # noqa: BLE001 - exporters fail in ways of their own; the next one may not
            wrong = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no reason given'}"
        if not wrong:
            if platform == "pt":
                # By Triton's rule of names for TorchScript, which has none of its own.
                inputs = [{**one, "name": f"{one['name']}__{number}"} for number, one in enumerate(inputs)]
                outputs = [f"{name}__{number}" for number, name in enumerate(outputs)]
            return inputs, outputs, run, exporter
        failures.append(f"{exporter}: {wrong}")
    raise ExportError("no exporter made a file that answers as torch does; " + "; ".join(failures))


def compared(expected: Run, found: Run, inputs: Sequence[Mapping[str, Any]], max_batch_size: int, seed: int) -> str:
    """Return at which batch two runs differ, and how; empty where they do not.

    Args:
        expected: torch's.
        found: of the exported file.
        inputs: of the model.
        max_batch_size: see `benchmarking.models.comparison.batches`.
        seed: of the inputs that are made.
    """
    free = any(size < 0 for one in inputs for size in one["shape"])
    for rows in batches(max_batch_size):
        for shorter in (0, 1) if free else (0,):
            given = made(inputs, rows, seed + rows, shorter=shorter)
            about = f"batch {rows}" + (" with a smaller free dimension" if shorter else "")
            wanted = expected(given)
            try:
                got = found(given)
            except Exception as error:  # noqa: BLE001 - a runtime refuses in ways of its own
                return f"at {about} it fails: {str(error).strip().splitlines()[0]}"
            text = difference(wanted, got)
            if text:
                return f"at {about} {text}"
    return ""


def _traced(network: Any, example: Sequence[Any], path: Path) -> Run:
    import torch

    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # What a trace got wrong the comparison finds, at other batches than that of the trace.
        made_of = torch.jit.trace(  # type: ignore[no-untyped-call]
            network, tuple(torch.from_numpy(values) for values in example), check_trace=False
        )
    torch.jit.save(made_of, str(path))
    return open_scripted(path)


def _scripted(network: Any, path: Path) -> Run:
    import torch

    torch.jit.save(torch.jit.script(network), str(path))
    return open_scripted(path)


def _onnx(
    network: Any,
    example: Sequence[Any],
    path: Path,
    inputs: Sequence[Mapping[str, Any]],
    outputs: Sequence[str],
    request: Mapping[str, Any],
    *,
    dynamo: bool,
) -> Run:
    import torch

    names = [one["name"] for one in inputs]
    lead = 1 if request["max_batch_size"] else 0
    free = [[*([0] if lead else []), *(at + lead for at, size in enumerate(one["shape"]) if size < 0)] for one in inputs]
    options: dict[str, Any] = {"input_names": names, "output_names": [*outputs], "dynamo": dynamo}
    if dynamo:
        # `AUTO` would let it take a batch for a constant without a word; this way it says so.
        dynamic = torch.export.Dim.DYNAMIC
        options |= {"dynamic_shapes": (tuple(dict.fromkeys(axes, dynamic) for axes in free),), "verbose": False, "external_data": False}
    else:
        axes = {
            name: {at: "batch" if lead and at == 0 else f"{name}_{at}" for at in found} for name, found in zip(names, free, strict=True)
        }
        options["dynamic_axes"] = {**axes, **({name: {0: "batch"} for name in outputs} if lead else {})}
    if request.get("opset"):
        options["opset_version"] = request["opset"]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, tuple(torch.from_numpy(values) for values in example), str(path), **options)
    came = _opset(path)
    if request.get("opset") not in (None, came):
        # torch's newer exporter leaves the opset as it is where it cannot convert it.
        raise ExportError(f"opset {request['opset']} was asked for, and it made opset {came}")
    return run_onnx(path)


def _opset(path: Path) -> int:
    import onnx

    return next(int(one.version) for one in onnx.load(str(path), load_external_data=False).opset_import if one.domain in ("", "ai.onnx"))
