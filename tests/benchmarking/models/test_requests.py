from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from benchmarking.models.requests import export_request, request_key
from definitions.errors import UserError
from definitions.models import EndpointModels

FACTORY = {"type": "torch", "factory": "nets:Net", "inputs": [{"name": "x", "shape": [4]}]}


def key(folder=".", platform="onnx", **given):
    model = TypeAdapter(EndpointModels).validate_python({"net": {"type": "small_cnn", **given}})["net"]
    return request_key(export_request(model, platform, str(folder)))


def test_equal_recipes_have_one_key_and_others_another():
    assert key() == key(seed=0, width=16)
    others = [key(seed=1), key(width=8), key(max_batch_size=4), key(platform="pt"), key(opset=17)]
    assert len({key(), *others}) == 6


def test_an_engine_is_made_of_the_same_onnx():
    assert key(platform="trt") == key(platform="onnx")


def test_what_concerns_the_package_alone_needs_no_other_export():
    assert key(preferred_batch_sizes=[4], warm_up=True, precision="fp16") == key()


def test_a_change_of_the_users_code_is_another_model(tmp_path):
    (tmp_path / "nets.py").write_text("class Net: ...")
    before = key(tmp_path, **FACTORY)
    (tmp_path / "layers.py").write_text("width = 3")
    assert key(tmp_path, **FACTORY) != before


def test_code_of_a_library_is_known_by_its_version(tmp_path):
    before = key(tmp_path, **{**FACTORY, "factory": "torch.nn:Identity"})
    (tmp_path / "layers.py").write_text("width = 3")
    assert key(tmp_path, **{**FACTORY, "factory": "torch.nn:Identity"}) == before


def test_a_file_is_known_by_its_content_and_has_to_be_there(tmp_path):
    path = tmp_path / "net.onnx"
    with pytest.raises(UserError, match="there is no file"):
        key(type="onnx", path=str(path))
    path.write_bytes(b"1")
    before = key(type="onnx", path=str(path))
    path.rename(tmp_path / "moved.onnx")
    assert key(type="onnx", path=str(tmp_path / "moved.onnx")) == before
    (tmp_path / "moved.onnx").write_bytes(b"2")
    assert key(type="onnx", path=str(tmp_path / "moved.onnx")) != before
