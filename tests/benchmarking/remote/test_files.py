"""Which files of an experiment are its state, and which are this machine's."""

from __future__ import annotations

from benchmarking.remote.files import kept_files, send
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.remote.remote_lab import EXPERIMENT, Inline


def test_results_and_logs_are_kept_and_what_is_of_this_machine_is_not(tmp_path):
    for name in (
        "experiment.json",
        "trials.csv",
        "logs/0/job.log",
        "jobs/a/model/m.bin",
        "journal.sqlite",
        "journal.sqlite-wal",
        "reserve",
        "reserve-for-the-end",
        "lock",
        ".restored.json",
        ".trials.csv.x1",
        "source/abc/run.py",
        "checkpoints/trial-0/c",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to(tmp_path / "trials.csv")
    (tmp_path / "logs/link").symlink_to("/etc/hostname")
    names = [*kept_files(tmp_path)]
    assert names == ["experiment.json", "jobs/a/model/m.bin", "logs/0/job.log", "trials.csv"]
    store = MemoryStore()
    assert send(store, tmp_path, EXPERIMENT, names, Inline) == 4
    assert store.get(f"{EXPERIMENT}/files/logs/0/job.log").body == b"logs/0/job.log"
