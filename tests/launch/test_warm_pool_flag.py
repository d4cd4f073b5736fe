"""`--warm_pool 1`, as on Syne Tune's command line, and what a run on warm pools prints."""

from __future__ import annotations

import contextlib
import json

import pytest

from benchmarking.controller.sqlite_journal import SqliteJournal
from definitions.errors import UserError
from launch.cli import parse_run


@pytest.mark.parametrize(
    ("words", "backend"),
    [
        ((), ""),  # nothing is said, so a study's own counts, else local
        (("--warm_pool", "0"), ""),
        (("--warm-pool", "1"), "warm_pool"),
        (("--warm_pool", "1", "--backend", "sagemaker"), "warm_pool"),
        (("--warm_pool", "1", "--backend", "warm_pool"), "warm_pool"),
        (("--warm_pool", "0", "--backend", "sagemaker"), "sagemaker"),
    ],
)
def test_which_back_end_is_meant(words, backend):
    assert parse_run(["--benchmark", "demo", *words], {})[1].backend == backend


def test_nothing_else_keeps_instances():
    with pytest.raises(UserError, match="--warm_pool 1 with --backend local"):
        parse_run(["--benchmark", "demo", "--warm_pool", "1", "--backend", "local"], {})


CLOUD = """
sagemaker: {image: "image:1"}
arguments: {seconds: 0.0, fail_above: 9.0, instance_type: ml.m5.large}
"""


@pytest.mark.slow
def test_a_run_says_what_warm_instances_did(toy, run):
    text = (toy.folder / "toy.yaml").read_text().replace("arguments: {seconds: 0.0, fail_above: 9.0}\n", "")
    (toy.folder / "cloud.yaml").write_text(text + CLOUD)
    words = ("--benchmark", "cloud.yaml", "--warm_pool", "1", "--emulate", "--max_num_trials", "2")
    code, out, err = run(*words, "--format", "json")
    assert code == 0, err
    (experiment,) = json.loads(out)["experiments"]
    assert experiment["backend"] == "warm_pool"
    found = experiment["warm_pool"]
    # Both start at once, so that none could be warm; what they left was kept, given up and paid for.
    assert (found["jobs"], found["warm_jobs"], found["hit_rate"], found["quotas_at_zero"]) == (2, 0, None, [])
    journal = next(toy.folder.glob("results/*/toy/*/journal.sqlite"))
    with contextlib.closing(SqliteJournal(journal, read_only=True)) as records:
        kept = [record.body for record in records.records() if record.kind == "retained"]
    assert sum(body["billable_s"] is None for body in kept) == sum(body["billable_s"] is not None for body in kept) == 2
    assert found["retained_usd"] == pytest.approx(sum(body["cost_usd"] or 0.0 for body in kept))
    code, out, err = run(*words)
    assert code == 0, err
    assert "Warm pools: instances were kept, but no job came that could have had them. Spent (emulated): $" in out
