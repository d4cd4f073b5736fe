"""A controller's log says how its study stands, once for each change, and the service finds the values in it."""

from __future__ import annotations

import contextlib
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.remote.console import STUDY_MARK
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord, as_json
from launch.remote.console import StudyConsole
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.tracking.told import prepared, run_into, spec_of
from tests.launch.remote.launch_lab import LaunchLab


def words(line: str) -> dict[str, float]:
    return {name: float(value) for name, value in (word.split("=") for word in line.removeprefix(STUDY_MARK).split())}


def test_each_change_is_written_once_and_earlier_lives_are_counted_too(tmp_path):
    said: list[str] = []
    threads: list[threading.Thread] = []
    console = StudyConsole(said.append, threads.append)
    spec, rows = spec_of(tmp_path), MemoryJournal()
    run_into(rows, spec)
    folder, records = prepared(spec), [*rows.records()]
    tag_folder = folder.parent.parent
    console.look()  # nothing is followed yet
    console.follow(tag_folder)
    console.look()  # nothing has begun
    assert said == []
    planned = PlannedExperiment(spec.definition.name, spec.method, spec.number, spec.seed, spec.hash, hears_levels=False, repeats=1)
    (tag_folder / "study.json").write_text(as_json(StudyRecord(StudyFlags(backend="local"), {}, (planned,))), encoding="utf-8")
    done = []
    for first in range(0, len(records), 4):
        with contextlib.closing(SqliteJournal(folder / "journal.sqlite")) as journal:
            for record in records[first : first + 4]:
                journal.append(record.at, record.kind, record.body)
        console.look()
        console.look()
        done.append(words(said[-1])["trials_done"])
    assert all(one != two for one, two in pairwise(said))
    assert done == sorted(done)
    last = words(said[-1])
    assert (last["trials_done"], last["trials_running"], "best_hp_x" in last) == (3.0, 0.0, True)
    # The next life reads the same anew, and has nothing new to say.
    console.follow(tag_folder)
    console.look()
    assert words(said[-1]) == last
    assert all(one != two for one, two in pairwise(said))
    assert len(threads) == 1


def test_what_cannot_be_read_ends_nothing(tmp_path, caplog):
    console = StudyConsole([].append, lambda thread: None)
    folder = prepared(spec_of(tmp_path))
    (folder / "journal.sqlite").write_text("no journal", encoding="utf-8")
    console.follow(folder.parent.parent)
    console.look()
    (folder.parent.parent / "study.json").write_text("{", encoding="utf-8")
    console.look()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_service_shows_the_best_trial_and_what_was_spent(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        (job,) = lab.launch("study", methods=("RS",), parallel=2)
        lab.await_end()
        found = lab.described(job)
        shown: dict[str, Any] = {one["MetricName"]: one["Value"] for one in found["FinalMetricDataList"]}
        finished = lab.finished("study")
        reports = lab.last_reports("study")
        log = lab.log(job)
    assert shown["best_metric_value"] == pytest.approx(min(one["loss"] for one in reports), rel=1e-9)
    assert (shown["trials_done"], shown["trials_running"]) == (6.0, 0.0)
    assert shown["spent_usd"] == pytest.approx(finished.spent_usd, rel=1e-6)
    assert set(shown) == {
        *("best_metric_value", "best_trial_id", "best_experiment", "best_hp_x", "trials_done", "trials_running", "spent_usd")
    }
    assert [one["Name"] for one in found["AlgorithmSpecification"]["MetricDefinitions"]][:3] == [
        "trials_done",
        "trials_running",
        "spent_usd",
    ]
    assert 1 <= sum(STUDY_MARK in line for line in log.splitlines()) <= 20


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_trials_inside_a_controller_add_nothing_of_their_own_and_it_can_be_turned_off(tmp_path: Path) -> None:
    with LaunchLab(tmp_path) as lab:
        script = lab.definition.with_name("run.py")
        loud = script.read_text(encoding="utf-8").replace("report(step", "print('[outrider-study]: best_metric_value=-5')\n    report(step")
        script.write_text(loud, encoding="utf-8")
        (job,) = lab.launch("study", methods=("RS",), seeds=1, backend="local", parallel=1)
        (quiet,) = {*lab.launch("quiet", "--no-remote_tuning_metrics", methods=("RS",), seeds=1, backend="local", parallel=1)} - {job}
        lab.await_end()
        shown = {one["MetricName"]: one["Value"] for one in lab.described(job)["FinalMetricDataList"]}
        assert shown["best_metric_value"] > 0.0
        assert shown["trials_done"] == 3.0
        assert "MetricDefinitions" not in lab.described(quiet)["AlgorithmSpecification"]
        assert STUDY_MARK not in lab.log(quiet)
