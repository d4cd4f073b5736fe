"""`--warm_start`: a method begins with what finished runs measured."""

from __future__ import annotations

import csv
import shutil

import pytest

pytestmark = pytest.mark.slow


def points(path):
    with (path / "trials.csv").open(encoding="utf-8", newline="") as file:
        return [float(row["x"]) for row in csv.DictReader(file)]


def test_the_first_proposal_is_near_the_old_optimum_and_resume_needs_the_old_run_no_more(toy, run):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "old", "--max_num_trials", "12")[0] == 0
    words = ("--benchmark", "toy.yaml", "--method", "BO", "--n_workers", "1", "--warm_start", "old")
    code, _, err = run(*words, "--experiment_tag", "whole", "--max_num_trials", "4")
    assert code == 0
    assert "warm start: 12 measurements of results/old/toy/RS-local-0" in err
    whole = points(toy.experiment("whole", "BO"))
    assert abs(whole[0] - 0.3) < 0.1
    assert run(*words, "--experiment_tag", "parts", "--max_num_trials", "2")[0] == 0
    shutil.rmtree(toy.results / "old")
    assert run("--resume", "parts", "--max_num_trials", "4")[0] == 0
    assert points(toy.experiment("parts", "BO")) == whole


def test_what_does_not_overlap_is_left_out_with_the_reason(toy, run):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "old", "--max_num_trials", "1")[0] == 0
    toy.define(space="{z: {uniform: [0, 1]}}", script="other.py")
    (toy.folder / "other.py").write_text((toy.folder / "toy.py").read_text().replace('"--x"', '"--z", dest="x"'))
    words = ("--benchmark", "toy.yaml", "--experiment_tag", "new", "--max_num_trials", "1", "--warm_start", "old")
    code, _, err = run(*words, "--method", "BO")
    assert code == 0
    assert "is left out: its configurations have other keys (x)" in err
    code, _, err = run(*words, "--method", "RS")
    assert code == 2
    assert "it makes no use of earlier results" in err
