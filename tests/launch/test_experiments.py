"""What a command runs of a study, in which order, and what ends it."""

from __future__ import annotations

import dataclasses
import json

import pytest

import launch.experiments as experiments
import launch.one_experiment as module
from benchmarking.archive import folder
from benchmarking.archive.folder_lock import locked
from benchmarking.archive.stored import load
from benchmarking.controller.ending import Reason
from definitions.errors import EXIT_FAULT, EXIT_USAGE, UserError
from launch.experiments import execute, resume_command
from launch.planning import plan
from launch.request import RunRequest
from tests.launch.simulated_study import make, planned, progress, request_for, resume_for


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    # What it ran on is another test's; it asks git.
    monkeypatch.setattr(folder, "describe_environment", lambda *about: {})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUTRIDER_LEASES", str(tmp_path / "leases"))
    monkeypatch.delenv("OUTRIDER_RESULTS", raising=False)


def keys(outcomes):
    return [(one.spec.method, one.spec.number) for one in outcomes]


def run(where, request=None):
    follows, said = progress()
    request = request or resume_for(where)
    return execute(plan(request), request, follows), said.getvalue()


def test_study_json_is_there_before_the_first_folder_and_all_run_in_its_order(tmp_path, monkeypatch):
    found = planned(tmp_path)
    seen = []
    real = module.run_experiment

    def watched(spec, surroundings):
        seen.append(((tmp_path / "results/s/study.json").is_file(), [*(tmp_path / "results/s").glob("job/*")]))
        return real(spec, surroundings)

    monkeypatch.setattr(module, "run_experiment", watched)
    outcomes = execute(found, request_for(tmp_path), progress()[0])
    assert [is_there for is_there, _ in seen] == [True] * 4
    assert seen[0][1] == []
    order = json.loads((tmp_path / "results/s/study.json").read_text())["experiments"]
    assert keys(outcomes) == [(one["method"], one["number"]) for one in sorted(order, key=lambda one: one["order"])]
    assert {one.reason for one in outcomes} == {Reason.TRIALS}
    assert len(json.loads((tmp_path / "results/s/collated_results.json").read_text())["experiments"]) == 4


def test_a_resume_runs_what_never_began_and_nothing_that_is_over(tmp_path):
    make(tmp_path)
    run(tmp_path, request_for(tmp_path, num_seeds=1))
    outcomes, said = run(tmp_path, resume_for(tmp_path, num_seeds=2))
    assert [(one.spec.number, one.has_run) for one in outcomes] == [(0, False), (0, False), (1, True), (1, True)]
    assert [line[:8] for line in said.splitlines() if line.startswith("[")] == ["[3 of 4]", "[4 of 4]"]


@pytest.mark.parametrize(
    ("error", "reason", "code"),
    [(UserError("it is refused"), "refused", EXIT_USAGE), (ZeroDivisionError("a fault of ours"), "fault", EXIT_FAULT)],
)
def test_one_that_goes_wrong_does_not_end_the_others_and_leaves_nothing(tmp_path, monkeypatch, error, reason, code):
    real = module.run_experiment

    def fails(spec, surroundings):
        if (spec.method, spec.number) == ("GRID", 0):
            raise error
        return real(spec, surroundings)

    monkeypatch.setattr(module, "run_experiment", fails)
    make(tmp_path)
    outcomes, said = run(tmp_path, request_for(tmp_path))
    (wrong,) = [one for one in outcomes if one.reason != Reason.TRIALS]
    assert ((wrong.spec.method, wrong.spec.number), wrong.reason, wrong.exit_code) == (("GRID", 0), reason, code)
    assert len([*(tmp_path / "results/s").glob("job/*/trials.csv")]) == 3
    assert f"job x GRID x seed 0 on simulated: {reason}: " in said
    assert not wrong.spec.folder.exists()


def test_where_nothing_of_a_new_study_could_begin_nothing_is_left(tmp_path, monkeypatch):
    def refuses(spec, surroundings):
        raise UserError("it is refused")

    monkeypatch.setattr(module, "run_experiment", refuses)
    make(tmp_path)
    outcomes, _ = run(tmp_path, request_for(tmp_path))
    assert [one.reason for one in outcomes] == ["refused"] * 4
    assert not (tmp_path / "results/s/study.json").exists()


def test_an_interrupt_ends_the_study_where_it_is(tmp_path, monkeypatch):
    make(tmp_path)

    def stops_at_once(spec, surroundings):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "run_experiment", stops_at_once)
    follows, said = progress()
    request = request_for(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        execute(plan(request), request, follows)
    assert "stopped at once; resume with: " in said.getvalue()
    assert (tmp_path / "results/s/study.json").is_file()


def test_a_controller_in_a_job_says_no_line_that_would_go_on_from_its_folder(tmp_path, monkeypatch):
    make(tmp_path)
    monkeypatch.setattr(experiments, "_execute_study", lambda *words: (_ for _ in ()).throw(KeyboardInterrupt))
    follows, said = progress()
    request = request_for(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        execute(plan(request), dataclasses.replace(request, launched_remotely="s3://b/runs/s"), follows)
    assert "stopped at once" in said.getvalue()
    assert "resume with" not in said.getvalue()


def test_what_another_process_runs_is_passed_over_and_what_it_left_is_taken(tmp_path):
    make(tmp_path)
    run(tmp_path, request_for(tmp_path, num_seeds=1))
    request = resume_for(tmp_path, num_seeds=2)
    found = plan(request)
    held = found.specs[2]
    with locked(held.folder):
        outcomes = execute(found, request, progress()[0])
    assert [one.reason for one in outcomes] == [Reason.TRIALS, Reason.TRIALS, "in use", Reason.TRIALS]
    assert {one.reason for one in run(tmp_path)[0]} == {Reason.TRIALS}


def test_a_study_of_which_another_command_wrote_meanwhile_is_laid_over_what_there_is_now(tmp_path):
    make(tmp_path)
    run(tmp_path, request_for(tmp_path, num_seeds=1))
    request = resume_for(tmp_path, num_seeds=3)
    before = plan(request)
    run(tmp_path, resume_for(tmp_path, num_seeds=2))
    outcomes = execute(before, request, progress()[0])
    assert sum(one.has_run for one in outcomes) == 2
    assert len(json.loads((tmp_path / "results/s/study.json").read_text())["experiments"]) == 6


def test_a_single_experiment_that_is_refused_raises_and_leaves_nothing(tmp_path, monkeypatch):
    def refuses(spec, surroundings):
        raise UserError("it is refused")

    monkeypatch.setattr(module, "run_experiment", refuses)
    make(tmp_path)
    with pytest.raises(UserError, match="it is refused"):
        run(tmp_path, request_for(tmp_path, method=("RS",), num_seeds=1))
    assert not (tmp_path / "results").exists()


def test_code_that_changed_is_said_before_anything_goes_on_also_where_the_first_journal_is_damaged(tmp_path):
    make(tmp_path)
    (tmp_path / "job.py").write_text("print(1)\n")
    outcomes, _ = run(tmp_path, request_for(tmp_path))
    assert all(load(one.spec.folder).is_started for one in outcomes)
    request = resume_for(tmp_path, settings=("max_num_trials=4",))
    (outcomes[0].spec.folder / "journal.sqlite").write_bytes(b"no journal")
    (outcomes[0].spec.folder / "trials.csv").unlink()
    again, _ = run(tmp_path, request)
    assert [one.reason for one in again].count("refused") == 1
    assert sum(one.has_run for one in again) == 3


def test_the_command_that_goes_on_names_the_folder_where_it_is_not_the_usual_one(tmp_path):
    assert resume_command("s", RunRequest()).endswith("--resume s")
    assert resume_command("s", RunRequest(results_dir=tmp_path)).endswith(f"--resume s --results_dir {tmp_path}")
