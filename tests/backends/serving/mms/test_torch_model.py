"""A TorchScript model with the face of ONNX Runtime's."""

from __future__ import annotations

import numpy as np
import pytest

from backends.serving.mms.torch_model import TorchScriptRunner
from backends.serving.ort.tensors import BadRequestError
from backends.serving.pbtxt import ModelConfig

torch = pytest.importorskip("torch")

CONFIG = """
max_batch_size: 8
input [ { name: "a__0" data_type: TYPE_FP32 dims: [ -1 ] }, { name: "b__1" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "sum__0" data_type: TYPE_FP32 dims: [ 2 ] }, { name: "difference__1" data_type: TYPE_FP32 dims: [ 2 ] } ]
"""


class SumAndDifference(torch.nn.Module):
    def forward(self, a, b):
        return a + b, a - b


@pytest.fixture
def runner(tmp_path):
    (tmp_path / "1").mkdir()
    torch.jit.trace(SumAndDifference(), (torch.zeros(1, 2), torch.zeros(1, 2))).save(str(tmp_path / "1" / "model.pt"))
    return TorchScriptRunner(tmp_path, ModelConfig.of(CONFIG), 8, 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_inputs_and_outputs_are_told_apart_by_their_order_in_the_configuration(runner):
    arrays = {"b__1": np.asarray([[1.0, 2.0]], "float32"), "a__0": np.asarray([[5.0, 5.0]], "float32")}
    assert runner.check(arrays) == 1
    found = runner.run(arrays)
    assert {name: array.tolist() for name, array in found.items()} == {"sum__0": [[6.0, 7.0]], "difference__1": [[4.0, 3.0]]}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_the_configuration_does_not_take_is_refused(runner):
    with pytest.raises(BadRequestError, match=r"'b__1' has the shape \[-1, 2\]; \[1, 3\] came"):
        runner.check({"a__0": np.zeros((1, 3), "float32"), "b__1": np.zeros((1, 3), "float32")})
