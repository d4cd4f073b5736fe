import csv
import math

import pytest

from backends.failures import Cause
from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import CsvTable
from benchmarking.controller.journal import SqliteJournal
from benchmarking.export import write_reports, write_trials
from benchmarking.export.files import cell, utc, write_csv
from benchmarking.export.trials_csv import trials_header
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.schema import Budget, PerJob, Progressive
from tests.benchmarking.experiments import FakeJobs, FakeTable, MemoryJournal, definition, tuner

PROGRESSIVE = Progressive(kind="progressive", argument="epochs", reported_as="epoch", full=3)


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(benchmark, **options):
    journal = options.pop("journal", None) or MemoryJournal()
    loop = tuner(benchmark, journal, **options)
    loop.run()
    return loop.state, journal


def test_the_columns_of_trials_csv_are_the_contract():
    benchmark = definition(
        space={"x": {"choice": [1]}, "instance_type": {"choice": ["a"]}}, objectives={"loss": "min", "cost_usd": "min", "acc": "max"}
    )
    assert trials_header(benchmark)[:17] == [
        "trial",
        "x",
        "instance_type",
        "fidelity",
        "repeat",
        "attempts",
        "status",
        "cause",
        "started_at",
        "ended_at",
        "duration_s",
        "cost_usd",
        "last_loss",
        "last_acc",
        "best_loss",
        "best_acc",
        "configuration_id",
    ]


def test_each_column_is_there_once_whatever_the_objectives():
    for objectives in ({"cost_usd": "min"}, {"billable_s": "min", "duration_s": "min", "loss": "min"}):
        header = trials_header(definition(objectives=objectives))
        assert len(header) == len(set(header))
        assert set(objectives) <= {*header, *(name.removeprefix("last_") for name in header)}


def test_trials_csv_row_by_row(tmp_path):
    benchmark = definition(space={"x": {"choice": [0, 1, 2]}}, repeats=2, fidelity=PROGRESSIVE)
    backend = SimulatedBackend(FakeTable(fails={1: Cause.OUT_OF_MEMORY}), start_at=1795817069.123)
    state, _ = run(benchmark, method="GRID", backend=backend, n_workers=1)
    write_trials(tmp_path / "trials.csv", benchmark, state)
    rows = rows_of(tmp_path / "trials.csv")
    assert list(rows[0]) == trials_header(benchmark)
    assert [(row["trial"], row["x"], row["repeat"]) for row in rows] == [
        ("0", "0", "0"), ("1", "0", "1"), ("2", "1", "0"), ("3", "1", "1"), ("4", "2", "0"), ("5", "2", "1"),
    ]  # fmt: skip
    first, failed = rows[0], rows[2]
    assert (first["fidelity"], first["attempts"], first["status"], first["cause"]) == ("3", "1", "completed", "")
    assert (first["started_at"], first["ended_at"]) == ("2026-11-27T22:04:29.123Z", "2026-11-27T22:04:32.373Z")
    assert float(first["duration_s"]) == pytest.approx(3.25, abs=1e-6)
    assert float(first["cost_usd"]) == pytest.approx(3.25 / 3600 * 3.6, abs=1e-9)
    assert (float(first["last_loss"]), float(first["best_loss"])) == (1 / 3, 1 / 3)
    assert first["configuration_id"] == configuration_id({"x": 0})
    assert (failed["status"], failed["cause"]) == ("infeasible", "out_of_memory")
    assert failed["message"] == "the measured run ended with out_of_memory"


def test_unknown_prices_are_empty_cells(tmp_path):
    benchmark = definition(budget=Budget(max_num_trials=1))
    state, _ = run(benchmark, jobs=FakeJobs(usd_per_hour=None))
    write_trials(tmp_path / "trials.csv", benchmark, state)
    assert rows_of(tmp_path / "trials.csv")[0]["cost_usd"] == ""


def test_reports_csv_has_one_row_a_report(tmp_path):
    benchmark = definition(budget=Budget(max_num_trials=2))
    state, journal = run(benchmark)
    write_reports(tmp_path / "reports.csv", benchmark, state, journal)
    rows = rows_of(tmp_path / "reports.csv")
    assert len(rows) == 6
    assert list(rows[0]) == [
        "trial", "repeat", "job", "attempt", "incarnation", "sequence", "at", "elapsed_s", "after_stop", "x", "alien", "epoch", "loss",
    ]  # fmt: skip
    first = rows[0]
    assert (first["job"], first["sequence"], first["at"], first["elapsed_s"]) == ("job-t0-a1", "0", "1970-01-01T00:00:01.000Z", "1.0")
    assert {row["after_stop"] for row in rows} == {"false"}
    assert first["x"] == str(state.trials[0].configuration["x"])


def test_reports_after_the_stop_are_marked(tmp_path):
    benchmark = definition(budget=Budget(max_wallclock_time=1.5))
    state, journal = run(benchmark, n_workers=1, stop_delay_s=1.0)
    write_reports(tmp_path / "reports.csv", benchmark, state, journal)
    assert [(row["epoch"], row["after_stop"]) for row in rows_of(tmp_path / "reports.csv")] == [("1", "false"), ("2", "true")]


class WideTable(FakeTable):
    """Reports metrics that are named like columns."""

    def run(self, configuration, level, repeat):
        made = super().run(configuration, level, repeat)
        named = {"x": -1.5, "metric_x": -2.5, "trial": "t", "level": 7, "elapsed_s": 0.125}
        return type(made)([(at, {**metrics, **named}) for at, metrics in made.reports], made.duration_s, made.cause)


def test_metrics_named_like_columns_get_columns_of_their_own(tmp_path):
    benchmark = definition(budget=Budget(max_num_trials=1))
    state, journal = run(benchmark, table=WideTable())
    write_reports(tmp_path / "reports.csv", benchmark, state, journal)
    with (tmp_path / "reports.csv").open(newline="") as file:
        header = next(csv.reader(file))
    assert len(header) == len(set(header))
    row = rows_of(tmp_path / "reports.csv")[0]
    assert (row["trial"], row["x"], row["elapsed_s"]) == ("0", str(state.trials[0].configuration["x"]), "1.0")
    assert (row["metric_trial"], row["metric_level"], row["metric_elapsed_s"]) == ("t", "7", "0.125")
    assert {row["metric_x"], row["metric_metric_x"]} == {"-1.5", "-2.5"}
    replayed = CsvTable(tmp_path / "reports.csv", ("x",)).run(state.trials[0].configuration, None, 0)
    assert replayed.reports[0][1]["loss"] == 1.0 + state.trials[0].configuration["x"] * 0.01


@pytest.mark.parametrize("fidelity", [None, PROGRESSIVE, PerJob(kind="per_job", argument="fraction", ladder=(0.5,))])
def test_reports_csv_is_a_table_that_replays_to_the_same_values(tmp_path, fidelity):
    space = {"x": {"choice": [0, 3, 4]}, "flag": {"choice": [True, False]}, "u": {"choice": [0.1, 1e-20]}}
    benchmark = definition(space=space, fidelity=fidelity, repeats=2, objectives={"loss": "min"})

    class LevelJobs(FakeJobs):
        def build(self, trial, attempt, spec, restore_from):
            made = super().build(trial, attempt, spec, restore_from)
            level = fidelity.full if isinstance(fidelity, PerJob) else None
            return type(made)(**{**{name: getattr(made, name) for name in made.__dataclass_fields__}, "level": level})

    first, journal = run(benchmark, method="GRID", jobs=LevelJobs())
    write_reports(tmp_path / "reports.csv", benchmark, first, journal)
    table = CsvTable(tmp_path / "reports.csv", benchmark.configuration_keys)
    again, _ = run(benchmark, method="GRID", jobs=LevelJobs(), table=table)
    assert len(again.trials) == 24

    def values(state):
        return {(repr(t.configuration), t.repeat): (t.status, t.last, t.best, t.reports) for t in state.trials.values()}

    assert values(again) == values(first)


def test_the_same_files_come_from_a_journal_on_disk(tmp_path):
    benchmark = definition(budget=Budget(max_num_trials=3))
    stored = SqliteJournal(tmp_path / "journal.sqlite")
    state, _ = run(benchmark, journal=stored)
    write_reports(tmp_path / "stored.csv", benchmark, state, stored)
    memory_state, memory = run(benchmark)
    write_reports(tmp_path / "memory.csv", benchmark, memory_state, memory)
    stored.close()
    assert (tmp_path / "stored.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0.1, "0.1"),
        (1e-20, "1e-20"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        (True, "True"),
        (10**30, "1" + "0" * 30),
        ({"b": [1, None], "a": math.nan}, '{"a":{"$float":"nan"},"b":[1,null]}'),
        ("10%|#\r20%|##\r\nend", "10%|#\n20%|##\nend"),
    ],
)
def test_cells(value, text):
    assert cell(value) == text


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", 'quote " and, comma', "half \ud800", "nul \x00", "ünï", "\n"])
def test_any_text_leaves_the_rows_whole(tmp_path, text):
    write_csv(tmp_path / "t.csv", ["a", "b"], [[text, 1], ["next", 2]])
    rows = rows_of(tmp_path / "t.csv")
    assert [row["b"] for row in rows] == ["1", "2"]


def test_times_are_iso_8601_in_utc():
    assert utc(1795817069.123) == "2026-11-27T22:04:29.123Z"
    assert utc(0.0) == "1970-01-01T00:00:00.000Z"
    assert utc(None) is None


def test_a_write_that_fails_midway_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "t.csv"
    write_csv(path, ["a"], [[1]])

    def rows(error):
        yield [2]
        raise error

    with pytest.raises(UserError, match=r"cannot write .*t\.csv[\s\S]*No space left[\s\S]*--results_dir"):
        write_csv(path, ["a"], rows(OSError(28, "No space left on device")))
    with pytest.raises(KeyError):
        write_csv(path, ["a"], rows(KeyError("a fault of ours")))
    assert path.read_text() == "a\n1\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_retried_trial_has_both_attempts_in_reports_csv(tmp_path):
    benchmark = definition(budget=Budget(max_num_trials=4))
    state, journal = run(benchmark, failure_rate=0.5, seed=3, n_workers=4)
    retried = [trial for trial in state.trials.values() if trial.submissions > 1]
    assert retried
    write_reports(tmp_path / "reports.csv", benchmark, state, journal)
    rows = rows_of(tmp_path / "reports.csv")
    assert len(rows) == state.reports
    possible = {(str(trial.trial), str(attempt)) for trial in state.trials.values() for attempt in range(1, trial.submissions + 1)}
    assert {(row["trial"], row["attempt"]) for row in rows} <= possible
    assert {row["job"] for row in rows if row["attempt"] == "2"} <= {f"job-t{trial.trial}-a2" for trial in retried}
