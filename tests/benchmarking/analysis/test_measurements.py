"""What a canary's job measured: the reporter's names become columns, with means and p99 over all phases."""

import pytest

from benchmarking.analysis.measurements import canary_values, measurements
from benchmarking.forecasting.data.canary import CanaryTable, canary_from
from benchmarking.forecasting.report import raw_rows

GIB = 1024**3


def quantity(mean, p50, p95, p99, peak):
    return {"mean": mean, "p50": p50, "p95": p95, "p99": p99, "peak": peak}


TRAIN = {
    "sampled_s": 90.0,
    "cpu_s": 80.0,
    "cpu_percent": quantity(90, 91, 95, 97, 100),
    "io_wait_percent": quantity(2, 1, 5, 8, 20),
    "rss_bytes": quantity(2 * GIB, 2 * GIB, 3 * GIB, 3 * GIB, 4 * GIB),
}
STARTUP = {"sampled_s": 10.0, "cpu_percent": quantity(10, 10, 10, 10, 10), "io_wait_percent": quantity(50, 50, 60, 70, 80)}


def measured(**phases):
    return measurements({"usage": phases, "phases_s": {"train": 90.0}}, {}, 100.0, 130.0, 0.5)


def test_means_are_weighted_by_time_and_p99_of_one_phase_is_its_own():
    found = measured(train=TRAIN)
    assert (found["cpu_util"], found["cpu_util_p99"]) == (90, 97)
    assert (found["io_wait"], found["io_wait_p99"]) == (2, 8)
    assert (found["rss_mean"], found["rss_mean_p99"]) == (2 * GIB, 3 * GIB)
    both = measured(train=TRAIN, startup=STARTUP)
    assert both["cpu_util"] == pytest.approx(82)
    assert both["io_wait"] == pytest.approx(6.8)


def test_p99_over_phases_counts_each_by_its_time():
    # Start-up is a tenth of the time and waits at 50 or more; 1 % of the whole is a tenth of that: its p95 is passed for less.
    assert measured(train=TRAIN, startup=STARTUP)["io_wait_p99"] == 60
    # 99 % of the time the processors are at 97 % or less, however idle start-up is.
    assert measured(train=TRAIN, startup=STARTUP)["cpu_util_p99"] == 97


def test_a_reporter_that_knows_no_p99_is_read_as_far_as_it_goes():
    old = {"sampled_s": 10.0, "cpu_percent": {"mean": 50, "p50": 50, "p95": 90, "peak": 100}}
    assert measured(train=old)["cpu_util_p99"] == 100
    assert "io_wait" not in measured(train=old)
    assert "cpu_util" not in measured(train={"sampled_s": 0.0, "cpu_percent": quantity(1, 1, 1, 1, 1)})


def test_the_raw_table_has_what_canary_trainings_has_and_leaves_out_what_nobody_measured():
    about = {"trial": 4, "manifest": "0.01-s0-r1"}
    one = canary_from("a", 0.01, 1, measured(train=TRAIN), about=about)
    header, rows = raw_rows(CanaryTable((one,)))
    row = dict(zip(header, rows[0], strict=True))
    assert (row["status"], row["fraction"], row["job"], row["manifest"]) == ("completed", 0.01, 4, "0.01-s0-r1")
    assert (row["CPU %"], row["CPU % p99"], row["I/O wait %"], row["I/O wait % p99"]) == (90, 97, 2, 8)
    assert (row["memory"], row["memory p99"]) == ("2.00 GiB", "3.00 GiB")
    assert not [name for name in header if "GPU" in name]


def test_a_method_hears_them_all():
    assert canary_values({"canary_total_s": 100.0, "loss": 1.0}) == {"total_s": 100.0}


def test_what_comes_before_the_first_report_is_start_up_only_where_some_phase_was_timed():
    # A script without timers that reports at its end does all its work before.
    assert "startup_s" not in measurements({"phases_s": {"startup": 46.0}}, {}, 47.0, 47.0, None)
    assert measurements({"phases_s": {"startup": 2.0, "train": 40.0}}, {}, 47.0, 47.0, None)["startup_s"] == 2.0
