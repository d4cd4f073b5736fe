import subprocess
import sys
import types
from pathlib import Path

import pytest

from benchmarking.workloads.ingestion import forking

ROOT = Path(__file__).resolve().parents[4]


class Client:
    def __init__(self):
        self._native_client = object()


def connector(monkeypatch, join):
    clients = types.SimpleNamespace(_active_clients={Client(), Client()})
    monkeypatch.setitem(sys.modules, forking.CLIENTS, clients)
    monkeypatch.setitem(sys.modules, forking.NATIVE, types.SimpleNamespace(join_all_managed_threads=join))
    monkeypatch.setattr(forking, "has_native_threads", lambda: True)
    return clients


def test_clients_are_let_go_before_their_threads_are_waited_for(monkeypatch):
    waited = []
    clients = connector(
        monkeypatch, lambda wait_s: waited.append((wait_s, {vars(one)["_native_client"] for one in vars(clients)["_active_clients"]}))
    )
    forking.end_client_threads()
    assert waited == [(30.0, {None})]


def test_threads_that_go_on_are_a_reason_not_to_fork(monkeypatch):
    def join(wait_s):
        raise RuntimeError(f"Failed to join managed threads in {wait_s} secs")

    connector(monkeypatch, join)
    with pytest.raises(SystemExit, match=r"while the S3 connector still reads .*in 2 secs.*use start_method spawn"):
        forking.end_client_threads(2)


def test_where_nobody_reads_from_s3_nothing_is_waited_for(monkeypatch):
    monkeypatch.delitem(sys.modules, forking.NATIVE, raising=False)
    forking.end_client_threads()


def test_threads_of_the_runtime_are_known_by_name(tmp_path):
    for number, name in enumerate(["python", "read_0"]):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "comm").write_text(f"{name}\n")
    assert not forking.has_native_threads(tmp_path)
    (tmp_path / "1" / "comm").write_text("AwsEventLoop 1\n")
    assert forking.has_native_threads(tmp_path)


@pytest.mark.slow
def test_a_runtime_that_was_imported_and_never_used_is_not_asked_to_end():
    # As where a process is forked from one that has imported it: the library crashes where it is asked.
    pytest.importorskip("s3torchconnector")
    code = "import s3torchconnector._s3client._s3client; from benchmarking.workloads.ingestion import forking; forking.end_client_threads()"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr


READING = """
import os, sys
sys.path.insert(0, "benchmarking/workloads")
from ingestion import Channel, Knobs, make_loader, open_channel
import ingestion.forking as forking
forking.WAIT_S = 3.0

def keep(samples):
    return samples

if __name__ == "__main__":
    knobs = Knobs(batch_size=4, loader_workers=2, threads_per_worker=8, start_method=sys.argv[2])
    with open_channel(Channel(sys.argv[1], "s3_iterable", "files", format="jpg", labels="none"), os.environ, knobs) as opened:
        opened.set_epoch(0)
        if sys.argv[3] == "held":
            held = iter(opened.dataset)
            next(held)
        print(sum(len(batch) for batch in make_loader(opened, knobs, keep)), "samples")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "held", "said"),
    [("fork", "held", "while the S3 connector still reads"), ("fork", "no", "40 samples"), ("spawn", "held", "40 samples")],
)
def test_workers_with_eight_threads_each_are_forked_only_where_no_native_thread_is_left(s3, tmp_path, method, held, said):
    script = tmp_path / "reading.py"
    script.write_text(READING.replace('"benchmarking/workloads"', repr(str(ROOT / "benchmarking" / "workloads"))))
    command = [sys.executable, str(script), s3.location("files", remote=True), method, held]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert said in run.stdout + run.stderr, run.stderr
    assert "may crash or hang" not in run.stderr
