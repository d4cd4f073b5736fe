"""Models are made, opened and exported for real, in the process of the test; each trap of the exporters is one of these models."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from benchmarking.models.exporting import FAILED, RESULT, export, main
from benchmarking.models.running import ExportError

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

NETS = """
from collections import OrderedDict
import torch
from torch import nn

class Doubled(nn.Module):
    def forward(self, left, right):
        return {"sum": left + right, "product": left * right}

class Frozen(nn.Module):
    "Takes the batch of its example for a constant, as some code does that was written for one batch alone."
    def forward(self, x):
        return x.reshape(int(x.shape[0]), 2, -1).sum(dim=1)

class Choosy(nn.Module):
    "Does for a batch of two what it does for no other."
    def forward(self, x):
        return 2 * x if x.shape[0] == 2 else x

class Batchless(nn.Module):
    def forward(self, x):
        return x.mean()

def transformer():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)

def create_model(model_name, pretrained=False, num_classes=1000, **kwargs):
    "As timm's."
    assert (model_name, pretrained, kwargs) == ("tiny", False, {"in_chans": 3})
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, num_classes))

class ModelOutput(OrderedDict):
    "As transformers' outputs: a mapping whose values are attributes too."
    def __getattr__(self, name):
        return self[name]

class Encoder(nn.Module):
    "Called as encoders of transformers are: all by name, most of it left out."
    def __init__(self):
        super().__init__()
        self.embedding, self.pooler = nn.Embedding(30, 8), nn.Linear(8, 8)
    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, inputs_embeds=None, return_dict=None, **kwargs):
        if token_type_ids is not None or inputs_embeds is not None:
            raise ValueError("what was not asked for came")
        found = self.embedding(input_ids) * attention_mask.unsqueeze(-1)
        return ModelOutput(last_hidden_state=found, pooler_output=torch.tanh(self.pooler(found[:, 0])))

class AutoModel:
    @classmethod
    def from_config(cls, config):
        return Encoder()

def bert():
    return AutoModel.from_config({"hidden_size": 8})

def failing(width):
    raise RuntimeError("no weights of width %d" % width)

def nothing():
    return 3
"""


@pytest.fixture
def nets(tmp_path, monkeypatch):
    (tmp_path / "nets_of_the_user.py").write_text(NETS)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("nets_of_the_user", None)


def request(factory, *inputs, platform="onnx", **given):
    usual = {"type": "torch", "factory": f"nets_of_the_user:{factory}", "arguments": {}, "platform": platform, "max_batch_size": 4}
    shapes = [{"name": name, "datatype": "FP32", "shape": list(shape), "below": None} for name, shape in inputs]
    return {**usual, "inputs": shapes, "outputs": [], "seed": 0, "opset": None, **given}


X = ("x", (6,))


@pytest.mark.parametrize("platform", ["onnx", "pt"])
def test_a_transformer_is_compared_at_every_batch(nets, platform):
    found = export(request("transformer", ("src", (5, 8)), platform=platform), nets)
    assert found["compared_at"] == [1, 2, 4]
    assert [one["shape"] for one in found["outputs"]] == [[5, 8]]
    reference = json.loads((nets / "reference.json").read_text())
    assert reference["inputs"][0]["shape"] == [4, 5, 8]


def test_where_one_exporter_froze_the_batch_the_other_one_is_taken(nets):
    found = export(request("Frozen", X), nets)
    assert found["exporter"] == "torch.onnx (dynamo)"


def test_a_file_that_answers_wrongly_at_some_batch_is_refused_with_what_each_exporter_came_to(nets):
    with pytest.raises(ExportError) as caught:
        export(request("Choosy", X), nets)
    assert "torch.onnx (TorchScript): at batch 1 output 0: 6 of 6 numbers differ" in str(caught.value)
    assert "torch.onnx (dynamo): " in str(caught.value)


def test_what_a_trace_gets_wrong_is_scripted(nets):
    found = export(request("Frozen", X, platform="pt"), nets)
    assert found["exporter"] == "torch.jit.script"
    import torch

    network = torch.jit.load(str(nets / "model.pt"))
    assert network(torch.ones(3, 6)).shape == (3, 3)


def test_inputs_go_by_name_and_mappings_come_back_in_order(nets):
    found = export(request("Doubled", ("right", (2,)), ("left", (2,)), outputs=["sum", "product"]), nets)
    assert [one["name"] for one in found["inputs"]] == ["right", "left"]
    assert [one["name"] for one in found["outputs"]] == ["sum", "product"]
    reference = json.loads((nets / "reference.json").read_text())
    given = [np.array(one["data"]) for one in reference["inputs"]]
    assert np.allclose(reference["outputs"][1]["data"], given[0] * given[1], atol=1e-6)


@pytest.mark.parametrize("platform", ["onnx", "pt"])
def test_factories_of_libraries_are_called_as_they_are_documented(nets, platform):
    """As the examples of docs/inference.md call timm's and transformers', which are no dependencies."""
    given = {"model_name": "tiny", "pretrained": False, "num_classes": 5, "in_chans": 3}
    vision = export(request("create_model", ("x", (3, 8, 8)), arguments=given, platform=platform), nets)
    assert ([one["shape"] for one in vision["outputs"]], vision["compared_at"]) == ([[5]], [1, 2, 4])
    tokens = [{"name": "input_ids", "datatype": "INT64", "shape": [6], "below": 30}]
    tokens += [{"name": "attention_mask", "datatype": "INT64", "shape": [6], "below": 2}]
    text = request("bert", platform=platform, outputs=["last_hidden_state", "pooler_output"])
    found = export({**text, "inputs": tokens}, nets)
    assert [one["shape"] for one in found["outputs"]] == [[6, 8], [8]]
    ends = ("", "") if platform == "onnx" else ("__0", "__1")
    assert [one["name"] for one in found["outputs"]] == [f"last_hidden_state{ends[0]}", f"pooler_output{ends[1]}"]


def test_torchscript_has_names_by_number(nets):
    found = export(request("Doubled", ("left", (2,)), ("right", (2,)), platform="pt"), nets)
    assert [one["name"] for one in found["inputs"]] == ["left__0", "right__1"]
    assert [one["name"] for one in found["outputs"]] == ["output_0__0", "output_1__1"]


def test_a_model_without_batches(nets):
    found = export(request("Batchless", X, max_batch_size=0), nets)
    assert (found["compared_at"], found["outputs"][0]["shape"]) == ([0], [])


def test_free_dimensions_stay_free(nets):
    found = export(request("transformer", ("src", (-1, 8)), max_batch_size=2), nets)
    assert found["inputs"][0]["shape"] == [-1, 8]
    assert found["outputs"][0]["shape"] == [-1, 8]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (request("Doubled", ("left", (2,)), ("rigth", (2,))), "input 'rigth' is no parameter of its forward(left, right)"),
        (request("Doubled", ("left", (2,))), "its forward needs left, right, and `inputs` has left"),
        (request("Frozen", ("x", (7,))), "it does not take its inputs (x [2, 7])"),
        (request("Doubled", ("left", (2,)), ("right", (2,)), outputs=["only"]), "it returns 2 tensors, and `outputs` names 1"),
        (request("failing", X, arguments={"width": 3}), "failing(width=3) failed: RuntimeError: no weights of width 3"),
        (request("nothing", X), "returned a int, and no torch.nn.Module"),
        (request("Missing", X), "has no attribute 'Missing'"),
        (request("transformer", ("src", (5, 8)), opset=7), "no exporter made a file"),
    ],
)
def test_what_is_wrong_with_a_model_is_said(nets, given, words):
    with pytest.raises(ExportError) as caught:
        export(given, nets)
    assert words in str(caught.value)


def test_the_program_leaves_its_answer_or_the_reason(nets):
    for name, given, code, left in (("good", request("Batchless", X), 0, RESULT), ("bad", request("nothing", X), 3, FAILED)):
        place = nets / name
        place.mkdir()
        (nets / "request.json").write_text(json.dumps(given | {"max_batch_size": 0}))
        assert main(str(nets / "request.json"), str(place)) == code
        assert (place / left).is_file()


BUILT_IN = [
    ({"type": "small_cnn", "width": 4, "classes": 3}, [("image", (3, 16, 16))], (1, 3)),
    ({"type": "resnet18", "width": 2, "classes": 5}, [("image", (3, 32, 32))], (1, 5)),
    ({"type": "resnet50", "width": 2, "classes": 5}, [("image", (3, 32, 32))], (1, 5)),
]


@pytest.mark.parametrize(("settings", "inputs", "shape"), BUILT_IN)
def test_built_in_networks_answer_with_scores_and_the_seed_is_their_weights(settings, inputs, shape):
    import torch

    from benchmarking.models.networks import network

    answers = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        with torch.no_grad():
            answers.append(network(settings).eval()(torch.ones(1, *inputs[0][1])))
    assert tuple(answers[0].shape) == shape
    assert torch.equal(answers[0], answers[1])
    assert not torch.equal(answers[0], answers[2])


def test_resnet_50_has_the_weights_of_the_paper_and_an_encoder_those_of_bert_base():
    from benchmarking.models.networks import network

    count = sum(one.numel() for one in network({"type": "resnet50", "width": 64, "classes": 1000}).parameters())
    assert count == 25_557_032  # torchvision's resnet50 has as many
    settings = {"type": "text_encoder", "vocabulary": 30522, "length": 512, "width": 768, "layers": 12, "heads": 12, "classes": 2}
    count = sum(one.numel() for one in network(settings).parameters())
    assert 108e6 < count < 111e6  # BERT-base has 110 million


def test_tokens_that_are_masked_change_nothing_and_a_text_without_any_has_an_answer():
    import torch

    from benchmarking.models.networks import network

    encoder = network({"type": "text_encoder", "vocabulary": 9, "length": 6, "width": 8, "layers": 2, "heads": 2, "classes": 2}).eval()
    tokens, mask = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1, 1, 0, 0]])
    with torch.no_grad():
        assert torch.allclose(encoder(tokens, mask), encoder(torch.tensor([[1, 2, 7, 8]]), mask), atol=1e-6)
        assert torch.allclose(encoder(tokens, mask), encoder(tokens[:, :2], mask[:, :2]), atol=1e-6)
        assert torch.isfinite(encoder(tokens, 0 * mask)).all()
