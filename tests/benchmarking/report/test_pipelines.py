"""From a trial's last values to what was measured of its pipeline."""

from __future__ import annotations

import math

import pytest

from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import TrialState
from benchmarking.report.pipelines import PipelineOption, measured_pipeline
from definitions.trial import TrialSpec

LAST = {
    "samples_per_s": 100.0, "bound_by": "decode", "ceiling_reader": 1000.0, "ceiling_reader_error": 0.02, "ceiling_decode": 110.0,
    "ceiling_handover": 5000.0, "cores": 2, "cpu_s_per_sample": 0.01,
    "advice_options": [{"change": {"loader_workers": 3}, "gain": 1.4, "low": 1.3, "high": 1.5, "then": "compute"}],
}  # fmt: skip


def trials(*lasts, workers=2, status=TrialStatus.COMPLETED):
    found = []
    for repeat, last in enumerate(lasts):
        trial = TrialState(repeat, 0, TrialSpec({"loader_workers": workers}, repeat=repeat), status=status)
        trial.last.update(last)
        found.append(trial)
    return found


def test_rates_and_their_error_are_those_of_the_repeats():
    found = measured_pipeline(3, trials(LAST, {**LAST, "samples_per_s": 120.0}), {"model": "cnn"})
    assert (found.evaluation, found.rate, found.rates) == (3, 110.0, {0: 100.0, 1: 120.0})
    assert found.error == pytest.approx(math.sqrt(200) / math.sqrt(2) / 110)
    assert found.settings == {"model": "cnn", "loader_workers": 2}
    assert measured_pipeline(3, trials(LAST), {}).error == 0.0


def test_ceilings_are_the_last_repeats_and_what_is_infinite_is_not_reported():
    parts = measured_pipeline(0, trials(LAST, {**LAST, "ceiling_decode": 120.0}), {}).parts
    assert (parts.decode.samples_per_s, parts.fetch.samples_per_s, parts.fetch.error) == (120.0, 1000.0, 0.02)
    assert parts.compute.samples_per_s == math.inf
    assert measured_pipeline(0, trials(LAST, workers=0), {}).parts.handover is None


def test_what_the_script_says_could_be_changed_is_taken_where_it_is_whole():
    assert measured_pipeline(0, trials(LAST), {}).told == [PipelineOption({"loader_workers": 3}, 1.4, 1.3, 1.5, "compute")]
    for broken in (None, "text", [{}], [{"change": {"a": 1}, "gain": "much"}], [{"change": {}, "gain": 1, "low": 1, "high": 1}]):
        assert measured_pipeline(0, trials({**LAST, "advice_options": broken}), {}).told == []


def test_of_several_bounds_that_of_most_repeats_counts():
    assert measured_pipeline(0, trials(LAST, {**LAST, "bound_by": "client"}, LAST), {}).bound_by == "decode"


def test_without_ceilings_or_without_an_end_there_is_nothing_to_say():
    assert measured_pipeline(0, trials({"bound_by": "not decided"}), {}) is None
    assert measured_pipeline(0, trials(LAST, status=TrialStatus.FAILED), {}) is None
    assert measured_pipeline(0, trials({**LAST, "samples_per_s": "too short: 3 batches"}), {}).rate is None


def test_repeats_beside_other_load_are_known():
    loud = {**LAST, "disturbed": True}
    assert measured_pipeline(0, trials(loud, loud), {}).disturbed
    assert not measured_pipeline(0, trials(loud, LAST), {}).disturbed
