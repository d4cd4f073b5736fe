"""`shares: first_come`: who runs first spends what the experiments have in common, over all invocations, one process at a time."""

from __future__ import annotations

import contextlib
import re
import sqlite3

import pytest

from benchmarking.studies.files import read_study, spending
from benchmarking.studies.standing import spent_usd
from launch.shared_budget import shared_budget_of

pytestmark = pytest.mark.slow

# A job of an hour may cost $0.05.
WORDS = ("--benchmark", "toy.yaml", "--shares", "first_come", "--max_run", "3595", "--max_num_trials", "2", "--n_workers", "1")
THREE = (*WORDS, "--num_seeds", "3", "--experiment_tag", "s")


def counts(toy):
    return [len((toy.experiment("s", seed=seed) / "trials.csv").read_text().splitlines()) - 1 for seed in range(3)]


def test_the_first_spends_what_there_is_and_a_resume_with_more_goes_on(toy, run):
    code, _, _ = run(*THREE, "--max_cost", "0.05")
    assert code == 4  # two have no result
    assert counts(toy) == [1, 0, 0]  # a second job might cost more than is left
    study = read_study(toy.results / "s")
    assert (study.flags.shares, study.flags.max_cost) == ("first_come", 0.05)
    assert [one.share_usd for one in study.experiments] == [None] * 3
    code, _, err = run("--resume", "s", "--max_cost", "1")
    assert code == 0
    assert counts(toy) == [2, 2, 2]
    shared = shared_budget_of(read_study(toy.results / "s"), toy.results / "s")
    spent = [spent_usd(toy.experiment("s", seed=seed)) for seed in range(3)]
    assert min(spent) > 0
    assert shared.wallet_of(toy.experiment("s", seed=1)).spent_usd == pytest.approx(spent[0] + spent[2])
    code, _, err = run("--resume", "s", "--shares", "equal")
    assert code == 2
    assert "shares equal: it has first_come" in err


def test_what_experiments_of_this_command_do_not_include_was_spent_all_the_same(toy, run):
    run(*WORDS, "--num_seeds", "2", "--experiment_tag", "s", "--max_cost", "0.0500001")
    assert len((toy.experiment("s", seed=0) / "trials.csv").read_text().splitlines()) == 2
    more = (*WORDS, "--num_seeds", "1", "--start_seed", "2", "--experiment_tag", "s", "--max_cost", "0.0500001")
    with contextlib.closing(sqlite3.connect(toy.experiment("s", seed=0) / "journal.sqlite")) as journal, journal:
        journal.execute("UPDATE records SET body = json_set(body, '$.cost_usd', 0.02) WHERE kind = 'settle'")
    _, out, _ = run(*more, "--dry_run")
    assert "worst case of all: $0.030 (nominal prices); nothing was started" in out
    run(*more)
    assert (toy.experiment("s", seed=2) / "trials.csv").read_text().splitlines()[1:] == []


def test_the_worst_case_of_all_is_the_limit_that_they_have_in_common(toy, run):
    _, out, _ = run(*THREE, "--max_cost", "0.25", "--dry_run")
    assert re.findall(r"\$0\.\d+", out) == ["$0.10", "$0.10", "$0.10", "$0.25"]
    text = (toy.folder / "toy.yaml").read_text()
    for name, limit in (("toy", 0.15), ("other", 0.35)):
        made = text.replace("name: toy", f"name: {name}").replace("max_num_trials: 4", f"max_num_trials: 4, max_cost: {limit}")
        (toy.folder / f"{name}.yaml").write_text(made)
    _, out, _ = run("--benchmark", "toy.yaml", "other.yaml", *WORDS[2:], "--num_seeds", "3", "--dry_run")
    assert "worst case of all: $0.45 (nominal prices)" in out  # 0.15 of the one's limit, three times 0.10 of the other


def test_a_second_process_may_not_spend_the_same_money_meanwhile(toy, run):
    with spending(toy.results / "s"):
        code, _, err = run(*THREE, "--max_cost", "1")
        assert code == 2
        assert "results/s is being run by another process" in err
        assert "starts:" not in err
        assert run(*WORDS, "--num_seeds", "2", "--experiment_tag", "free")[0] == 0  # without a limit there is nothing in common
    assert run("--resume", "s")[0] == 0
    assert counts(toy) == [2, 2, 2]
