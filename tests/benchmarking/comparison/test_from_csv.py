"""A run read from trials.csv alone, by rows that can be worked out."""

from __future__ import annotations

import pytest

from benchmarking.archive.stored import load
from benchmarking.comparison.from_csv import run_from_csv
from benchmarking.comparison.runs import Axis
from tests.benchmarking.archive.stored_folders import copied

HEAD = "trial,x,fidelity,repeat,status,started_at,ended_at,cost_usd,last_loss,configuration_id"


def row(trial, x, repeat, status, began, ended, cost="0.5", loss="1.0", level="1.0"):
    times = [f"1970-01-01T00:00:{second:02d}.000Z" if second != "" else "" for second in (began, ended)]
    return f"{trial},{x},{level},{repeat},{status},{times[0]},{times[1]},{cost},{loss},c{x}"


@pytest.fixture
def read(tmp_path):
    """The run that some rows make, of a definition with two repeats."""

    def of(*rows, head=HEAD):
        folder = tmp_path / "results"
        folder = copied(tmp_path, "repeated") if not folder.exists() else next(folder.rglob("experiment.json")).parent
        if rows:
            (folder / "trials.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
        return run_from_csv(load(folder), {"dollars": "nominal"})

    return of


def test_repeats_are_one_result_at_the_end_of_the_last(read):
    found = read(
        row(0, 1, 0, "completed", 10, 14, loss="1.0"),
        row(1, 2, 0, "failed", 10, 12, loss=""),
        row(2, 1, 1, "completed", 14, 19, loss="2.0"),
        row(3, 3, 0, "running", 19, "", cost="0.0"),
    )
    # In the order in which they ended: the failure is a trial, whose dollars and seconds count.
    (one,) = found.measurements
    assert (one.configuration, one.values, one.wallclock, one.trials, one.cost, one.full) == ({"x": 1}, {"loss": 1.5}, 9.0, 3.0, 1.5, True)
    assert found.ends == {Axis.WALLCLOCK: 9.0, Axis.TRIALS: 3.0, Axis.COST: 1.5}
    assert [(trial.configuration, trial.repeat, trial.values) for trial in found.trials] == [
        ({"x": 1}, 0, {"loss": 1.0}),
        ({"x": 1}, 1, {"loss": 2.0}),
    ]
    assert (found.ended, found.facts["dollars"]) == ("", "nominal")


def test_an_unknown_price_makes_all_dollars_from_there_on_unknown(read):
    found = read(
        row(0, 1, 0, "completed", 10, 11), row(1, 1, 1, "completed", 11, 12),
        row(2, 2, 0, "stopped", 12, 13, cost=""), row(3, 3, 0, "completed", 13, 14), row(4, 3, 1, "completed", 14, 15),
    )  # fmt: skip
    assert [one.cost for one in found.measurements] == [1.0, None]
    assert Axis.COST not in found.ends


def test_values_that_are_no_numbers_and_lines_that_broke_off_are_no_results(read):
    found = read(row(0, 1, 0, "completed", 10, 11, loss="nan"), row(1, 1, 1, "completed", 11, 12, loss="x"), "5,9")
    assert (found.ends[Axis.TRIALS], [one.values for one in found.measurements]) == (2.0, [{}])


def test_without_a_file_or_rows_there_is_no_run(read, tmp_path):
    assert read() is None
    assert read("").measurements == ()
    (next(tmp_path.rglob("trials.csv"))).write_bytes(b"\xff\xfe\x00")
    assert read() is None
