"""Advice in words, and the command that tries it."""

from __future__ import annotations

from benchmarking.analysis.stand_ins import NO_STAND_INS
from benchmarking.report.advice_text import advice_lines, trying
from benchmarking.report.pipeline_advice import PipelineAdvice
from benchmarking.report.pipelines import PipelineOption
from tests.benchmarking.report.measured_pipelines import made, pipeline

KEYS = ("ingestion", "dataset")
SLOW = pipeline(0, (50.0, 52.0), fetch=100.0, decode=100.0, dataset="shards", ingestion="s3_map", bound_by="store_latency")
FAST = pipeline(1, (80.0, 84.0), fetch=1000.0, decode=100.0, dataset="shards")


def lines(*measured, leader, said=None):
    return advice_lines(measured, leader, made(), NO_STAND_INS, said or {}, KEYS, ("b",))


def test_prediction_and_outcome_stand_in_one_sentence():
    first, second = lines(SLOW, FAST, leader=1, said={1: "decoding binds on all cores"})
    assert first == "Configuration 1 is bound by decode: decoding binds on all cores."
    assert second == (
        "The fastest that is bound by store_latency, configuration 0 (ingestion=s3_map dataset=shards): ingestion=local is predicted to be "
        "1.82 times as fast (1.29 to 2.55), then bound by decode; measured: configuration 1 was 1.61 times as fast (1.51 to 1.71)."
    )


def test_without_an_outcome_a_command_tries_it():
    told = PipelineOption({"loader_workers": 2}, 1.5, 1.4, 1.6, "not decided")
    (line,) = lines(pipeline(0, dataset="shards", told=(told,)), leader=0)
    assert ", then bound" not in line
    assert line.endswith(
        "; `outrider run --benchmark b --set ingestion=local dataset=shards loader_workers=2 instance_type=local.1cpu` tries it."
    )


def test_the_command_has_the_scale_and_what_is_changed_of_data_sets():
    option = PipelineOption({"datasets.files.resolution": "96x96", "pin_memory": True}, 1.5, 1.4, 1.6, "")
    told = trying(PipelineAdvice(pipeline(0), option), made(scale=0.5), ("b",))
    assert told.startswith("outrider run --benchmark b --scale 0.5 --set ingestion=local ")
    assert told.endswith("datasets.files.resolution=96x96 pin_memory=true")


def test_what_is_not_decided_is_said_and_each_bound_once():
    open_ = pipeline(2, (90.0,), dataset="shards", bound_by="not decided")
    twice = pipeline(3, (20.0,), dataset="shards", bound_by="decode")
    found = lines(open_, FAST, twice, leader=2)
    assert [line.split(":")[0] for line in found] == [
        "What binds configuration 2 is not decided",
        "The fastest that is bound by decode, configuration 1 (ingestion=local dataset=shards)",
    ]
