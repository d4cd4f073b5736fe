"""`--warm_start`: a method begins with what finished runs measured."""

from __future__ import annotations

import csv
import json
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
    assert "is left out: its configurations have keys that are none here (x)" in err
    code, _, err = run(*words[:2], "--experiment_tag", "random", *words[4:], "--method", "RS")
    assert code == 0
    assert "warm start: RS makes no use of earlier results" in err
    assert run(*words[:-1], "gone")[0] == 2


def test_asha_knows_at_its_rungs_what_a_definition_names_and_a_resume_needs_the_old_run_no_more(toy, run):
    fidelity = "{kind: progressive, argument: epochs, reported_as: epoch, full: 9}"
    toy.define(fidelity=fidelity, space="{x: {finrange: [0.2, 0.4, 12]}}")
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "old", "--max_num_trials", "12")[0] == 0
    text = (toy.folder / "toy.py").read_text(encoding="utf-8").replace("given =", "parser.add_argument('--depth')\ngiven =")
    (toy.folder / "other.py").write_text(text, encoding="utf-8")
    new = {"fidelity": fidelity, "script": "other.py", "warm_start": "[old]"}
    toy.define(**new, space="{x: {uniform: [0.5, 1]}, depth: 1}")
    words = ("--benchmark", "toy.yaml", "--method", "ASHA", "--n_workers", "1", "--experiment_tag", "new")
    code, out, err = run(*words, "--dry_run")
    assert code == 0, err
    assert "warm start: 0 of 12 measurements of results/old/toy/RS-local-0; 12 left out: x lies outside of its domain" in out
    toy.define(**new, space="{x: {uniform: [0, 1]}, depth: 1}")
    assert "warm start: 12 measurements of results/old/toy/RS-local-0\n" in run(*words, "--max_num_trials", "1")[2]
    folder = toy.experiment("new", "ASHA")
    assert json.loads((folder / "experiment.json").read_text(encoding="utf-8"))["warm_start"] == ["old"]
    shutil.rmtree(toy.results / "old")
    code, _, err = run("--resume", "new", "--max_num_trials", "6")
    assert code == 0
    assert "warm start" not in err
    with (folder / "trials.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    # Without the twelve of old around the optimum the first to come would have gone on to the end, whatever it is.
    far = [row["status"] for row in rows if abs(float(row["x"]) - 0.3) > 0.1]
    assert far == ["stopped"] * len(far) != []
