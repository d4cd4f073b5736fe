import json

import pytest

from benchmarking.workloads.load.endpoint import LoadTarget, announced
from tests.benchmarking.workloads.load.fake_endpoint import REFERENCE, targets_document


def environ(tmp_path, document=None, url="http://127.0.0.1:8080/endpoints/e/invocations", **more):
    path = tmp_path / "targets.json"
    path.write_text(json.dumps(targets_document(2, REFERENCE) if document is None else document))
    return {"OUTRIDER_ENDPOINT_URL": url, "OUTRIDER_ENDPOINT_TARGETS": str(path), **more}


def test_what_is_told(tmp_path):
    found = announced(environ(tmp_path, OUTRIDER_ENDPOINT_KEY="secret", OUTRIDER_ENDPOINT_STATUS_URL="http://127.0.0.1:8080/status"))
    assert found.targets == (LoadTarget("m-v0.tar.gz", "m"), LoadTarget("m-v1.tar.gz", "m"))
    model = found.models["m"]
    assert (model.max_batch_size, model.absolute, model.relative) == (8, 0.01, 0.0)
    assert model.reference_inputs[0].data == [1, 2, 3, 4]
    assert (found.platform, found.server, found.shares_cores) == ("onnx", "fake", False)
    assert "secret" not in repr(found)


def without(key):
    document = targets_document()
    del document[key]
    return document


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"document": without("targets")}, "cannot be used"),
        ({"document": targets_document() | {"targets": []}}, "no target"),
        ({"document": targets_document() | {"targets": [{"target": None, "package": "z"}]}}, "'z'"),
        ({"document": targets_document() | {"packages": {"m": {"inputs": []}}}}, "no inputs"),
        ({"document": targets_document(1, {"inputs": [{"name": "x"}]})}, "reference"),
        ({"url": "ftp://x/y"}, "http"),
        ({"url": ""}, "no endpoint"),
        ({"OUTRIDER_ENDPOINT_TARGETS": "/nowhere.json"}, "cannot be used"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path, change, said):
    with pytest.raises(SystemExit, match=said):
        announced(environ(tmp_path, **change))
