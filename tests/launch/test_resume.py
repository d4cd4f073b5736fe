"""A tag that goes on: what is asked for again, more of a budget, and what is said of how to."""

from __future__ import annotations

import re
import sqlite3

import pytest

from tests.launch.conftest import rows


@pytest.mark.slow
def test_same_tag_goes_on_if_it_is_the_same_and_is_refused_if_not(toy, run):
    run("--benchmark", "toy.yaml", "--experiment_tag", "t")
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "t")
    assert (code, err.count("starts:")) == (0, 0)
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "t", "--max_num_trials", "6")
    assert (code, err.count("starts:")) == (0, 2)
    before = (toy.experiment("t") / "trials.csv").read_text()
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "t", "--set", "seconds=0.01")
    assert code == 2
    assert "another definition" in err
    assert (toy.experiment("t") / "trials.csv").read_text() == before


@pytest.mark.slow
def test_resume_needs_only_the_tag(toy, run):
    run("--benchmark", "toy.yaml", "--experiment_tag", "t", "--num_seeds", "2")
    (toy.folder / "toy.yaml").unlink()
    code, _, err = run("--resume", "t", "--max_num_trials", "5")
    assert (code, err.count("starts:")) == (0, 2)


@pytest.mark.slow
def test_an_end_by_time_says_what_was_used_and_the_printed_line_goes_on(toy, run):
    words = ("--benchmark", "toy.yaml", "--experiment_tag", "b", "--set", "arguments.seconds=1.5", "max_num_trials=3", "--n_workers", "1")
    code, out, err = run(*words, "--max_wallclock_time", "5")
    assert code == 0
    assert re.search(r"^Ended by its budget: .* \(max_wallclock_time = 5 s, \d\.\d s used\)\.$", out, re.M)
    assert re.search(r"interrupted .* \(budget_spent: max_wallclock_time = 5 s, \d\.\d s used\)$", err, re.M)
    (line,) = re.findall(r"^resume with more: outrider run (.*)$", err, re.M)
    assert line == "--resume b --max_wallclock_time 10"
    code, _, err = run(*line.split()[:-1], "60")
    assert code == 0
    assert [row["status"] for row in rows(toy.experiment("b") / "trials.csv")] == ["completed"] * 3


@pytest.mark.slow
def test_too_many_failures_name_the_budget_and_how_to_go_on(toy, run):
    words = (
        "--benchmark",
        "toy.yaml",
        "--experiment_tag",
        "f",
        "--set",
        "arguments.fail_above=0.5",
        "space.x={choice: [0.1, 0.6, 0.7, 0.8]}",
    )
    code, out, err = run(*words, "--method", "GRID", "--max_failures", "1", "--n_workers", "1")
    assert code == 3
    assert "(max_failures = 1, 2 trials failed)" in out
    assert err.rstrip().endswith("or go on in spite of the failures with: outrider run --resume f --max_failures 3")


def an_hour_goes_by(experiment):
    """Let all that the journal says have been an hour earlier."""
    database = sqlite3.connect(experiment / "journal.sqlite")
    with database:
        database.execute("UPDATE records SET at = at - 3600")
        database.execute("UPDATE sessions SET last_at = last_at - 3600, started_at = started_at - 3600")
    database.close()


@pytest.mark.slow
def test_pauses_between_sessions_do_not_count_twice(toy, run):
    words = ("--benchmark", "toy.yaml", "--experiment_tag", "n", "--max_num_trials")
    run(*words, "1")
    an_hour_goes_by(toy.experiment("n"))
    run(*words, "1")  # starts nothing
    an_hour_goes_by(toy.experiment("n"))
    _, _, err = run(*words, "2")
    (elapsed,) = re.findall(r"\[ *(-?[\d.]+) s\] trial 1 starts", err)
    assert 0.0 <= float(elapsed) < 600.0


@pytest.mark.slow
def test_an_experiment_that_began_without_gpus_goes_on_without_and_a_new_one_gets_one(toy, run, monkeypatch):
    code, _, _ = run("--benchmark", "toy.yaml", "--experiment_tag", "before")
    assert code == 0
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "before", "--max_num_trials", "5")
    assert code == 0
    assert "1 GPU is here, trials ask for none" in err
    code, _, err = run("--benchmark", "toy.yaml", "--experiment_tag", "after")
    assert code == 0
    assert "each trial gets 1 of 1 GPUs" in err
    assert "cpu.1gpu" in (toy.experiment("after") / "definition.yaml").read_text(encoding="utf-8")
    code, _, err = run("--resume", "after", "--max_num_trials", "5")
    assert code == 0
    assert "each trial gets 1 of 1 GPUs" in err
