"""Small ONNX models made by hand, packaged as servers load them."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path


def linear_model(factor: float = 2.0, columns: int = 4, opset: int = 17, input_name: str = "x", weights: int = 0) -> bytes:
    """Return a model whose output `y` is `factor` times its input, row by row; `weights`: bytes of a constant that it carries beside."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    shape = ["rows", columns]
    constants = [numpy_helper.from_array(np.asarray([factor], "float32"), "factor")]
    nodes = [helper.make_node("Mul", [input_name, "factor"], ["scaled"])]
    if weights:
        # One number of it is looked up by the input and counts for nothing, so that it can be neither left out nor worked out before.
        constants.append(numpy_helper.from_array(np.ones(weights // 4, "float32"), "ballast"))
        constants.append(numpy_helper.from_array(np.asarray(0.0, "float32"), "zero"))
        nodes.append(helper.make_node("Mul", [input_name, "zero"], ["zeros"]))
        nodes.append(helper.make_node("ReduceMax", ["zeros"], ["first"], keepdims=0))
        nodes.append(helper.make_node("Cast", ["first"], ["place"], to=TensorProto.INT64))
        nodes.append(helper.make_node("Gather", ["ballast", "place"], ["one"]))
        nodes.append(helper.make_node("Mul", ["one", "zero"], ["nothing"]))
        nodes.append(helper.make_node("Add", ["scaled", "nothing"], ["y"]))
    else:
        nodes.append(helper.make_node("Identity", ["scaled"], ["y"]))
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info(input_name, TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    return bytes(model.SerializeToString())


def config(name: str = "linear", rows: int = 8, columns: int = 4, more: str = "") -> str:
    """Return the config.pbtxt of such a model."""
    return (
        f'name: "{name}"\nplatform: "onnxruntime_onnx"\nmax_batch_size: {rows}\n'
        f'input [ {{ name: "x" data_type: TYPE_FP32 dims: [ {columns} ] }} ]\n'
        f'output [ {{ name: "y" data_type: TYPE_FP32 dims: [ {columns} ] }} ]\n{more}'
    )


def archive(path: Path, files: Mapping[str, bytes | str]) -> Path:
    """Write a `.tar.gz` of these files and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Only packed, as squeezing a large one takes seconds.
    with tarfile.open(path, "w:gz", compresslevel=0) as tar:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return path


def package(path: Path, factor: float = 2.0, more: str = "", weights: int = 0) -> Path:
    """Write the archive of a model and return its path."""
    return archive(path, {"linear/config.pbtxt": config(more=more), "linear/1/model.onnx": linear_model(factor, weights=weights)})
