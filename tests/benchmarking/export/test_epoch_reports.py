"""What trials read in their epochs."""

from __future__ import annotations

import pytest

from benchmarking.export.epoch_reports import epoch_reports, epochs_read
from tests.benchmarking.export.pipelines import EPOCHS, measured


def test_listing_and_download_are_apart_from_the_epochs(tmp_path):
    one = measured(tmp_path, *EPOCHS)
    read = epochs_read(one.state, one.journal.records())
    assert [*read] == [0, 1]
    assert (read[0].durations_s, read[0].before_s, read[0].samples) == ([10.0, 6.0], 3.0, 2000)
    assert read[0].samples_per_s == 125.0
    assert read[0].mebibytes_per_s == pytest.approx(12.5)  # bytes, not samples, by 2**20


def test_an_epoch_that_was_run_again_counts_once(tmp_path):
    one = measured(tmp_path, EPOCHS[0], {**EPOCHS[0], "epoch_s": 5.0}, EPOCHS[1])
    assert epochs_read(one.state, one.journal.records())[0].durations_s == [2.0, 6.0]
    assert len(epoch_reports(one.state, one.journal.records())) == 6


def test_other_reports_are_none_of_epochs(tmp_path):
    one = measured(tmp_path, {"loss": 1.0}, {"epoch": 1, "epoch_s": 3.0})
    assert epochs_read(one.state, one.journal.records()) == {}


def test_without_seconds_there_is_no_rate(tmp_path):
    one = measured(tmp_path, {**EPOCHS[0], "epoch_s": 0.0, "list_s": 0.0, "download_s": 0.0})
    read = epochs_read(one.state, one.journal.records())[0]
    assert (read.samples_per_s, read.mebibytes_per_s) == (None, None)
