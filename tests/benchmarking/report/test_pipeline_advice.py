"""What is advised, what it is predicted to gain, and what came of it where that was measured."""

from __future__ import annotations

import math

import pytest

from benchmarking.report.pipeline_advice import MODEL_ERROR, advice_for, options_for, outcome_of
from benchmarking.report.pipelines import PipelineOption
from tests.benchmarking.report.measured_pipelines import made, pipeline


def real(configuration):
    return ""


def advised(one, *others, definition=None, imitated=real):
    return advice_for(one, [one, *others], definition or made(), imitated)


def options(one, *others, definition=None, imitated=real):
    return {tuple(option.change.items()): option for option in options_for(one, [one, *others], definition or made(), imitated)}


def test_another_way_of_reading_is_predicted_by_the_ceiling_that_others_measured_there():
    # Fetching takes 10 ms, decoding 10 ms: 50 a second. From shards on this disk fetching takes 2 ms: 83 a second.
    one = pipeline(0, (50.0,), fetch=100.0, decode=100.0, ingestion="s3_map")
    other = pipeline(1, (80.0,), fetch=1000.0, decode=200.0, loader_workers=2, dataset="shards")
    found = options(one, other)[(("ingestion", "local"), ("dataset", "shards"))]
    # Two workers there, one here: half of what they fetch and decode.
    assert found.gain == pytest.approx((1 / (1 / 500 + 1 / 100)) / 50)
    assert found.low < found.gain < found.high


def test_of_what_stands_still_for_its_checkpoints_only_what_its_script_says_is_an_option():
    """Shards that load faster wait for the same saves."""
    told = [PipelineOption({"checkpoint_async": True}, 2.0, 1.0, 4.0, "compute")]
    one = pipeline(0, fetch=100.0, ingestion="s3_map", bound_by="checkpoint", told=told)
    assert [*options(one, pipeline(1, fetch=10_000.0))] == [(("checkpoint_async", True),)]


def test_gains_are_capped_by_what_binds_next():
    one = pipeline(0, fetch=100.0, compute=120.0, ingestion="s3_map", bound_by="client")
    found = options(one, pipeline(1, fetch=10_000.0, compute=120.0))[(("ingestion", "local"),)]
    assert found.gain == pytest.approx(1.2, rel=1e-3)
    assert found.then == "compute"


def test_more_cores_give_what_the_processor_seconds_of_a_sample_leave():
    # 10 ms of a processor for each sample: 100 a second on one core, 200 on two, whatever the parts could.
    one = pipeline(0, decode=400.0, cores=1, cpu_s=0.01)
    other = pipeline(1, decode=400.0, cores=2, cpu_s=0.01, instance_type="local.2cpu")
    assert options(one, other)[(("instance_type", "local.2cpu"),)].gain == pytest.approx(2.0)


def test_images_stored_at_the_size_that_is_trained_on():
    # Four times the pixels: decoding is 2 to 4 times as fast, then fetching takes as long.
    one = pipeline(0, decode=100.0, fetch=400.0)
    found = options(one)[(("datasets.files.image_size", 96),)]
    now, least, most = (1 / (1 / 400 + 1 / decode) for decode in (100, 200, 400))
    assert found.gain == pytest.approx(math.sqrt(least * most) / now)
    assert found.low < least / now < most / now < found.high
    assert options(pipeline(0, dataset="shards")) == {}  # stored at that size


def test_what_a_script_says_of_its_loader_is_an_option_too():
    told = PipelineOption({"loader_workers": 2}, 1.5, 1.4, 1.6, "compute")
    advice = advised(pipeline(0, dataset="shards", told=(told,)))
    assert (advice.option.change, advice.option.gain) == ({"loader_workers": 2}, 1.5)
    # Its interval holds what predictions are off by, beside the errors of ceilings.
    assert advice.option.high == pytest.approx(1.5 * math.exp(math.hypot(math.log(1.5 / 1.4), 2 * MODEL_ERROR)), rel=0.02)


def test_rules_of_the_definition_hold_for_what_is_advised():
    told = PipelineOption({"loader_workers": 2}, 1.5, 1.4, 1.6, "compute")
    one = pipeline(0, dataset="shards", told=(told,))
    rule = made(valid=("not (instance_type == 'local.1cpu' and loader_workers > 1)",))
    assert advised(one, definition=rule).option is None


def test_nothing_is_predicted_between_an_imitation_and_the_real_thing():
    def imitated(configuration):
        return "fastfile" if configuration["ingestion"] == "fastfile" else ""

    one, other = pipeline(0, fetch=100.0), pipeline(1, fetch=10_000.0, ingestion="fastfile")
    assert (("ingestion", "fastfile"),) in options(one, other)
    assert (("ingestion", "fastfile"),) not in options(one, other, imitated=imitated)


def test_who_trains_otherwise_says_nothing():
    assert options(pipeline(0, dataset="shards"), pipeline(1, fetch=10.0, dataset="shards", ingestion="s3_map", batch_size=7)) == {}


def test_what_gains_less_than_a_twentieth_is_not_advised():
    one = pipeline(0, decode=100.0, fetch=10_000.0, dataset="shards", ingestion="s3_map")
    assert advised(one, pipeline(1, decode=100.0, fetch=12_000.0, dataset="shards")).option is None


def test_prediction_stands_beside_outcome_where_it_was_measured():
    one = pipeline(0, (50.0, 52.0), fetch=100.0, decode=100.0, dataset="shards", ingestion="s3_map")
    other = pipeline(1, (80.0, 84.0), fetch=1000.0, decode=100.0, dataset="shards")
    outcome = advised(one, other).outcome
    assert (outcome.evaluation, outcome.gain) == (1, pytest.approx(82 / 51))
    assert outcome.low < outcome.gain < outcome.high
    assert outcome_of(one, {"loader_workers": 2}, [one, other]) is None
