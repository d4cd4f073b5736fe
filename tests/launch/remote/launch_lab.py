"""Studies launched on an emulator: their controllers are hurt from outside, and what is true at the end is read off jobs and segments."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from backends.emulator import Emulator, Settings
from backends.emulator.admin import PREFIX as PREFIX_OF_CALLS
from backends.emulator.admin import authorization
from backends.emulator.core.settings import SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA, Delays
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.controllers.creation import create_controller, tags_of
from backends.sagemaker.controllers.request import controller_name, successor_request
from benchmarking.archive.stored import load
from benchmarking.remote.controller_word import ControllerWord, read_word
from benchmarking.remote.generations import claim_generation
from benchmarking.remote.launch_record import from_json
from benchmarking.remote.layout import LAUNCH, run_uri, segment_of
from benchmarking.remote.restoring import restore
from benchmarking.remote.segments import decoded
from definitions.instances import price_of
from launch.remote.stores import store_at
from tests.waiting import looks

soak = pytest.mark.skipif("OUTRIDER_SOAK" not in os.environ, reason="one of many that take a minute each: OUTRIDER_SOAK=1 runs them")
"""For what is tried now and then, and not with every `make test`."""
ROOT = Path(__file__).resolve().parents[3]
BUCKET, PREFIX = "bench", "outrider"
CONTROLLER = "ctl-"
OVER = ("Completed", "Failed", "Stopped")

SCRIPT = """
import os, sys, time
from outrider_report import checkpoint_dir, report
given = dict(word.removeprefix("--").split("=", 1) for word in sys.argv[1:])
steps, pause, x = int(given.get("steps", 3)), float(given.get("pause", 0.4)), float(given["x"])
path, first = checkpoint_dir() / "step", 1
if path.exists():
    first = int(path.read_text()) + 1
for step in range(first, steps + 1):
    time.sleep(pause)
    (path.parent / "new").write_text(str(step))
    os.replace(path.parent / "new", path)
    report(step=step, loss=x + 1 / step, first=first)
"""

DEFINITION = """
name: toy
script: run.py
space:
  x: {uniform: [0.0, 1.0]}
arguments: {steps: 3, pause: 0.4}
objectives: {loss: min}
n_workers: 2
budget: {max_num_trials: 3, max_failures: 2, max_run: 600}
sagemaker:
  arguments: {instance_type: ml.m5.large}
  image: image:1
  bucket: bench
"""


def write_source(folder: Path) -> Path:
    """Write the script and its definition into a folder, and return the definition's path."""
    (folder / "run.py").write_text(SCRIPT, encoding="utf-8")
    definition = folder / "toy.yaml"
    definition.write_text(DEFINITION, encoding="utf-8")
    return definition


@dataclass(frozen=True)
class Finished:
    """What a study came to, by what a person can dispute.

    Args:
        trials: experiment -> trial -> (configuration, status, how many jobs it had).
        jobs: names of all trials' jobs that the service ever had, in no order.
        running: names of jobs that are not over, controllers included.
        spent_usd: of all trials, by the journals.
        billed_usd: of all trials' jobs and of instances kept after them, by the emulator.
        controllers_usd: of controllers, likewise.
    """

    trials: Mapping[str, Mapping[int, tuple[str, str, int]]]
    jobs: tuple[str, ...]
    running: tuple[str, ...]
    spent_usd: float
    billed_usd: float
    controllers_usd: float

    @property
    def configurations(self) -> dict[str, dict[int, str]]:
        """Experiment -> trial -> configuration."""
        return {name: {trial: one[0] for trial, one in trials.items()} for name, trials in self.trials.items()}


class LaunchLab:
    """An emulator, a source folder, and studies that are launched there from a process of their own.

    Args:
        folder: temporary folder.
        faults: of the emulator.
        delays: of the emulator's service; those of a hurried one where None.
        quotas: of the account; large ones where None.
        install_requirements: whether requirements of jobs are installed, and not only looked at.
    """

    def __init__(
        self,
        folder: Path,
        faults: Sequence[Mapping[str, Any]] = (),
        delays: Delays | None = None,
        quotas: Mapping[str, int] | None = None,
        install_requirements: bool = False,
    ) -> None:
        self.folder, self._quotas, self._install_requirements = folder, quotas, install_requirements
        self._faults, self._delays = faults, delays or Delays(grace_s=60.0, spot_return_s=0.5)
        source = folder / "source"
        source.mkdir()
        self.definition = write_source(source)

    def __enter__(self) -> LaunchLab:
        quotas = self._quotas or {WARM_POOL_QUOTA.format("*"): 0, SPOT_QUOTA.format("*"): 200, TRAINING_QUOTA.format("*"): 200}
        settings = Settings(quotas=quotas, delays=self._delays, install_requirements=self._install_requirements)
        self._emulator = Emulator(self.folder / "cloud", faults=list(self._faults), settings=settings)
        self.emulator = self._emulator.__enter__()
        self.emulator.create_bucket(BUCKET)
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "OUTRIDER_"))},
            **self.emulator.environment,
            "OUTRIDER_LEASES": str(self.folder / "leases"),
            "OUTRIDER_PRICES": os.devnull,
        }
        # Which repeats calls, as faults strike those of the tests too.
        self.sagemaker = Clients("us-east-1", self.environ).get("sagemaker")
        return self

    def __exit__(self, *error: Any) -> None:
        self._emulator.__exit__(None, None, None)

    def same_bill(self, tag: str, found: Finished) -> None:
        """Assert that what is said of a run's cost, apart and together, is what the emulator bills for it."""
        assert found.spent_usd == pytest.approx(found.billed_usd, abs=1e-9)
        done = self.outrider("status", tag, "--bucket", BUCKET, "--format", "json", "--results_dir", str(self.folder / "none"))
        assert done.returncode == 0, done.stderr
        bill = json.loads(done.stdout)["bill"]
        assert (bill["unknown"], bill["not_billed_usd"]) == (0, 0.0)
        assert bill["controllers_usd"] == pytest.approx(found.controllers_usd, abs=1e-9)
        assert bill["total_usd"] == pytest.approx(found.billed_usd + found.controllers_usd, abs=1e-9)

    def signs_apart(self) -> None:
        """From now on sign what this machine asks with temporary credentials, so that calls from within jobs can be told from it."""
        given = self.emulator.client("sts").get_session_token()["Credentials"]
        names = {"AWS_ACCESS_KEY_ID": "AccessKeyId", "AWS_SECRET_ACCESS_KEY": "SecretAccessKey", "AWS_SESSION_TOKEN": "SessionToken"}
        self.environ |= {name: given[key] for name, key in names.items()}
        self.sagemaker = Clients("us-east-1", self.environ).get("sagemaker")

    def outrider(self, *words: str, timeout_s: float = 300.0) -> subprocess.CompletedProcess[str]:
        """Run a verb on this machine, as the laptop's."""
        command = [sys.executable, "-m", "launch", *words]
        return subprocess.run(command, cwd=ROOT, env=self.environ, capture_output=True, encoding="utf-8", timeout=timeout_s, check=False)

    def launch(
        self,
        tag: str,
        *words: str,
        benchmark: str = "",
        methods: Sequence[str] = ("RS", "GRID"),
        seeds: int = 2,
        backend: str = "sagemaker",
        parallel: int = 4,
    ) -> list[str]:
        """Launch methods over seeds, and return the names of the controllers' jobs."""
        what = ["--benchmark", benchmark or str(self.definition), "--method", *methods, "--num_seeds", str(seeds), "--backend", backend]
        where = ["--experiment_tag", tag, "--results_dir", str(self.folder / "results"), "--parallel", str(parallel), "--yes"]
        done = self.outrider("launch", *what, *where, *words)
        assert done.returncode == 0, done.stderr
        return self.controllers()

    def store(self, tag: str) -> Any:
        """Return the run's store."""
        return store_at(run_uri(BUCKET, PREFIX, tag), self.environ, "us-east-1")

    def word(self, tag: str, controller: int = 1) -> ControllerWord | None:
        """Return a controller's last word."""
        return read_word(self.store(tag), controller)

    def described(self, name: str) -> dict[str, Any]:
        """Return what the service says of a job."""
        return dict(self.sagemaker.describe_training_job(TrainingJobName=name))

    def jobs(self) -> list[str]:
        """Return the names of all jobs, in order of their creation."""
        return [one["TrainingJobName"] for one in self._listed()]

    def _listed(self) -> list[dict[str, Any]]:
        pages = self.sagemaker.get_paginator("list_training_jobs").paginate(SortBy="CreationTime", SortOrder="Ascending")
        return [one for page in pages for one in page["TrainingJobSummaries"]]

    def controllers(self) -> list[str]:
        """Return the names of the controllers' jobs, in order of their creation."""
        return [name for name in self.jobs() if name.startswith(CONTROLLER)]

    def running(self) -> list[str]:
        """Return the names of jobs that are not over."""
        return [one["TrainingJobName"] for one in self._listed() if one["TrainingJobStatus"] not in OVER]

    def log(self, job: str) -> str:
        """Return all that a job printed."""
        logs = Clients("us-east-1", self.environ).get("logs")
        streams = logs.describe_log_streams(logGroupName="/aws/sagemaker/TrainingJobs", logStreamNamePrefix=job)["logStreams"]
        lines: list[str] = []
        for stream in streams:
            request = {"logGroupName": "/aws/sagemaker/TrainingJobs", "logStreamName": stream["logStreamName"], "startFromHead": True}
            while True:
                page = logs.get_log_events(**request)
                lines += [event["message"] for event in page["events"]]
                if not page["events"]:
                    break
                request["nextToken"] = page["nextForwardToken"]
        return "\n".join(lines)

    def await_that(self, holds: Callable[[], object], what: str, timeout_s: float = 300.0) -> None:
        """Wait until something holds; where it does not, say what the controllers printed."""
        for _ in looks(timeout_s):
            if holds():
                return
        logs = "\n".join(f"--- {name}\n{self.log(name)[-6000:]}" for name in self.controllers())
        raise AssertionError(f"not in {timeout_s:.0f} s: {what}\n{logs}")

    def await_end(self, timeout_s: float = 400.0) -> None:
        """Wait until no job runs, controllers included."""
        # A successor is created before the one before it ends, so that there is no moment without any in between.
        self.await_that(lambda: not self.running(), "every job is over", timeout_s)

    def processes(self, job: str) -> list[int]:
        """Return the processes of a job, by what the emulator marked them with."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                variables = path.read_bytes().split(b"\0")
            except OSError:
                continue
            if f"TRAINING_JOB_NAME={job}".encode() in variables:
                found.append(int(path.parent.name))
        return sorted(found)

    def child(self, job: str) -> int | None:
        """Return the process of the controller that a supervisor has started; None while there is none."""
        for pid in self.processes(job):
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--launched_remotely" in words:
                return pid
        return None

    def send(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to a process, which may have ended meanwhile."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    def ran(self, job: str) -> set[str]:
        """Return the experiments that a controller began, by its log."""
        begun = (line for line in self.log(job).splitlines() if " on sagemaker: /" in line)
        return {line.split(" on sagemaker")[0].rpartition("] ")[2] for line in begun}

    def break_job(self, job: str, call: str, **more: Any) -> bool:
        """Have the emulator `interrupt` a job or `break` it; return whether it was running, so that this struck."""
        where = self.emulator.endpoint_url + PREFIX_OF_CALLS + call
        head = {"content-type": "application/json", "authorization": authorization(self.emulator.credentials)}
        request = urllib.request.Request(where, json.dumps({"job": job, **more}).encode(), head)
        try:
            with urllib.request.urlopen(request) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError as error:
            if error.code not in (400, 409):
                raise
            return False

    def begun(self, tag: str) -> set[str]:
        """Return the experiments whose journal has begun."""
        return {found[0] for one in self.store(tag).list() if (found := segment_of(one.key)) is not None}

    def kinds_written(self, tag: str, seen: set[str]) -> set[str]:
        """Return the kinds of records in segments that were not seen before, which are noted."""
        store, found = self.store(tag), set()
        for one in store.list():
            if segment_of(one.key) is not None and one.key not in seen:
                seen.add(one.key)
                found |= {kind for _, _, kind, _ in decoded(store.get(one.key).body, one.key).rows}
        return found

    def send_all(self, job: str, number: signal.Signals) -> None:
        """Send a signal to all processes of a job."""
        for pid in self.processes(job):
            self.send(pid, number)

    def succeed(self, tag: str, job: str) -> str:
        """Create the successor of a controller, as another one would that thinks it gone; return its name."""
        store = self.store(tag)
        record = from_json(store.get(LAUNCH).body, LAUNCH)
        name = controller_name(tag, record.nonce, 1, 2)
        claim_generation(store, record.nonce, 1, 2, name, "")
        clients = Clients("us-east-1", self.environ)
        own = self.described(job)
        create_controller(clients, successor_request(own, tags_of(clients, own["TrainingJobArn"]), name, 1, 2))
        return name

    def last_reports(self, tag: str) -> list[dict[str, Any]]:
        """Return the metrics of the last report of each trial of all experiments."""
        folder = self.folder / f"reports-{time.monotonic_ns()}" / tag
        restore(self.store(tag), folder)
        found = []
        for path in sorted(folder.glob("*/*/experiment.json")):
            stored = load(path.parent)
            with stored.journal() as journal:
                found += [dict(trial.last) for _, trial in sorted(stored.state(journal).trials.items())]
        return found

    def finished(self, tag: str) -> Finished:
        """Return what a study came to; it is read from S3 alone."""
        folder = self.folder / f"collected-{time.monotonic_ns()}" / tag
        restore(self.store(tag), folder)
        trials: dict[str, dict[int, tuple[str, str, int]]] = {}
        spent_usd = 0.0
        for path in sorted(folder.glob("*/*/experiment.json")):
            stored = load(path.parent)
            if not stored.is_started:
                continue  # what it is was kept, and it was stopped before its first record
            with stored.journal() as journal:
                state = stored.state(journal)
            spent_usd += state.money.spent_usd
            trials[str(path.parent.relative_to(folder))] = {
                number: (json.dumps(dict(trial.configuration), sort_keys=True), str(trial.status), trial.submissions)
                for number, trial in sorted(state.trials.items())
            }
        described = {name: self.described(name) for name in self.jobs()}
        own = {name: one for name, one in described.items() if not name.startswith(CONTROLLER)}
        return Finished(
            trials,
            tuple(own),
            tuple(name for name, one in described.items() if one["TrainingJobStatus"] not in OVER),
            spent_usd,
            sum(map(_bill_usd, own.values())),
            sum(_bill_usd(one) for name, one in described.items() if name.startswith(CONTROLLER)),
        )


def _bill_usd(job: Mapping[str, Any]) -> float:
    resources, kept = job["ResourceConfig"], job.get("WarmPoolStatus", {}).get("ResourceRetainedBillableTimeInSeconds", 0)
    price = price_of(resources["InstanceType"], "us-east-1")
    assert price is not None
    return float((job.get("BillableTimeInSeconds", 0) + kept) * resources["InstanceCount"] * price.usd_per_hour / 3600)
