"""The simulated back-end: the contract, tables from CSV, delays and failures by seed, the virtual clock."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from backends.base import Backend
from backends.events import Accepted, Rejected, Reported, Started
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec, Limits
from backends.simulated.backend import SimulatedBackend
from backends.simulated.job import ending
from backends.simulated.table import CsvTable, Run
from definitions.errors import UserError
from tests.backends.contract import BackendContract, all_closed, closed, collect, of_job

_THREE = tuple((0.1 * k, {"epoch": k, "loss": 1.0 / k}) for k in (1, 2, 3))
_RUNS = {
    "reports3": Run(_THREE, 0.4),
    "fails": Run(_THREE[:1], 0.2, Cause.SCRIPT_ERROR),
    "silent": Run((), 0.1, Cause.NO_METRICS),
    "endless": Run(_THREE[:1], 1e9),
}


class _Kinds:
    def run(self, configuration: Mapping[str, Any], level: float | None, repeat: int) -> Run | None:
        return _RUNS.get(configuration["kind"])


def job(name: str, **changes: Any) -> JobSpec:
    digits = "".join(character for character in name if character.isdigit())
    given: dict[str, Any] = {"name": name, "trial": int(digits or 0), "attempt": 1, "script": "none.py", "limits": Limits(3600.0)}
    return JobSpec(**(given | changes))


class TestSimulatedContract(BackendContract):
    runs_scripts = False

    def make_backend(self, folder: Path) -> Backend:
        return SimulatedBackend(_Kinds(), seed=1, checkpoints=folder / "checkpoints")

    def job(self, kind: str, name: str) -> JobSpec:
        return job(name, configuration={"kind": kind}, checkpoint=name)

    def write_checkpoint(self, backend: Backend, key: str, content: bytes) -> None:
        assert isinstance(backend, SimulatedBackend)
        backend.checkpoints.write(key, reports=1)


class TestSimulatedContractWithDelays(TestSimulatedContract):
    def make_backend(self, folder: Path) -> Backend:
        return SimulatedBackend(_Kinds(), seed=1, start_delay_s=0.05, stop_delay_s=0.2, slots=3, checkpoints=folder / "checkpoints")


def table(tmp_path: Path, text: str, keys: tuple[str, ...] = ("x",)) -> CsvTable:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    return CsvTable(path, keys)


def test_csv_rows_become_runs_by_configuration_level_and_repeat(tmp_path: Path) -> None:
    read = table(
        tmp_path,
        "x,level,repeat,elapsed_s,loss,note,duration_s\n1,0.1,0,1.5,0.5,,4\n1,0.1,0,3,0.25,late,4\n1,0.1,1,1,0.75,,\n1,1.0,0,9,0.1,,\n",
    )
    assert read.run({"x": 1}, 0.1, 0) == Run(((1.5, {"loss": 0.5}), (3.0, {"loss": 0.25, "note": "late"})), 4.0)
    assert read.run({"x": 1.0}, 0.1, 1) == Run(((1.0, {"loss": 0.75}),), 1.0)
    assert read.run({"x": 1}, 0.1, 2) == read.run({"x": 1}, 0.1, 0)
    assert read.run({"x": 1}, 1.0, 0) == Run(((9.0, {"loss": 0.1}),), 9.0)
    assert read.run({"x": 2}, 0.1, 0) is None
    assert read.run({"x": True}, 0.1, 0) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("7.5", 7.5),
        ("1e-3", 0.001),
        ("True", True),
        ("true", True),
        ("False", False),
        ("false", False),
        ("TRUE", "TRUE"),
        ("no", "no"),
    ],
)
def test_cells_are_numbers_truths_or_text(tmp_path: Path, text: str, value: Any) -> None:
    read = table(tmp_path, f"x,elapsed_s,note\n{text},1,{text}\n")
    found = read.run({"x": value}, None, 0)
    assert found is not None
    ((_, metrics),) = found.reports
    assert metrics == {"note": value}
    assert type(metrics["note"]) is type(value)


def test_an_empty_cell_of_a_configuration_is_none(tmp_path: Path) -> None:
    read = table(tmp_path, "x,elapsed_s,loss\n,1,0.5\n")
    assert read.run({"x": None}, None, 0) == Run(((1.0, {"loss": 0.5}),), 1.0)
    assert read.run({"x": ""}, None, 0) is None


def test_attempts_of_a_trial_follow_each_other(tmp_path: Path) -> None:
    rows = "x,trial,attempt,sequence,elapsed_s,epoch\n1,0,1,0,2,1\n1,0,2,0,1,2\n1,0,1,1,4,0\n1,0,2,1,3,3\n"
    read = table(tmp_path, rows)
    assert read.run({"x": 1}, None, 0) == Run(((2.0, {"epoch": 1}), (4.0, {"epoch": 0}), (5.0, {"epoch": 2}), (7.0, {"epoch": 3})), 7.0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no rows"),
        ("x,loss\n1,2\n", "lacks the columns elapsed_s"),
        ("elapsed_s,loss\n1,2\n", "lacks the columns x"),
        ("x,elapsed_s\n1,soon\n", ":2"),
        ("x,elapsed_s,cause\n1,1,\n1,2,bad luck\n", ":3"),
    ],
)
def test_bad_tables_are_refused_with_what_is_wrong(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        table(tmp_path, text)


def test_unknown_configuration_is_rejected_for_good() -> None:
    backend = SimulatedBackend(_Kinds())
    backend.submit(job("a", configuration={"kind": "nowhere"}))
    (event,) = backend.wait(None)
    assert isinstance(event, Rejected)
    assert (event.cause, event.retry_at) == (Cause.BAD_REQUEST, None)


def _starts(seed: int) -> list[float]:
    backend = SimulatedBackend(_Kinds(), seed=seed, start_delay_s=10.0)
    names = [f"j{k}" for k in range(200)]
    for name in names:
        backend.submit(job(name, configuration={"kind": "reports3"}))
    events = collect(backend, all_closed(*names), limit_s=1e4)
    return sorted(event.at for event in events if isinstance(event, Started))


def test_start_delays_have_their_mean_and_their_seed() -> None:
    delays = _starts(7)
    assert _starts(7) == delays
    assert _starts(8) != delays
    assert 8.0 < sum(delays) / len(delays) < 12.0  # standard error of the mean of 200 exponentials: 0.7


def test_failure_rate() -> None:
    backend = SimulatedBackend(_Kinds(), seed=3, failure_rate=0.25)
    names = [f"j{k}" for k in range(400)]
    for name in names:
        backend.submit(job(name, configuration={"kind": "reports3"}))
    events = collect(backend, all_closed(*names), limit_s=1e4)
    failed = [name for name in names if closed(events, name).outcome is Outcome.FAILED]
    assert 70 <= len(failed) <= 130  # 100, within 3.5 standard deviations
    assert {closed(events, name).cause for name in failed} == {Cause.SERVICE_ERROR}


def test_virtual_time_passes_at_once_and_exactly() -> None:
    backend = SimulatedBackend(_Kinds(), start_at=1000.0)
    backend.submit(job("a", configuration={"kind": "endless"}, limits=Limits(86400.0)))
    events = collect(backend, all_closed("a"), limit_s=1e6)
    assert closed(events, "a").cause is Cause.TIME_OUT
    assert closed(events, "a").billable_s == 86400.0
    assert backend.now() == 1000.0 + 86400.0


def test_slots_queue_in_order() -> None:
    backend = SimulatedBackend(_Kinds(), slots=1)
    for name in ("a", "b", "c"):
        backend.submit(job(name, configuration={"kind": "reports3"}))
    events = collect(backend, all_closed("a", "b", "c"))
    assert [(event.job, round(event.at, 6)) for event in events if isinstance(event, Accepted)] == [("a", 0.0), ("b", 0.4), ("c", 0.8)]


def test_stop_of_a_job_that_waits_for_a_slot_is_taken_once() -> None:
    backend = SimulatedBackend(_Kinds(), slots=1, stop_delay_s=0.2)
    for name in ("a", "b"):
        backend.submit(job(name, configuration={"kind": "reports3"}))
    backend.stop("b", Cause.SCHEDULER)
    backend.stop("b", Cause.BUDGET)
    events = collect(backend, all_closed("a", "b"))
    assert [(type(event).__name__, event.at) for event in events if event.job == "b"] == [("Ended", 0.0), ("Closed", 0.0)]
    assert closed(events, "b").cause is Cause.SCHEDULER


def test_reports_of_the_moments_before_a_stop_takes_effect_still_come() -> None:
    backend = SimulatedBackend(_Kinds(), stop_delay_s=0.15)
    backend.submit(job("a", configuration={"kind": "reports3"}))
    backend.stop("a", Cause.SCHEDULER)
    events = collect(backend, all_closed("a"))
    assert [type(event).__name__ for event in events] == ["Accepted", "Started", "Reported", "Ended", "Closed"]
    assert (closed(events, "a").billable_s, closed(events, "a").outcome) == (0.15, Outcome.STOPPED)


def test_restored_job_goes_on_behind_its_checkpoint(tmp_path: Path) -> None:
    backend = SimulatedBackend(_Kinds(), checkpoints=tmp_path)
    backend.submit(job("a", configuration={"kind": "reports3"}, checkpoint="trial-0"))
    events = collect(backend, lambda seen: len(of_job(seen, "a", Reported)) == 2)
    backend.stop("a", Cause.PAUSED)
    collect(backend, all_closed("a"), into=events)
    again = SimulatedBackend(_Kinds(), checkpoints=tmp_path)
    assert again.checkpoints.exists("trial-0")
    again.submit(job("b", configuration={"kind": "reports3"}, checkpoint="trial-0", restore_from="trial-0"))
    events = collect(again, all_closed("b"))
    assert [event.metrics["epoch"] for event in of_job(events, "b", Reported)] == [3]
    assert closed(events, "b").billable_s == pytest.approx(0.2)


def test_a_place_is_free_again_after_each_end() -> None:
    backend = SimulatedBackend(_Kinds(), seed=1, slots=1)
    for name in ("j1", "j2", "j3"):
        backend.submit(job(name, configuration={"kind": "reports3"}))
        assert closed(collect(backend, all_closed(name)), name).outcome is Outcome.COMPLETED


def test_a_job_that_was_stopped_while_it_waited_holds_no_place_afterwards() -> None:
    backend = SimulatedBackend(_Kinds(), seed=1, slots=1)
    for name, kind in (("j1", "endless"), ("j2", "reports3")):
        backend.submit(job(name, configuration={"kind": kind}))
    for name in ("j2", "j1"):
        backend.stop(name, Cause.SCHEDULER)
        assert closed(collect(backend, all_closed(name)), name).outcome is Outcome.STOPPED
    for name in ("j3", "j4"):
        backend.submit(job(name, configuration={"kind": "reports3"}))
    events = collect(backend, all_closed("j3", "j4"))
    (started,) = of_job(events, "j4", Started)
    # There is one place, so the second one waits for the end of the first.
    assert started.at >= closed(events, "j3").ended_at


def test_a_job_that_was_stopped_in_the_queue_leaves_no_checkpoint(tmp_path: Path) -> None:
    backend = SimulatedBackend(_Kinds(), slots=1, checkpoints=tmp_path)
    for name in ("job-1", "job-2"):
        backend.submit(job(name, configuration={"kind": "reports3"}, checkpoint=name))
    backend.stop("job-2", Cause.BUDGET)
    events = collect(backend, all_closed("job-1", "job-2"))
    assert closed(events, "job-2").outcome is Outcome.STOPPED
    assert not backend.checkpoints.exists("job-2")


@pytest.mark.parametrize(("started_at", "ended_at", "billable_s"), [(None, None, 0.0), (2.0, 5.0, 3.0)])
def test_a_job_costs_from_its_start_and_nothing_where_it_never_started(started_at, ended_at, billable_s):
    *_, last = ending("j", 5.0, started_at, Outcome.STOPPED, None, "")
    assert (last.started_at, last.ended_at, last.billable_s) == (started_at, ended_at, billable_s)


@pytest.mark.parametrize(("delay_s", "outcome"), [(0.4, Outcome.COMPLETED), (0.39, Outcome.STOPPED)])
def test_a_job_that_is_over_when_a_stop_takes_effect_was_completed(delay_s: float, outcome: Outcome) -> None:
    backend = SimulatedBackend(_Kinds(), stop_delay_s=delay_s)
    backend.submit(job("a", configuration={"kind": "reports3"}))
    backend.stop("a", Cause.SCHEDULER)
    assert closed(collect(backend, all_closed("a")), "a").outcome is outcome
