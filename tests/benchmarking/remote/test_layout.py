"""Keys are made and read by one table."""

from __future__ import annotations

from benchmarking.remote import layout


def test_the_root_of_a_run():
    assert layout.run_uri("b", "/outrider/x/", "t1") == "s3://b/outrider/x/runs/t1"
    assert layout.run_uri("b", "", "t1") == "s3://b/runs/t1"
    assert layout.tag_of("s3://b/outrider/runs/t1/") == "t1"
    assert layout.shared_root("s3://b/outrider/x/runs/runs") == "s3://b/outrider/x"
    assert layout.shared_root("s3://b/runs/t1") == "s3://b"


def test_keys_are_read_as_they_are_made():
    experiment = layout.experiment_key("demo", "ASHA", "sagemaker", 2)
    assert experiment == "demo/ASHA-sagemaker-2"
    assert layout.segment_key(experiment, 7) == "demo/ASHA-sagemaker-2/journal/00000007"
    assert layout.segment_of(layout.segment_key(experiment, 12345678)) == (experiment, 12345678)
    assert layout.file_of(layout.file_key(experiment, "logs/0/job.log")) == (experiment, "logs/0/job.log")
    assert layout.generation_key(1, 12) == ".controllers/1/g12.json"
    assert layout.generation_of(".controllers/1/g12.json") == (1, 12)
    assert layout.claim_key(experiment) == ".claims/demo/ASHA-sagemaker-2.json"
    assert (layout.live_key(experiment), layout.controller_live_key(1)) == ("demo/ASHA-sagemaker-2/live.json", ".controllers/1/live.json")


def test_other_keys_are_none_of_these():
    for key in (".claims/demo/journal/00000001", "demo/journal/00000001", "demo/RS-local-0/journal/1", "demo/RS-local-0/live.json"):
        assert layout.segment_of(key) is None
        assert layout.file_of(key) is None
    assert layout.generation_of(".controllers/1/live.json") is None
