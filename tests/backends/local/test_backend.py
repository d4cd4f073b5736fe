"""The local back-end keeps the contract."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from backends.base import Backend, JobSpec
from backends.local.backend import LocalBackend
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
