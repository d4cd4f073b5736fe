"""A SageMaker back-end on an emulator of its own, with one script that behaves as its first argument says."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backends.emulator import Emulator, Settings
from backends.job_spec import JobSpec, Limits
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.backend import PollIntervals, SageMakerBackend
from backends.sagemaker.jobs.resolve_options import options_of
from backends.sagemaker.warm_pool import WarmPoolBackend
from definitions.schema import BenchmarkDefinition
from tests.backends.fast_clock import FastClock

SCRIPT = """
import json, os, sys, time
from outrider_report import checkpoint_dir, progress, report
kind = dict(zip(sys.argv[1::2], sys.argv[2::2]))["--kind"]
if kind == "reports3":
    for epoch in (1, 2, 3):
        report(epoch=epoch, loss=1 / epoch)
elif kind == "fails":
    report(epoch=1)
    raise SystemExit("no such file: data.csv")
elif kind == "silent":
    print("done")
elif kind == "counts":
    progress(0, 4)
    progress(4, 4)
    report(epoch=1)
elif kind == "steps":
    for step in range(1000):
        time.sleep(0.05)
        progress(step + 1, 1000)
    report(epoch=1)
elif kind == "endless":
    report(epoch=1)
    while True:
        time.sleep(60)
elif kind == "resumes":
    path = checkpoint_dir() / "epoch"
    done = int(path.read_text()) if path.exists() else 0
    for epoch in range(done + 1, 7):
        report(epoch=epoch)
        path.write_text(str(epoch))
        time.sleep(0.3)
elif kind == "syne_tune":
    for epoch in (1, 2, 3):
        print("[tune-metric]: " + json.dumps({"epoch": epoch, "st_worker_iter": epoch - 1}), flush=True)
        time.sleep(0.1)
"""
SPEED = 5.0
INTERVALS = PollIntervals(shortest_s=0.5, longest_s=1.0, settle_s=3.0)


class CloudBench:
    """Makes back-ends, jobs and faults. Emulator and back-ends go by one clock, which is faster than life.

    Args:
        folder: temporary folder.
        settings: of the emulator; `block`: of the definition; `faults`: of the emulator.
        backend: `sagemaker` or `warm_pool`.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings | None = None,
        block: Mapping[str, Any] | None = None,
        faults: Any = None,
        backend: str = "sagemaker",
    ) -> None:
        self.folder = folder
        self.clock = FastClock(SPEED)
        self.emulator = Emulator(settings=settings, faults=faults, clock=self.clock)
        self.name = backend
        self.source = folder / "source"
        self.source.mkdir()
        (self.source / "run.py").write_text(SCRIPT)
        self.definition = BenchmarkDefinition.model_validate(
            {
                "name": "bench",
                "script": "run.py",
                "source_dir": str(self.source),
                "objectives": {"loss": "min"},
                "space": {"kind": {"choice": ["reports3"]}, "instance_type": {"choice": ["ml.m5.large"]}},
                backend: {"image": "image:1", "bucket": "bench", **(block or {})},
            }
        )

    def __enter__(self) -> CloudBench:
        self.emulator.__enter__()
        self.emulator.create_bucket("bench")
        self.clients = Clients(None, self.emulator.environment)
        self.backends: list[SageMakerBackend] = []
        return self

    def __exit__(self, *error: Any) -> None:
        self.emulator.__exit__(*error)

    def backend(self, prefix: str = "", intervals: PollIntervals = INTERVALS, **options: Any) -> SageMakerBackend:
        """Return a further controller of the same experiment."""
        clients = self.connected()
        made = options_of(self.definition, self.name, "tag/bench", clients, self.emulator.environment)
        kind = WarmPoolBackend if self.name == "warm_pool" else SageMakerBackend
        options = {"clock": self.clock.now, "real_s": self.clock.real_s, "rng": random.Random(1), "intervals": intervals} | options
        backend = kind(self.definition, made, clients, prefix, **options)
        self.backends.append(backend)
        return backend

    def connected(self) -> Clients:
        """Return clients of the emulator; its environment has to be in force, as boto3 reads credentials there."""
        return Clients("us-east-1", self.emulator.environment)

    def job(self, kind: str, name: str, max_run_s: float = 300.0, **fields: Any) -> JobSpec:
        """Return a job of one of the script's kinds."""
        given: dict[str, Any] = {
            "name": name,
            "trial": 0,
            "attempt": 1,
            "script": str(self.source / "run.py"),
            "arguments": ("--kind", kind),
            "instance_type": "ml.m5.large",
            "configuration": {"kind": kind},
            "checkpoint": name,
            "limits": Limits(max_run_s),
        }
        return JobSpec(**(given | fields))
