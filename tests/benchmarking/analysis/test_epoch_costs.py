"""What epochs cost, and from which one on what is dear at first is cheaper."""

from __future__ import annotations

import pytest

from benchmarking.analysis.epoch_costs import EpochCosts, EpochTimes, cheaper_from, epoch_costs, epoch_times, paid_seconds

IMAGES = 1_530_350
PUBLISHED = {"fastfile": (165.8, 169.0), "file": (329.5, 10_955.0), "fsx": (328.4, 12.0)}
"""SageMaker Bencher, 54 GB of JPEG files on ml.p3.2xlarge, means of three: images/s, seconds of download."""


def published(mode, usd_per_hour=3.825):
    rate, download_s = PUBLISHED[mode]
    whole_s = IMAGES / rate
    return epoch_costs({1: EpochTimes(whole_s, 0.0)}, usd_per_hour / 3600, download_s)


def test_file_overtakes_fastfile_in_the_third_epoch_as_published():
    file, fastfile, fsx = published("file"), published("fastfile"), published("fsx")
    second = 3600 / 3.825
    assert (file.first_usd - file.later_usd - fastfile.first_usd + fastfile.later_usd) * second == pytest.approx(10_786, abs=0.5)
    assert (fastfile.later_usd - file.later_usd) * second == pytest.approx(4_586, abs=0.5)
    assert cheaper_from(file, fastfile) == 3
    assert file.after(2) > fastfile.after(2)
    assert file.after(3) < fastfile.after(3)
    # A file system has the lead of both from the first epoch on, but reads a little slower than a disk: File catches up very late.
    assert cheaper_from(fsx, file) == 1
    assert cheaper_from(file, fsx) == 704
    assert file.after(703) >= fsx.after(703)
    assert file.after(704) < fsx.after(704)


@pytest.mark.parametrize(
    ("metrics", "times"),
    [
        ({"epoch_s": 0.0}, EpochTimes(0.0, 0.0)),
        ({"epoch_s": 4, "list_s": 1, "download_s": 2}, EpochTimes(4.0, 3.0)),
        ({"epoch_s": 2, "download_s": 3}, EpochTimes(2.0, 2.0)),
        ({"epoch_s": 2, "list_s": -1}, EpochTimes(2.0, 0.0)),
        ({"epoch_s": -1.0}, None),
        ({"epoch_s": "fast"}, None),
        ({"loss": 1.0}, None),
    ],
)
def test_the_seconds_of_an_epoch_that_a_report_says(metrics, times):
    assert epoch_times(metrics) == times


@pytest.mark.parametrize(
    ("one", "other", "epoch"),
    [
        ((1, 1), (2, 1), 1),
        ((2, 1), (1, 1), None),
        ((1, 1), (1, 1), None),
        ((2, 1), (1, 2), 3),  # equal after two, so cheaper from the third on
        ((2.5, 1), (1, 2), 3),
        ((1, 1), (1, 2), 2),
        ((1, 9), (2, 1), 1),
    ],
)
def test_from_which_epoch_on(one, other, epoch):
    assert cheaper_from(EpochCosts(*one, True), EpochCosts(*other, True)) == epoch


def test_first_and_later_epochs_are_apart():
    found = epoch_costs({2: EpochTimes(10, 0), 1: EpochTimes(30, 5), 3: EpochTimes(14, 0)}, 0.5, download_s=100)
    assert (found.first_usd, found.later_usd, found.is_measured, found.after(3)) == (65, 6, True, 77)


def test_of_one_epoch_a_further_one_is_what_is_left_without_listing_and_download():
    found = epoch_costs({1: EpochTimes(30, 5)}, 2.0)
    assert (found.first_usd, found.later_usd, found.is_measured) == (60, 50, False)
    assert epoch_costs({}, 2.0) is None


def test_what_reports_say():
    assert epoch_times({"epoch_s": 9.0, "list_s": 1.0, "download_s": 2.0}) == (9.0, 3.0)
    assert epoch_times({"epoch_s": 9.0, "download_s": 20.0}) == (9.0, 9.0)
    for metrics in ({"loss": 1.0}, {"epoch_s": "long"}, {"epoch_s": float("nan")}, {"epoch_s": True}):
        assert epoch_times(metrics) is None


def test_a_platform_says_what_is_paid_for():
    stages = {"Starting": 50.0, "Downloading": 20.0, "Training": 70.0, "Uploading": 10.0}
    assert paid_seconds({"stages_s": stages}) == (100.0, 20.0)
    assert paid_seconds({}) == paid_seconds({"stages_s": {"Starting": 3.0}}) == (None, 0.0)
