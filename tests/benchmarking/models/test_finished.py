from __future__ import annotations

import json

import pytest

from benchmarking.models.exporting import export
from benchmarking.models.running import ExportError

pytestmark = pytest.mark.slow


def onnx_file(path, *, batch="n", opset=17, kind=None, divided=False):
    """Write a model that halves its input; `divided` by its own batch, so that rows depend on each other."""
    import onnx
    from onnx import TensorProto, helper

    shape = ["n" if batch == "n" else batch, 4]
    x = helper.make_tensor_value_info("x", kind or TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    half = helper.make_tensor("half", TensorProto.FLOAT, [], [0.5])
    nodes = [helper.make_node("ReduceMean", ["x"], ["m"], axes=[0], keepdims=1), helper.make_node("Sub", ["x", "m"], ["z"])]
    nodes = [*nodes, helper.make_node("Mul", ["z", "half"], ["y"])] if divided else [helper.make_node("Mul", ["x", "half"], ["y"])]
    graph = helper.make_graph(nodes, "halves", [x], [y], [half])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), str(path))
    return path


def opened(path, folder, most=4, **given):
    folder.mkdir(exist_ok=True)
    request = {"type": "onnx", "path": str(path), "platform": "onnx", "max_batch_size": most, "inputs": [], "outputs": [], "seed": 0}
    return export({**request, **given}, folder)


def test_a_finished_file_says_its_inputs_itself(tmp_path):
    found = opened(onnx_file(tmp_path / "half.onnx"), tmp_path / "out")
    assert found["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [4]}]
    assert found["outputs"] == [{"name": "y", "datatype": "FP32", "shape": [4]}]
    assert found["exporter"] == "a finished file (ai.onnx 17)"
    reference = json.loads((tmp_path / "out" / "reference.json").read_text())
    assert reference["outputs"][0]["data"][0] == pytest.approx(reference["inputs"][0]["data"][0] / 2)
    assert (tmp_path / "out" / "model.onnx").read_bytes() == (tmp_path / "half.onnx").read_bytes()


def test_a_file_without_batches_is_taken_as_it_is(tmp_path):
    found = opened(onnx_file(tmp_path / "half.onnx", batch=3), tmp_path / "out", most=0)
    assert found["inputs"][0]["shape"] == [3, 4]


def test_a_batch_that_is_fixed_is_said(tmp_path):
    with pytest.raises(ExportError, match="input 'x' is fixed at a batch of 1; export it with a dynamic first dimension"):
        opened(onnx_file(tmp_path / "half.onnx", batch=1), tmp_path / "out")


def test_rows_that_depend_on_each_other_are_found(tmp_path):
    with pytest.raises(ExportError, match="answers row 0 of a batch of 2 otherwise than that row alone"):
        opened(onnx_file(tmp_path / "half.onnx", divided=True), tmp_path / "out")


def test_an_opset_that_nobody_knows_is_said(tmp_path):
    with pytest.raises(ExportError, match=r"half.onnx is no ONNX model|does not take it"):
        opened(onnx_file(tmp_path / "half.onnx", opset=99), tmp_path / "out")


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x08"])
def test_a_file_that_is_no_onnx_is_said(tmp_path, content):
    (tmp_path / "net.onnx").write_bytes(content)
    with pytest.raises(ExportError, match=r"net.onnx is no ONNX model|does not take it"):
        opened(tmp_path / "net.onnx", tmp_path / "out")


def scripted(path):
    import torch

    torch.jit.save(torch.jit.trace(torch.nn.Linear(4, 2), torch.zeros(2, 4)), str(path))
    return path


TENSOR = {"name": "x", "datatype": "FP32", "shape": [4], "below": None}


def test_a_finished_torchscript_file(tmp_path):
    found = opened(scripted(tmp_path / "net.pt"), tmp_path / "out", type="torchscript", platform="pt", inputs=[TENSOR])
    assert found["inputs"][0]["name"] == "x__0"
    assert found["outputs"] == [{"name": "output__0", "datatype": "FP32", "shape": [2]}]


@pytest.mark.parametrize(("shape", "words"), [([5], "does not take a batch of 1"), ([4], "is no TorchScript file")])
def test_a_torchscript_file_that_cannot_be_run_is_said(tmp_path, shape, words):
    path = scripted(tmp_path / "net.pt")
    if shape == [4]:
        path.write_bytes(b"PK" + path.read_bytes()[:100])
    with pytest.raises(ExportError, match=words):
        opened(path, tmp_path / "out", type="torchscript", platform="pt", inputs=[{**TENSOR, "shape": shape}])
