"""Configurations with ceilings, for tests of advice."""

from __future__ import annotations

from typing import Any

from benchmarking.report.pipelines import MeasuredPipeline
from benchmarking.workloads.measuring.advice import Shape
from benchmarking.workloads.measuring.bound import Ceiling, PipelineParts
from definitions.schema import BenchmarkDefinition

FAST = 1e6


def made(**changes: Any) -> BenchmarkDefinition:
    """Return a definition whose space has ways of reading, data sets and workers."""
    given: dict[str, Any] = {
        "name": "b", "script": "s.py", "objectives": {"samples_per_s": "max"}, "arguments": {"image_size": 96},
        "space": {
            "ingestion": {"choice": ["local", "s3_map", "fastfile"]}, "dataset": {"choice": ["files", "shards"]},
            "loader_workers": {"choice": [0, 1, 2]}, "instance_type": {"choice": ["local.1cpu", "local.2cpu"]},
        },
        "datasets": {"files": {"type": "images", "image_size": 192}, "shards": {"type": "images", "format": "tar", "image_size": 96}},
        "inputs": {"train": {}},
    }  # fmt: skip
    return BenchmarkDefinition(**{**given, **changes})


def pipeline(
    number: int, rates: tuple[float, ...] = (100.0,), *, fetch: float = FAST, decode: float = FAST, compute: float = FAST,
    error: float = 0.0, cores: int = 2, cpu_s: float = 0.0, bound_by: str = "decode", **settings: Any,
) -> MeasuredPipeline:  # fmt: skip
    """Return a configuration: on this machine, files, one worker and one core, where it does not say."""
    configuration = {"ingestion": "local", "dataset": "files", "loader_workers": 1, "instance_type": "local.1cpu", **settings}
    told = configuration.pop("told", ())
    workers = configuration["loader_workers"]
    parts = PipelineParts(Ceiling(compute, error), Ceiling(decode, error), Ceiling(FAST) if workers else None, Ceiling(fetch, error))
    shape = Shape(workers, 1, cores, cpu_s)
    return MeasuredPipeline(
        number, configuration, {"image_size": 96, **configuration}, dict(enumerate(rates)), parts, shape, bound_by, told
    )  # fmt: skip
