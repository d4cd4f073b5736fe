import datetime
import io
import json

import pytest

from backends.sagemaker.admin.system_profile import cloudwatch_usage, profiled_usage, samples_of, usage_of_samples
from definitions.instance_tables import InstanceFacts

FACTS = InstanceFacts("ml.m5.large", 2, 8_000_000_000, 0, None)
GPUS = InstanceFacts("ml.x", 4, 64_000_000_000, 2, 10_000_000_000)
START = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)


def event(kind, dimension, value, at, name=None, host="algo-1"):
    named = {} if name is None else {"Name": name}
    return json.dumps({"Type": kind, "Dimension": dimension, "Value": value, "NodeId": host, "Timestamp": at, **named})


def test_cores_of_one_moment_are_averaged_and_other_lines_are_passed_over():
    lines = [
        event("cpu", "CPUUtilization", 100.0, 1.0, "cpu0"),
        event("cpu", "CPUUtilization", 50.0, 1.0, "cpu1"),
        event("cpu", "CPUUtilization", 25.0, 2.0, "cpu0"),
        event("memory", "MemoryUsedPercent", 12.5, 1.0, "MemoryUsedPercent"),
        event("network", "Algorithm", 5.0, 1.0, "ReceiveBytesPerSecond"),
        "{}",
        "torn {",
    ]
    assert samples_of(lines) == {"CPUUtilization": [75.0, 25.0], "MemoryUtilization": [12.5]}


def test_usage_is_in_the_words_of_the_reporter():
    found = usage_of_samples({"CPUUtilization": [75.0, 25.0], "MemoryUtilization": [12.5, 50.0]}, FACTS)
    assert found["peak_rss_bytes"] == 4_000_000_000
    assert found["usage"]["all"]["cpu_percent"] == {"mean": 50.0, "p50": 25.0, "p95": 75.0, "p99": 75.0, "peak": 75.0}
    assert usage_of_samples({"MemoryUtilization": [12.5]}, None) == {}
    assert usage_of_samples({}, FACTS) == {}


def test_memory_of_gpus_is_that_of_all():
    found = usage_of_samples({"GPUMemoryUtilization": [10.0, 30.0], "GPUUtilization": [90.0]}, GPUS)
    assert found["usage"]["all"]["gpu_memory_bytes"]["peak"] == pytest.approx(6e9)
    assert found["usage"]["all"]["gpu_percent"]["mean"] == 90.0


class Files:
    def __init__(self, files):
        self.files = files

    def get_paginator(self, _):
        return self

    def paginate(self, Bucket, Prefix):  # noqa: N803 - AWS's names
        return [{"Contents": [{"Key": key} for key in self.files if key.startswith(Prefix)]}]

    def get_object(self, Bucket, Key):  # noqa: N803 - AWS's names
        return {"Body": io.BytesIO(self.files[Key].encode())}


def test_the_profiler_s_files_are_found_where_the_job_says():
    described = {"TrainingJobName": "j", "ProfilerConfig": {"S3OutputPath": "s3://b/out/"}}
    lines = "\n".join(event("memory", "MemoryUsedPercent", value, at, "MemoryUsedPercent") for at, value in enumerate((10, 25)))
    place = "out/j/profiler-output/system/incremental/2026110100"
    files = Files({f"{place}/1.algo-1.json": lines, f"{place}/2.algo-1.csv": "x", "out/k/1.json": lines})
    assert profiled_usage(described, files, FACTS) == {"peak_rss_bytes": 2_000_000_000}
    assert profiled_usage({"TrainingJobName": "j"}, files, FACTS) == {}


class Watch:
    """Holds points by metric, and what was asked."""

    def __init__(self, **points):
        self.points, self.asked = points, []

    def get_metric_statistics(self, **request):
        self.asked.append(request)
        statistic = request["Statistics"][0]
        return {"Datapoints": [{statistic: value} for value in self.points.get(request["MetricName"], ())]}


def test_cloudwatch_is_asked_by_host_and_its_sums_are_shares():
    described = {"TrainingJobName": "j", "ResourceConfig": {"InstanceCount": 2}, "TrainingStartTime": START}
    described["TrainingEndTime"] = START + datetime.timedelta(hours=48)
    watch = Watch(CPUUtilization=[150.0, 50.0], MemoryUtilization=[25.0])
    found = cloudwatch_usage(described, watch, FACTS)
    assert found["peak_rss_bytes"] == 2_000_000_000
    assert found["usage"]["all"]["cpu_percent"]["mean"] == 50.0  # of two cores
    assert {one["Dimensions"][0]["Value"] for one in watch.asked} == {"j/algo-1", "j/algo-2"}
    # No more than 1,440 points at once.
    assert {one["Period"] for one in watch.asked} == {120}
    assert {one["MetricName"]: one["Statistics"] for one in watch.asked}["MemoryUtilization"] == ["Maximum"]


def test_a_job_that_never_began_or_ran_on_an_unknown_type_has_none():
    described = {"TrainingJobName": "j", "ResourceConfig": {}, "TrainingStartTime": START, "TrainingEndTime": START}
    assert cloudwatch_usage(described, Watch(), None) == {}
    assert cloudwatch_usage({"TrainingJobName": "j", "ResourceConfig": {}}, Watch(), FACTS) == {}
