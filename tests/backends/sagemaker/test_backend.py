"""The SageMaker back-end keeps the contract, against the emulator."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.base import Backend
from backends.job_spec import JobSpec
from tests.backends.contract import BackendContract
from tests.backends.sagemaker.cloud_bench import SPEED, CloudBench

pytestmark = pytest.mark.slow


class TestSageMakerContract(BackendContract):
    limit_s = 40.0 * SPEED
    max_run_s = 0.5 * SPEED
    slack_s = 5.0 * SPEED

    @pytest.fixture(autouse=True)
    def bench(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CloudBench]:
        with CloudBench(tmp_path) as bench:
            for name, value in bench.emulator.environment.items():
                monkeypatch.setenv(name, value)
            self.bench_in_use = bench
            yield bench

    def make_backend(self, folder: Path) -> Backend:
        return self.bench_in_use.backend()

    def job(self, kind: str, name: str) -> JobSpec:
        return self.bench_in_use.job(kind, name)

    def wide(self, spec: JobSpec) -> JobSpec:
        return dataclasses.replace(spec, instance_type="local.1cpu")

    def write_checkpoint(self, backend: Backend, key: str, content: bytes) -> None:
        folder = backend.checkpoints.folder(key)  # type: ignore[attr-defined]
        self.bench_in_use.emulator.client("s3").put_object(Bucket="bench", Key=f"{folder}state", Body=content)
