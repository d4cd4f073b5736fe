from __future__ import annotations

import json

from backends.load_targets import targets_document
from tests.backends.test_deployment import deployment, package


def test_what_a_load_is_told(tmp_path):
    reference = tmp_path / "reference.json"
    reference.write_text(json.dumps({"inputs": [], "outputs": [], "tolerance": {"absolute": 1e-4, "relative": 1e-3}}))
    found = targets_document(deployment(package("cnn", reference=str(reference)), package("net", platform="pt")), client_shares_cores=True)
    assert found["targets"][:2] == [{"target": "cnn-v0.tar.gz", "package": "cnn"}, {"target": "net-v0.tar.gz", "package": "net"}]
    assert found["packages"]["cnn"]["inputs"] == [{"name": "image", "datatype": "FP32", "shape": [3, 32, 32]}]
    assert found["packages"]["cnn"]["reference"]["tolerance"]["relative"] == 1e-3
    assert found["packages"]["net"]["reference"] is None
    assert (found["platform"], found["mode"], found["server"], found["client_shares_cores"]) == ("onnx+pt", "multi", "ort", True)
    assert json.loads(json.dumps(found)) == found


def test_a_single_model_is_called_without_a_target():
    found = targets_document(deployment(mode="single", copies=1), client_shares_cores=False)
    assert found["targets"] == [{"target": None, "package": "cnn"}]
