"""The local back-end keeps the contract."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from backends.backend_context import BackendContext
from backends.base import Backend
from backends.job_spec import JobSpec
from backends.local.backend import LocalBackend
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml
from tests.backends.contract import BackendContract

pytestmark = pytest.mark.slow

SCRIPTS = {
    "reports3": "from outrider_report import report\nfor epoch in (1, 2, 3):\n    report(epoch=epoch, loss=1 / epoch)\n",
    "fails": "from outrider_report import report\nreport(epoch=1)\nraise SystemExit('no such file: data.csv')\n",
    "silent": "print('done')\n",
    "counts": "from outrider_report import progress, report\nprogress(0, 4)\nprogress(4, 4)\nreport(epoch=1)\n",
    "steps": (
        "import time\nfrom outrider_report import progress, report\n"
        "for k in range(1000):\n    time.sleep(0.05)\n    progress(k + 1, 1000)\nreport(epoch=1)\n"
    ),
    "endless": "import time\nfrom outrider_report import report\nreport(epoch=1)\nwhile True:\n    time.sleep(60)\n",
}


class TestLocalBackend(BackendContract):
    def make_backend(self, folder: Path) -> Backend:
        self.folder = folder
        return LocalBackend(folder / "experiment", grace_s=2.0, leases_dir=folder / "leases")

    def job(self, kind: str, name: str) -> JobSpec:
        script = self.folder / f"{kind}.py"
        script.write_text(SCRIPTS[kind])
        return JobSpec(name=name, trial=0, attempt=1, script=str(script), checkpoint=name, instance_type="local.1cpu")

    def wide(self, spec: JobSpec) -> JobSpec:
        return dataclasses.replace(spec, instance_type="local.4096cpu")

    def write_checkpoint(self, backend: Backend, key: str, content: bytes) -> None:
        folder = self.folder / "experiment" / "checkpoints" / key
        folder.mkdir(parents=True)
        (folder / "state").write_bytes(content)


def test_checkpoints_lie_where_the_environment_says_so_that_they_outlive_the_machine(tmp_path):
    environ = {"OUTRIDER_CHECKPOINTS": str(tmp_path / "kept"), "OUTRIDER_LEASES": str(tmp_path / "leases"), "PATH": os.environ["PATH"]}
    text = "name: toy\nscript: main.py\nobjectives: {loss: min}\nspace: {x: {choice: [1, 2]}}\n"
    definition = resolve(parse_yaml(text, tmp_path / "toy.yaml"), "local", check_files=False).definition
    backend = LocalBackend.create(BackendContext(definition, tmp_path / "experiment", environ=environ, prefix="digits-abcdef-01234567"))
    try:
        backend.checkpoints.create("trial-0")
        assert (tmp_path / "kept" / "digits-abcdef-01234567" / "trial-0").is_dir()
        assert not (tmp_path / "experiment" / "checkpoints").exists()
    finally:
        backend.close()
