"""The back-end contract: jobs go in, events come out. Every back-end passes the suite in tests/backends/contract.py."""

from __future__ import annotations

import abc
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backends.checks import Check, CheckRequest, CheckStatus, PermissionDocument, capacity_checks
from backends.deployment import Deployment
from backends.events import Event
from backends.failures import Cause
from backends.job_input import JobInput
from backends.storage import Storage
from backends.worker_needs import WorkerNeeds
from definitions.errors import UserError
from definitions.file_source import FileSource
from definitions.made_at_once import made_at_once
from definitions.metrics import NO_SOURCES, MetricSources
from definitions.schema import BenchmarkDefinition


@dataclass(frozen=True)
class Limits:
    """Limits of one job, in seconds: `max_run_s` from its start (None: as long as it takes), `grace_s` between TERM and KILL."""

    max_run_s: float | None = 3600.0
    grace_s: float = 5.0


@made_at_once
@dataclass(frozen=True)
class JobSpec:
    """One execution of a trial, fully described.

    Args:
        name: unique within the experiment and valid as a SageMaker job name.
        trial: number of the trial; `attempt`: 1 for its first job.
        script: absolute path of the program, empty where a command starts none; `arguments`: its argument list, values unsplit.
        command: what is started in place of the script and its arguments; empty for these. `${place}` in a word is filled in by the
            back-end (`backends.common.command_line.filled`), `$${` is `${`.
        parameters: the script's arguments by name, as values.
        files: text by name, which the job finds as `${arguments_file}`.
        source_dir: absolute path of the folder of script and command; on the path of Python's imports where there is a command.
        working_dir: absolute path of where the job starts on this machine; empty for a folder of its own.
        prepare, cleanup: commands that run before and after what is measured; `warmup_runs`: unmeasured runs before the measured one.
        is_silent: whether success without a report is success; `is_measured_alone`: whether the script is to be measured apart from what
            else the job does.
        environment: variables added to the back-end's own.
        instance_type: e.g. `local.2cpu`, `ml.g5.xlarge`; `instance_count`: how many.
        configuration: the trial's configuration, as the method suggested it.
        level: per-job fidelity this job runs at; None where the benchmark has none.
        repeat: number of the repeated measurement, from 0.
        checkpoint: key under which the trial keeps its checkpoint, across attempts.
        restore_from: key of the checkpoint to start from; None to start afresh.
        exclusive: whether nothing else may run beside it (local).
        metrics: where metrics are found in its output, beside its reports.
        log_cap_bytes: most bytes of its log that are kept; None for all.
        metric_files: files that it writes metrics to; places in their paths are filled in by the back-end.
        requirements: packages that our readers and writers take for what this job does, as pip knows them; installed where jobs run
            elsewhere.
        endpoint: what is deployed first, for the script to call; None where the script is all.
    """

    name: str
    trial: int
    attempt: int
    script: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    source_dir: str = ""
    working_dir: str = ""
    prepare: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    warmup_runs: int = 0
    is_silent: bool = False
    is_measured_alone: bool = False
    instance_type: str = ""
    instance_count: int = 1
    inputs: tuple[JobInput, ...] = ()
    requirements: tuple[str, ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)
    level: float | None = None
    repeat: int = 0
    checkpoint: str = ""
    restore_from: str | None = None
    limits: Limits = Limits()
    exclusive: bool = False
    metrics: MetricSources = NO_SOURCES
    metric_files: tuple[FileSource, ...] = ()
    log_cap_bytes: int | None = None
    endpoint: Deployment | None = None


@dataclass(frozen=True)
class AdoptedJob:
    """A job that an earlier controller knew, as its journal has it.

    Args:
        spec: what was submitted.
        submitted_at: time of the intent; the effect may or may not have happened.
        last_event_at: time of its last event in the journal; None where there was none.
        accepted_at: time of its `Accepted`; None where that was not seen.
        started: whether `Started` was seen; `ended`: whether `Ended` was.
        reports: number of reports received of its current incarnation.
        received: metrics of all reports received, by (incarnation, sequence), by which a back-end knows what is new.
        stop_requested_at: time of the intent to stop it; None where there was none.
        memo: what the back-end noted of it for this moment (`Noted.memo`), all notes in one.
    """

    spec: JobSpec
    submitted_at: float
    last_event_at: float | None = None
    accepted_at: float | None = None
    started: bool = False
    ended: bool = False
    incarnation: int = 0
    reports: int = 0
    stop_requested_at: float | None = None
    stop_reason: Cause | None = None
    received: Mapping[tuple[int, int], Mapping[str, Any]] = field(default_factory=dict)
    memo: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class AdoptedPool:
    """Instances that an earlier controller knew to be kept warm, as its journal has it.

    Args:
        job: whose instances they were; `since`: time of its first `Retained`.
        kept: name of what is kept, where it is not the job's own.
    """

    job: str
    instance_type: str
    instance_count: int
    since: float
    kept: str = ""


@dataclass(frozen=True)
class Capabilities:
    """What a back-end can do.

    Args:
        virtual_time: `now()` is simulated, so waiting costs nothing.
        checkpoints: a trial's checkpoint outlives its job.
        survives_controller: jobs go on when the controller dies, so that they can be adopted.
        real_money: what it spends is billed.
        price_label: how prices are labelled: `nominal`, `emulated`, or empty for real ones.
        warm_pools: instances of an ended job may be kept for the next one that asks for the same (`idle`).
        endpoints: jobs may have an endpoint (`JobSpec.endpoint`).
    """

    virtual_time: bool = False
    checkpoints: bool = False
    survives_controller: bool = False
    real_money: bool = False
    price_label: str = ""
    warm_pools: bool = False
    endpoints: bool = False


class CheckpointStore(abc.ABC):
    """Where trials keep checkpoints, by key."""

    @abc.abstractmethod
    def copy(self, source: str, target: str) -> None:
        """Copy a checkpoint; one that does not exist copies to nothing."""

    @abc.abstractmethod
    def delete(self, keys: Sequence[str]) -> None:
        """Delete checkpoints; unknown keys are ignored."""

    @abc.abstractmethod
    def exists(self, key: str) -> bool:
        """Return whether the key has a checkpoint that is not empty."""


@dataclass(frozen=True)
class BackendContext:
    """What a back-end is made from.

    Args:
        definition: resolved for this back-end; its block holds the back-end's options.
        folder: the experiment's folder, for logs, jobs and checkpoints.
        seed: the experiment's seed; `environ`: the controller's environment; `tag`: of the invocation that the experiment belongs to.
        prefix: with which the names of all its jobs begin, and those of no other experiment.
        trackers: kinds of trackers that are told of it while it runs.
        run_uri: where the state of its whole run is kept beside the folder, e.g. `s3://bucket/prefix/runs/tag`; empty where the definition
            alone says where that would be.
    """

    definition: BenchmarkDefinition
    folder: Path
    seed: int = 0
    environ: Mapping[str, str] = field(default_factory=dict)
    tag: str = ""
    prefix: str = ""
    trackers: tuple[str, ...] = ()
    run_uri: str = ""


class Backend(abc.ABC):
    """Runs jobs. It is called from one thread alone; `submit` and `stop` return at once and what comes of them arrives through `wait`.

    Per job the events come in this order: `Rejected`; or `Accepted`, `Started`, any number of `Reported`, `Progressed` and
    `Restarted`, `Ended`, late `Reported` and `Progressed`, `Closed`. A job that is stopped or fails before it starts skips `Started`.
    Nothing follows `Rejected` or `Closed`.
    Times never decrease from one event to the next of the same job. `Noted` may come in between at any time, and `Retained` also later.
    """

    capabilities: Capabilities
    checkpoints: CheckpointStore
    region: str
    """Region whose prices count; those of this machine's shares are the same in all."""

    @classmethod
    @abc.abstractmethod
    def create(cls, context: BackendContext) -> Backend:
        """Make a back-end for one experiment; raises `UserError` where an option is missing or wrong."""

    @classmethod
    def expected_capabilities(cls, environ: Mapping[str, str]) -> Capabilities:
        """Return the capabilities that one made in this environment will have, before one is made."""
        return cls.capabilities

    @classmethod
    def problems(cls, definition: BenchmarkDefinition, instance_types: Sequence[str], environ: Mapping[str, str]) -> list[Check]:
        """Return what stands in the way of a first start; empty where nothing does.

        Args:
            definition: resolved for this back-end.
            instance_types: that its configurations can ask for.
            environ: the controller's environment.
        """
        return []

    @classmethod
    def checks(cls, request: CheckRequest) -> list[Check]:
        """Return all checks of a first start, in the order in which they are to be mended; those of `outrider doctor`.

        By default a back-end is made, and asked how many jobs of each instance type it can run at once.

        Raises:
            UserError: the back-end cannot be made.
        """
        definition = request.definition
        if definition is None:
            return []
        capacities: dict[str, int | str] = {}
        with tempfile.TemporaryDirectory() as scratch:
            backend = cls.create(BackendContext(definition, Path(scratch), 0, request.environ))
            try:
                for name in request.instance_types:
                    try:
                        capacities[name] = backend.capacity(name)
                    except UserError as error:
                        capacities[name] = ": ".join(part for part in (error.asked, error.fact) if part)
            finally:
                backend.close()
        resolves = Check("definition", CheckStatus.OK, f"{definition.name} resolves for this back-end")
        return [resolves, *capacity_checks(capacities, definition.n_workers)]

    @classmethod
    def permission_document(cls, kind: str, request: CheckRequest) -> PermissionDocument | None:
        """Return a document that gives somebody what they need to run jobs here; None where nobody needs anything.

        Args:
            kind: a policy of whoever starts Outrider (`caller`), of the role of jobs (`role`) or of those that run a study (`controller`),
                who may take these (`trust`); a template of all that (`template`), or of a network (`network`).
            request: for which definition, region and role.
        """
        return None

    @classmethod
    def lift_stop(cls, definition: BenchmarkDefinition, tag: str, environ: Mapping[str, str]) -> str:
        """Take back that somebody asked from elsewhere for the end of a run, as somebody wants it to go on; return what was taken back.

        Args:
            definition: resolved for this back-end.
            tag: of the run.
            environ: the controller's environment.
        """
        return ""

    @abc.abstractmethod
    def submit(self, job: JobSpec) -> None:
        """Ask for a job to be run.

        Raises:
            ValueError: a job of this name was submitted before.
        """

    @abc.abstractmethod
    def stop(self, job: str, reason: Cause) -> None:
        """Ask for a job to end; its `Closed` says `stopped` with this cause. Unknown and closed jobs are ignored; twice is once."""

    @abc.abstractmethod
    def wait(self, timeout_s: float | None) -> list[Event]:
        """Block until something happened or `timeout_s` seconds of `now()` have passed (None: no limit), and return what happened.

        With nothing submitted and no time-out it returns an empty list at once, as nothing can ever happen. What it returned is durable
        when it is called again, so that an effect which must not come before its record waits for the next call.
        """

    @abc.abstractmethod
    def adopt(self, jobs: Sequence[AdoptedJob], last_seen_at: float) -> None:
        """Take over jobs of an earlier controller of this experiment, before anything else is called.

        Each job either goes on (further events arrive, none of them twice), or is reported `Closed` as `lost`; one whose submission
        left no trace is `Closed` as `lost` as well where jobs die with their controller, else submitted anew.

        Args:
            jobs: all that were submitted and not closed, in the order of their submission.
            last_seen_at: time of the journal's last record; a back-end with virtual time goes on from there.
        """

    def adopt_pools(self, pools: Sequence[AdoptedPool]) -> None:  # noqa: B027 (most keep nothing)
        """Take over what an earlier controller knew to be kept, right after `adopt`; a final `Retained` follows for each."""

    @abc.abstractmethod
    def now(self) -> float:
        """Return UTC seconds since the epoch, never going back within one life of the back-end."""

    @abc.abstractmethod
    def capacity(self, instance_type: str) -> int:
        """Return how many jobs of this type could run at once with nothing else running; 0 where none ever can."""

    def there_is(self) -> str:
        """Return what there is for jobs, in words, e.g. `2 cores, no GPU, 8.0 GiB of memory`; empty where that is not known."""
        return ""

    def reserve(self, needs: WorkerNeeds, waiting: Callable[[str], None], given_up: Callable[[], bool]) -> None:  # noqa: B027 (most share nothing)
        """Take what all workers need until this back-end is closed, before the first job, and wait until it is there.

        Args:
            needs: of all workers.
            waiting: takes in words what is waited for, at first and whenever that changes.
            given_up: says whether it is wanted no more; looked at after `wake` too.
        """

    def idle(self, instance_type: str, instance_count: int, key: str = "") -> int:
        """Return how many sets of instances wait warm for a job that asks for these (`key`: its deployment's), but for submitted jobs."""
        return 0

    def storage(self) -> Storage | None:
        """Return where data have to be brought for jobs to find them, made sure to exist; None where they read this machine's disk.

        Raises:
            OutriderError: it cannot be used.
        """
        return None

    def discard(self, jobs: Sequence[str]) -> None:  # noqa: B027 (most keep nothing of a job but its log)
        """Delete the models that closed jobs left; logs stay, unknown jobs are ignored."""

    def written_bytes(self, job: str) -> int:
        """Return the bytes of this machine's disk that an open job has taken so far; 0 where it runs elsewhere."""
        return 0

    def release(self) -> None:  # noqa: B027 (most keep nothing)
        """Give up what is kept for later jobs, as none will come; a final `Retained` follows for each."""

    @abc.abstractmethod
    def wake(self) -> None:
        """Make a blocked or the next `wait` return early; safe in signal handlers and other threads."""

    @abc.abstractmethod
    def close(self, grace_s: float | None = None) -> list[str]:
        """Stop everything that still runs, release everything, and return the names of jobs that could not be stopped.

        Args:
            grace_s: most seconds that jobs get to end by themselves; None for the usual grace.
        """

    def detach(self) -> list[str]:
        """Release what this program holds and leave jobs running for whoever adopts them; where none outlives it, as `close`."""
        return self.close()
