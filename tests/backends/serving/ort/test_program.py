"""The server `ort` within one process: what it loads, refuses and joins."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest

from backends.serving.ort.model import OrtModel
from backends.serving.ort.program import OrtService
from backends.serving.ort.tensors import BadRequestError
from backends.serving.wire.messages import Message
from tests.backends.serving.front_bench import request_body
from tests.backends.serving.onnx_packages import config, linear_model


def model_folder(place, more="", rows=8):
    (place / "1").mkdir(parents=True)
    (place / "config.pbtxt").write_text(config(rows=rows, more=more))
    (place / "1" / "model.onnx").write_bytes(linear_model())
    return place


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"z": np.zeros((1, 4), "float32")}, "takes the inputs x; z came"),
        ({}, "none came"),
        ({"x": np.zeros((1, 4), "float64")}, "is FP32; FP64 came"),
        ({"x": np.zeros((1, 5), "float32")}, r"has the shape \[-1, 4\]; \[1, 5\] came"),
        ({"x": np.zeros((4,), "float32")}, "has the shape"),
        ({"x": np.zeros((9, 4), "float32")}, "9 rows; at least 1 and at most max_batch_size = 8"),
        ({"x": np.zeros((0, 4), "float32")}, "0 rows"),
    ],
)
def test_what_a_model_cannot_be_given_is_said(tmp_path, arrays, words):
    with pytest.raises(BadRequestError, match=words):
        OrtModel(model_folder(tmp_path / "m"), 8).check(arrays)


def test_a_model_is_loaded_used_and_unloaded(tmp_path):
    model_folder(tmp_path / "m")

    async def run():
        service = OrtService(tmp_path, 1, None, 0.0)
        ask = Message("", {}, request_body([[1.0, 2.0, 3.0, 4.0]]))
        before = await service.answer("POST", "/v2/models/m/infer", ask)
        loaded = await service.answer("POST", "/v2/repository/models/m/load", Message(""))
        found = await service.answer("POST", "/v2/models/m/infer", ask)
        listed = await service.answer("POST", "/v2/repository/index", Message(""))
        await service.answer("POST", "/v2/repository/models/m/unload", Message(""))
        after = await service.answer("POST", "/v2/models/m/infer", ask)
        return before.status, loaded.status, json.loads(found.body), json.loads(listed.body), after.status

    before, loaded, found, listed, after = asyncio.run(run())
    assert (before, loaded, after) == (404, 200, 404)
    assert found["outputs"] == [{"name": "y", "datatype": "FP32", "shape": [1, 4], "data": [2.0, 4.0, 6.0, 8.0]}]
    assert [row["name"] for row in listed] == ["m"]


@pytest.mark.parametrize(("more", "delay_ms"), [("dynamic_batching { max_queue_delay_microseconds: 20000 }", 0.0), ("", 20.0)])
def test_requests_are_joined_where_the_package_or_the_deployment_says_so(tmp_path, monkeypatch, more, delay_ms):
    model_folder(tmp_path / "m", more)
    seen = []
    run_of = OrtModel.run

    def counted(self, arrays):
        seen.append(len(arrays["x"]))
        return run_of(self, arrays)

    monkeypatch.setattr(OrtModel, "run", counted)

    async def run():
        service = OrtService(tmp_path, 2, None, delay_ms)
        await service.answer("POST", "/v2/repository/models/m/load", Message(""))
        asks = [Message("", {}, request_body([[float(number)] * 4])) for number in range(3)]
        return await asyncio.gather(*(service.answer("POST", "/v2/models/m/infer", ask) for ask in asks))

    answers = [json.loads(reply.body)["outputs"][0]["data"][0] for reply in asyncio.run(run())]
    assert (sum(seen), max(seen)) == (3, 3)
    assert answers == [0.0, 2.0, 4.0]


def test_the_deployment_s_batch_size_counts_before_the_package_s(tmp_path):
    model_folder(tmp_path / "m", rows=8)

    async def run():
        service = OrtService(tmp_path, 1, 2, 0.0)
        await service.answer("POST", "/v2/repository/models/m/load", Message(""))
        return await service.answer("POST", "/v2/models/m/infer", Message("", {}, request_body([[1.0] * 4] * 3)))

    reply = asyncio.run(run())
    assert (reply.status, "at most max_batch_size = 2" in reply.body.decode()) == (400, True)
