"""A controller's job from within: what it was launched as, its store, its service, its signals."""

from __future__ import annotations

import argparse
import queue
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.local.backend import CHECKPOINTS_VARIABLE
from backends.object_store import ObjectStore
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import as_cloud_errors
from backends.sagemaker.controllers.creation import create_controller, tags_of
from backends.sagemaker.controllers.own_job import own_job, status_within
from backends.sagemaker.controllers.request import controller_name, successor_request
from backends.stop_mark import left
from benchmarking.export.files import utc
from benchmarking.remote.controller_word import ControllerState, ControllerWord, Restart, WordWriter
from benchmarking.remote.generations import claim_generation, generations
from benchmarking.remote.launch_record import TUNING_METRICS, LaunchRecord, from_json
from benchmarking.remote.layout import LAUNCH, shared_root
from benchmarking.remote.restoring import restore
from definitions.errors import OutriderError, UserError
from launch.remote.console import StudyConsole
from launch.remote.controller_process import ControllerProcess
from launch.remote.failure import leave_failure
from launch.remote.finished import finished_trials
from launch.remote.lives import Restarts
from launch.remote.sharing import CONTROLLER_VARIABLE, GENERATION_VARIABLE
from launch.remote.sources import place_sources
from launch.remote.stores import store_at
from launch.remote.supervisor import ControllerEnded, Happening, JobTold, Supervisor

_DAY_S = 86400.0
STATUS_S = 5.0
"""Seconds that the service has to say why the job is told to end."""


@dataclass(frozen=True)
class ControllerIdentity:
    """Which generation of which controller of which run this job is; `job` is its name."""

    uri: str
    controller: int
    generation: int
    job: str


class InJob:
    """What a supervisor needs of its job, on the service.

    Args:
        who: which job it is.
        record: of the launch.
        store: of the run; `shared`: the root that all runs have in common.
        clients: of AWS.
        environ: of the job.
        root: folder of Outrider's packages.
        folder: for what the run leaves here; of this job alone.
        happenings: what happens, as it comes.
    """

    def __init__(
        self,
        who: ControllerIdentity,
        record: LaunchRecord,
        store: ObjectStore,
        shared: ObjectStore,
        clients: Clients,
        environ: Mapping[str, str],
        root: Path,
        folder: Path,
        happenings: queue.SimpleQueue[Happening],
    ) -> None:
        self._who, self._record, self._store, self._shared, self._clients = who, record, store, shared, clients
        self._environ, self._root, self._folder, self._happenings = environ, root, folder, happenings
        self._lives = 0
        self._writer = WordWriter(store, who.controller, who.generation, self.say)
        self._began_at = self.utc()
        self._console = StudyConsole(lambda line: print(line, file=sys.stderr, flush=True))

    def earlier(self) -> tuple[Restart, ...]:
        """Return the restarts of this generation in earlier lives of its job."""
        word = self._writer.earlier()
        if word is None or word.generation != self._who.generation:
            return ()
        self._began_at = word.started_at or self._began_at
        return word.restarts

    def time(self) -> tuple[float, float]:
        """Return the seconds that this job may run over all its lives, and how many of those are used."""
        try:
            with as_cloud_errors(f"the job {self._who.job} is to be described"):
                found = own_job(self._clients, self._who.job)
        except OutriderError as error:
            # As launched, then, and as if this were its first life: TERM comes at the limit in any case.
            self.say(f"how much time is left is not known: {error}")
            return float(self._record.controller.get("max_run_s", _DAY_S)), 0.0
        return found.max_run_s, found.used_s

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic()

    def utc(self) -> float:
        """Return seconds since 1970, by the clock of this instance."""
        return time.time()

    def wait(self, timeout_s: float) -> Happening | None:
        """Wait for what happens, at most so many seconds."""
        try:
            return self._happenings.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def start(self) -> ControllerProcess:
        """Restore the run into a folder of its own, and start a controller there."""
        shutil.rmtree(self._results, ignore_errors=True)
        self._lives += 1
        tag_folder = self._results / self._record.tag
        restore(self._store, tag_folder)
        place_sources(self._record, self._shared, tag_folder, self._folder / "sources")
        if self._record.controller.get(TUNING_METRICS, False):
            self._console.follow(tag_folder)
        words = [sys.executable, "-m", "launch", "run", "--resume", self._record.tag, "--results_dir", str(self._results)]
        words += ["--launched_remotely", self._who.uri, "--yes", *self._record.child]
        environ = {
            **self._environ,
            CONTROLLER_VARIABLE: str(self._who.controller),
            GENERATION_VARIABLE: str(self._who.generation),
        }
        if "SM_CHECKPOINT_DIR" in self._environ:
            # Trials on this instance keep theirs where the service brings them to S3, and back to whoever goes on.
            environ[CHECKPOINTS_VARIABLE] = self._environ["SM_CHECKPOINT_DIR"]
        return ControllerProcess(words, self._root, environ, sys.stderr.buffer, lambda code: self._happenings.put(ControllerEnded(code)))

    def finished(self) -> int:
        """Return how many trials are finished, by the journals here; the console is told how they stand."""
        self._console.look()
        return finished_trials(self._results / self._record.tag)

    def status(self) -> str | None:
        """Return the job's own status; None where the service does not say so in time."""
        return status_within(self._clients, self._who.job, STATUS_S)

    def is_marked(self) -> bool:
        """Return whether the whole run is marked to end; what cannot be read says nothing."""
        try:
            mark = left(self._store)
        except OutriderError as error:
            self.say(f"whether the run is to end is not known: {error}")
            return False
        return mark is not None and mark.is_of_all

    def is_succeeded(self) -> bool:
        """Return whether a later generation is claimed."""
        return generations(self._store).get(self._who.controller, 0) > self._who.generation

    def succeed(self) -> None:
        """Claim the next generation and create its job, unless it is there."""
        controller, generation = self._who.controller, max(generations(self._store).get(self._who.controller, 0), self._who.generation + 1)
        name = controller_name(self._record.tag, self._record.nonce, controller, generation)
        claim_generation(self._store, self._record.nonce, controller, generation, name, utc(self.utc()) or "")
        with as_cloud_errors(f"the job {self._who.job} is to be described"):
            own = own_job(self._clients, self._who.job).description
        tags = tags_of(self._clients, own["TrainingJobArn"])
        create_controller(self._clients, successor_request(own, tags, name, controller, generation))
        self.say(f"{name} follows")

    def word(self, state: ControllerState, why: str, restarts: tuple[Restart, ...], seconds_left: float) -> None:
        """Say how the controller stands, to whoever asks from anywhere."""
        who = self._who
        word = ControllerWord(
            who.controller, who.generation, who.job, self.utc(), state, why, restarts, round(seconds_left, 1), self._began_at
        )
        self._writer.say(word)

    def say(self, line: str) -> None:
        """Write a line into the job's log."""
        print(f"controller {self._who.controller}, generation {self._who.generation}: {line}", file=sys.stderr, flush=True)

    def fail(self, why: str) -> None:
        """Leave the reason of the job's failure where the service takes it from."""
        leave_failure(self._environ.get("SM_OUTPUT_DIR", ""), why)

    @property
    def _results(self) -> Path:
        # A new one for each life: what an earlier one has left half written, or still holds, is none of the next one's business.
        return self._folder / f"life-{self._lives}"


def run_controller(arguments: Sequence[str], environ: Mapping[str, str], root: Path) -> int:
    """Run one life of a controller's job and return the job's exit code.

    Args:
        arguments: the run's place in the store, `--controller I`, `--generation G`.
        environ: of the job.
        root: folder of Outrider's packages.
    """
    happenings: queue.SimpleQueue[Happening] = queue.SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: happenings.put(JobTold()))
    parser = argparse.ArgumentParser(description="Run a controller of a launched study.")
    parser.add_argument("uri")
    parser.add_argument("--controller", type=int, default=1)
    parser.add_argument("--generation", type=int, default=1)
    given = parser.parse_args(arguments)
    who = ControllerIdentity(given.uri, given.controller, given.generation, environ.get("TRAINING_JOB_NAME", ""))
    folder = Path(environ.get("SM_OUTPUT_DIR") or "/opt/ml/output").parent / "controller"
    try:
        supervisor = _supervisor(who, environ, root, folder, happenings)
    except OutriderError as error:
        print(f"error: {error}", file=sys.stderr)
        leave_failure(environ.get("SM_OUTPUT_DIR", ""), str(error))
        return error.exit_code
    try:
        return supervisor.run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _supervisor(
    who: ControllerIdentity, environ: Mapping[str, str], root: Path, folder: Path, happenings: queue.SimpleQueue[Happening]
) -> Supervisor:
    store = store_at(who.uri, environ)
    there = store.get(LAUNCH)
    if there is None:
        raise UserError(f"{who.uri}/{LAUNCH}", "there is none: nothing was launched here, or it was cleaned", "launch the run again")
    record = from_json(there.body, f"{who.uri}/{LAUNCH}")
    job = InJob(who, record, store, store_at(shared_root(who.uri), environ), Clients(None, environ), environ, root, folder, happenings)
    max_run_s, used_s = job.time()
    may_succeed = who.generation < int(record.controller.get("generations", 1))
    restarts = Restarts(int(record.controller.get("restarts", 3)))
    return Supervisor(job, restarts, max_run_s, used_s, may_succeed=may_succeed, earlier=job.earlier())
