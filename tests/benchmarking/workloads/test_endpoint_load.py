import json

import pytest

from tests.benchmarking.workloads.load.fake_endpoint import FakeEndpoint, Reply, targets_document
from tests.benchmarking.workloads.workload_runs import program, reports


@pytest.mark.slow
def test_it_runs_alone(tmp_path):
    (tmp_path / "targets.json").write_text(json.dumps(targets_document()))
    with FakeEndpoint(lambda asked: Reply()) as server:
        environ = {"OUTRIDER_ENDPOINT_URL": server.url, "OUTRIDER_ENDPOINT_TARGETS": str(tmp_path / "targets.json")}
        done = program("endpoint_load.py", "--load", "open", "--rate", 100, "--duration_s", 1, "--copies", 2, **environ)
    assert done.returncode == 0, done.stderr
    (found,) = reports(done.stdout)
    assert found["requests"] == len(server.asked) - 1 > 50
    assert found["error_share"] == 0.0


@pytest.mark.slow
def test_without_an_endpoint_it_says_what_is_missing():
    done = program("endpoint_load.py")
    assert done.returncode == 1
    assert "OUTRIDER_ENDPOINT_URL" in done.stderr
    assert "Traceback" not in done.stderr
