"""Triton out of its wheel, behind the front; and why it cannot be had where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.serving.environment import ServingEnvironment, interpreters
from backends.serving.triton.server import TritonServer, library_environment, reason_against
from tests.backends.serving.onnx_packages import package
from tests.backends.serving.server_contract import TorchScriptContract, descendants

MISSING = TritonServer.missing()


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=MISSING)
class TestTriton(TorchScriptContract):
    server = "triton"

    def test_answers_are_not_empty(self, front, tmp_path):
        """The stub answers 200 with no numbers where it meets numpy 2, which is in the path of whoever starts it."""
        package(tmp_path / "targets" / "a.tar.gz")
        answer = self.bench(front).invoke("a.tar.gz")
        assert answer.value["outputs"] == [{"name": "y", "datatype": "FP32", "shape": [1, 4], "data": [2.0, 4.0, 6.0, 8.0]}]

    def test_requests_are_computed_together_and_told_apart(self, front, tmp_path):
        import threading

        package(tmp_path / "targets" / "a.tar.gz", more="dynamic_batching { max_queue_delay_microseconds: 200000 }")
        bench = self.bench(front)
        bench.invoke("a.tar.gz")
        found = {}

        def call(number):
            found[number] = bench.invoke("a.tar.gz", [[float(number)] * 4]).outputs

        callers = [threading.Thread(target=call, args=(number,)) for number in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert found == {number: [2.0 * number] * 4 for number in range(8)}

    def test_it_serves_on_the_loopback_alone(self, front, tmp_path):
        package(tmp_path / "targets" / "a.tar.gz")
        bench = self.bench(front)
        bench.invoke("a.tar.gz")
        pids = {process.pid for process in descendants(bench)} | {bench.process.pid}
        assert listening(pids) == {"0100007F"}

    def test_regions_of_shared_memory_do_not_outlive_it(self, front, tmp_path):
        package(tmp_path / "targets" / "a.tar.gz")
        bench = self.bench(front)
        bench.invoke("a.tar.gz")
        mine = f"outrider-{bench.process.pid}-"
        assert any(path.name.startswith(mine) for path in Path("/dev/shm").iterdir())
        bench.process.kill()
        bench.process.wait()
        other = self.bench(front)
        assert not any(path.name.startswith(mine) for path in Path("/dev/shm").iterdir()), "the next server deletes what a killed one left"
        other.invoke("a.tar.gz")
        other.close()
        assert not any(path.name.startswith(f"outrider-{other.process.pid}-") for path in Path("/dev/shm").iterdir())


def listening(pids):
    """Return the addresses, as Linux writes them, on which processes listen over TCP."""
    sockets = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            try:
                sockets.add(str(link.readlink()))
            except OSError:
                continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                found.add(words[1].split(":")[0])
    return found


@pytest.fixture
def environment(tmp_path):
    triton = tmp_path / "pytriton" / "tritonserver"
    (triton / "bin").mkdir(parents=True)
    (triton / "bin" / "tritonserver").write_text("")
    (triton / "python_backend_stubs" / "3.11").mkdir(parents=True)

    def make(**fields):
        usual = {"python": "/e/bin/python", "packages": tmp_path, "library": "/lib", "version": "3.11", "versions": {"numpy": "1.26.4"}}
        return ServingEnvironment(**{**usual, **fields})

    return make


def test_an_environment_that_has_all_is_taken(environment):
    assert reason_against(environment()) == ""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"versions": {"numpy": "2.1.0"}}, "has numpy 2.1.0, and Triton's stub answers with empty tensors but under numpy 1"),
        ({"versions": {}}, "has numpy not at all"),
        ({"version": "3.15"}, "is Python 3.15, the wheel has a stub for 3.11"),
        ({"library": ""}, "without a shared library"),
        ({"packages": Path("/nowhere")}, "has no tritonserver"),
    ],
)
def test_what_is_lacking_is_said_with_what_to_do(environment, fields, words):
    said = reason_against(environment(**fields))
    assert words in said
    assert "make serving" in said


def test_without_the_wheel_it_says_how_it_is_installed():
    assert reason_against(None) == (
        "the wheel nvidia-pytriton is not installed; run `make serving`, or name the interpreter of an environment that has it in "
        "OUTRIDER_SERVING_PYTHON"
    )


def test_its_own_libraries_and_its_python_s_come_first(environment, tmp_path, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/before")
    assert library_environment(environment())["LD_LIBRARY_PATH"] == f"{tmp_path}/nvidia_pytriton.libs:/lib:/before"
    monkeypatch.delenv("LD_LIBRARY_PATH")
    assert library_environment(environment())["LD_LIBRARY_PATH"] == f"{tmp_path}/nvidia_pytriton.libs:/lib"


def test_the_interpreter_that_is_named_is_the_only_one(tmp_path):
    assert interpreters({"OUTRIDER_SERVING_PYTHON": "/e/python"}, tmp_path) == ["/e/python"]
    assert str(tmp_path / ".venv-serving" / "bin" / "python") in interpreters({}, tmp_path)
