"""reports.csv: a row for each report."""

import csv

import pytest

from backends.simulated.table import CsvTable
from benchmarking.export.reports_csv import write_reports
from definitions.schema import Budget, PerJob
from tests.benchmarking.experiments import FakeJobs, FakeTable, definition
from tests.benchmarking.export.exported import PROGRESSIVE, rows_of, run


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
