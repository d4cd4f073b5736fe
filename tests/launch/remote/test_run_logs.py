"""Logs of controllers and trials from CloudWatch, from a machine that knows the tag alone."""

from __future__ import annotations

import pytest

from backends.sagemaker.aws.object_store import S3ObjectStore
from benchmarking.remote.generations import claim_generation
from definitions.errors import UserError
from launch.__main__ import main
from launch.remote import run_logs
from launch.remote.run_logs import controller_job, show
from tests.backends.memory_store import MemoryStore
from tests.backends.sagemaker.logs.test_tail import Logs
from tests.backends.tag_bench import BUCKET, TagBench, tag_bench, use


def test_following_a_controller_goes_on_with_the_next_generation(monkeypatch):
    logs = Logs([[(1, "a", "first")]], [[(2, "b", "last of g1")]], [[(3, "c", "g2")]])
    statuses = {"g1": ["InProgress", "Completed"], "g2": ["Completed"]}
    monkeypatch.setattr(run_logs, "status_within", lambda clients, job, seconds: statuses[job].pop(0))
    jobs, lines, waits = iter(["g1", "g2", "g2"]), [], []
    assert show(logs, lambda: next(jobs), lines.append, follow=True, sleep=waits.append) == 3
    assert lines == ["first", "last of g1", "g2"]
    assert waits == [2.0]


def test_a_controller_is_known_by_the_claim_of_its_last_generation():
    store = MemoryStore()
    for generation in (1, 2):
        claim_generation(store, "n", 1, generation, f"ctl-g{generation}", 1.0)
    assert controller_job([MemoryStore(), store], 1) == "ctl-g2"
    with pytest.raises(UserError, match="it has 1"):
        controller_job([store], 2)


@pytest.mark.slow
def test_the_verb_prints_what_a_job_printed(monkeypatch, tmp_path, capsys):
    with tag_bench() as emulator:
        use(monkeypatch, emulator.environment, tmp_path)
        monkeypatch.chdir(tmp_path)
        bench = TagBench(emulator)
        job = bench.job("t", command="echo hello from the controller")
        store = S3ObjectStore(f"s3://{BUCKET}/outrider/runs/t", bench.clients())
        claim_generation(store, "n", 1, 1, job, 1.0)
        assert main(["logs", "t", "--follow"]) == 0
        printed = capsys.readouterr()
        assert "hello from the controller" in printed.out
        assert job in printed.err
        assert main(["logs", "t", "--trial", "3"]) == 2
        assert "no training job of such a trial" in capsys.readouterr().err
