"""The back-end of Ray clusters keeps the contract, on a cluster of two nodes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from backends.base import Backend
from backends.job_spec import JobSpec
from backends.ray.backend import RayBackend
from tests.backends.contract import BackendContract
from tests.backends.local.test_backend import SCRIPTS

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray]


class TestRayBackend(BackendContract):
    slack_s = 20.0

    @pytest.fixture(autouse=True)
    def _on_the_cluster(self, cluster):
        self.address = cluster.address

    def make_backend(self, folder: Path) -> Backend:
        self.folder = folder
        return RayBackend(folder / "experiment", address=self.address, grace_s=2.0, checkpoints=folder / "checkpoints")

    def job(self, kind: str, name: str) -> JobSpec:
        source = self.folder / "source"
        source.mkdir(exist_ok=True)
        script = source / f"{kind}.py"
        script.write_text(SCRIPTS[kind])
        return JobSpec(name=name, trial=0, attempt=1, script=str(script), source_dir=str(source), checkpoint=name, instance_type="ray.1cpu")

    def wide(self, spec: JobSpec) -> JobSpec:
        return dataclasses.replace(spec, instance_type="ray.4096cpu")

    def write_checkpoint(self, backend: Backend, key: str, content: bytes) -> None:
        folder = self.folder / "checkpoints" / key
        folder.mkdir(parents=True)
        (folder / "state").write_bytes(content)
