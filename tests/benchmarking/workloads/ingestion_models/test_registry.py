import io
import sys

import numpy as np
import pytest
import torch
from PIL import Image

from benchmarking.workloads.checkpointing.filling import difference
from benchmarking.workloads.ingestion_models import is_loss, make_model
from benchmarking.workloads.ingestion_models.base import ModelOptions
from benchmarking.workloads.ingestion_models.cnn import held_out
from benchmarking.workloads.ingestion_models.images import LoadImage, pixels_of
from benchmarking.workloads.ingestion_models.registry import MODELS
from benchmarking.workloads.measuring.timed import Cost, LoadedBatch

OPTIONS = ModelOptions(image_size=32)
FREE = Cost(0, 0, 0, 0, 0, 0, 0)


@pytest.fixture(autouse=True)
def one_thread():
    """Threads that wait for each other in a loop take minutes where others want the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def encoded(width, height, colour=(200, 10, 10), form="PNG"):
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, form)
    return file.getvalue()


def content(name, number):
    return np.array([number, -1], np.float32) / 10 if name == "mlp" else encoded(32, 32, (number * 5, 0, 0))


def batch(model, count=40, name=""):
    values = [model.load_sample(content(name, number)) for number in range(count)]
    stacked = torch.stack(values) if isinstance(values[0], torch.Tensor) else values
    return LoadedBatch([f"{number:06d}" for number in range(count)], stacked, torch.tensor([number % 2 for number in range(count)]), FREE)


@pytest.mark.parametrize("name", MODELS)
def test_each_model_loads_trains_and_saves(name, tmp_path):
    torch.manual_seed(0)
    model = make_model(name, OPTIONS)
    losses = [model.train(batch(model, name=name)) for _ in range(6)]
    assert losses == [None] * 6 or losses[-1] < losses[0]
    model.finish_epoch()
    model.save(tmp_path / "model")
    assert (tmp_path / "model").is_file()


@pytest.mark.parametrize("name", ["entitlement", "sleep", "cnn", "resnet18"])
def test_what_is_saved_is_the_state(name, tmp_path):
    model = make_model(name, OPTIONS)
    model.train(batch(model))
    model.save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    saved = torch.load(tmp_path / "model", weights_only=True) if content else {}
    assert difference(model.state(), saved) == ""
    assert bool(content) == (name not in ("entitlement", "sleep"))


@pytest.mark.parametrize(
    ("value", "is_one"),
    [(None, True), (1, True), (0.5, True), (torch.tensor(2.0), True), ("0.5", False), ({"loss": 1.0}, False), (True, False)],
)
def test_a_loss_is_a_number_or_none(value, is_one):
    assert is_loss(value) is is_one


def test_entitlement_reads_bytes_only():
    assert make_model("entitlement", OPTIONS).load_sample(b"12345") == 5


def test_sleep_hands_over_what_is_no_image_as_it_is():
    """As where an accelerator is waited for whose samples are no images (3D U-Net, CosmoFlow), or tables are read."""
    row = np.array([1.5, -2], np.float32)
    assert make_model("sleep", ModelOptions(content="rows")).load_sample(row).tolist() == [1.5, -2]
    assert make_model("sleep", ModelOptions(content="bytes")).load_sample(b"\x01\xff").tolist() == [1, 255]
    with pytest.raises(OSError, match="cannot identify"):  # where it has to be an image
        make_model("sleep", OPTIONS).load_sample(b"\x01\xff")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("cnn", "rows", r"model 'cnn' trains on images, and the data set holds rows: use mlp, sleep, entitlement"),
        ("vit", "bytes", r"model 'vit' trains on images, and the data set holds bytes: use sleep, entitlement"),
        ("mlp", "images", r"model 'mlp' trains on rows, and the data set holds images: use cnn, "),
    ],
)
def test_a_model_that_does_not_fit_the_data_is_answered_with_those_that_do(name, content, said):
    with pytest.raises(SystemExit, match=said):
        make_model(name, ModelOptions(image_size=32, content=content))


def test_a_label_without_a_class_is_said_and_as_many_classes_as_are_known_are_made():
    few = batch(make_model("cnn", OPTIONS), 2)
    with pytest.raises(SystemExit, match=r"model 'cnn': a label is 256, and it has 100 classes"):
        make_model("cnn", OPTIONS).train(few._replace(labels=torch.tensor([0, 256])))
    with pytest.raises(SystemExit, match=r"a label is 1000, and it has 1000 classes"):
        make_model("resnet18", OPTIONS).train(few._replace(labels=torch.tensor([0, 1000])))
    assert make_model("cnn", ModelOptions(image_size=32, classes=257)).train(few._replace(labels=torch.tensor([0, 256]))) > 0


def test_sleep_takes_its_time(monkeypatch):
    slept = []
    monkeypatch.setattr("benchmarking.workloads.ingestion_models.without_network.time.sleep", slept.append)
    model = make_model("sleep", ModelOptions(image_size=32, compute_s=0.25))
    assert model.train(batch(model)) is None
    assert slept == [0.25]


def test_cnn_holds_samples_out_and_tells_their_accuracy():
    model = make_model("cnn", OPTIONS)
    model.train(batch(model))
    held = sum(held_out(f"{number:06d}") for number in range(40))
    accuracy = model.finish_epoch()["accuracy"]
    assert (accuracy * held) == pytest.approx(round(accuracy * held))
    assert model.finish_epoch() == {}


def test_about_a_tenth_is_held_out():
    assert sum(held_out(f"{index:06d}") for index in range(2000)) == pytest.approx(200, abs=40)


def test_images_of_another_size_are_scaled():
    image = LoadImage(16)(encoded(64, 32))
    assert (tuple(image.shape), image.dtype) == ((16, 16, 3), torch.uint8)
    assert image.float().mean((0, 1)).tolist() == pytest.approx([200, 10, 10], abs=1)
    assert pixels_of(image[None], "cpu").shape == (1, 3, 16, 16)
    assert float(pixels_of(image[None], "cpu")[0, 0, 0, 0]) == pytest.approx(200 / 255, abs=0.01)


def test_a_damaged_image_is_an_error():
    with pytest.raises(OSError, match=r"(?i)truncated"):
        LoadImage(32)(encoded(64, 64, form="JPEG")[:300])


def test_a_model_of_the_users_own(tmp_path, monkeypatch):
    (tmp_path / "mine_here.py").write_text(
        "class Good:\n"
        "    load_sample = staticmethod(len)\n"
        "    def __init__(self, options): self.size = options.image_size\n"
        "    def train(self, batch): return 1.0\n"
        "    def finish_epoch(self): return {}\n"
        "    def save(self, path): pass\n"
        "class Short:\n"
        "    load_sample = staticmethod(len)\n"
        "    def __init__(self, options): pass\n"
        "    def train(self, batch): return None\n"
        "    def save(self, path): pass\n"
        "class Bad:\n"
        "    def __init__(self, options): pass\n"
        "    def train(self, batch): pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert make_model("mine_here:Good", OPTIONS).size == 32
    assert not hasattr(make_model("mine_here:Short", OPTIONS), "finish_epoch")
    with pytest.raises(SystemExit, match=r"'mine_here:Bad' has no load_sample, finish_epoch, save"):
        make_model("mine_here:Bad", OPTIONS)
    with pytest.raises(SystemExit, match=r"'mine_here:Gone' cannot be imported"):
        make_model("mine_here:Gone", OPTIONS)
    with pytest.raises(SystemExit, match=r"none of this name .*did you mean sleep\?"):
        make_model("slep", OPTIONS)
    sys.modules.pop("mine_here", None)
