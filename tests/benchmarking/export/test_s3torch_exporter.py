"""run_results.json: the form of s3torchbenchmarking, with true MiB/s."""

from __future__ import annotations

import json

import pytest

from benchmarking.export.s3torch_exporter import S3torchExporter, run_results
from definitions.errors import UserError
from tests.benchmarking.export.exported import context
from tests.benchmarking.export.pipelines import EPOCHS, USAGE, measured

ENVIRONMENT = {"python": "3.11.7", "packages": {"torch": "2.13.0", "s3torchconnector": "1.5.0"}}


def test_the_document_has_the_keys_of_the_original(tmp_path):
    one = measured(tmp_path, *EPOCHS, usage=USAGE, environment=ENVIRONMENT)
    assert S3torchExporter(context()).experiment(one, tmp_path) == [str(tmp_path / "run_results.json")]
    found = json.loads((tmp_path / "run_results.json").read_text())
    assert {*found} == {
        "s3torchconnector_version", "timestamp_utc", "scenario", "disambiguator", "run_elapsed_time_s", "versions", "ec2_metadata",
        "job_results",
    }  # fmt: skip
    assert (found["s3torchconnector_version"], found["versions"]) == ("1.5.0", {"python": "3.11.7", "pytorch": "2.13.0", "hydra": None})
    assert (found["timestamp_utc"], found["run_elapsed_time_s"]) == (3.0, 157.0)  # from the start of the first job


def test_mebibytes_are_of_bytes_and_samples_stand_beside_them(tmp_path):
    metrics = run_results(measured(tmp_path, *EPOCHS, usage=USAGE))["job_results"][0]["metrics"]
    assert (metrics["throughput_mibs"], metrics["samples_per_s"]) == (12.5, 125.0)
    assert (metrics["training_duration_s"], metrics["epoch_durations_s"]) == (16.0, [10.0, 6.0])
    # (3 x 20 + 1 x 60) / 4; what was not kept is null, not 0.
    assert metrics["utilization"]["cpu_util"] == {"n": None, "min": None, "p50": None, "p75": None, "p90": None, "mean": 30.0, "max": 80.0}
    assert metrics["utilization"]["gpu_util"]["mean"] is None


def test_readers_have_the_words_of_the_original_where_it_has_them(tmp_path):
    first, second = (job["config"] for job in run_results(measured(tmp_path, *EPOCHS))["job_results"])
    assert second["dataloader"] == {"kind": "s3mapdataset", "batch_size": 32, "num_workers": 4}
    assert (first["dataloader"]["kind"], first["sharding"], first["model"], first["epochs"]) == ("fastfile", "TAR", "sleep", 2)


def test_without_epochs_it_is_refused(tmp_path):
    with pytest.raises(UserError, match="no completed trial reported epochs"):
        run_results(measured(tmp_path, {"loss": 1.0}))
