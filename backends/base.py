"""The back-end contract: jobs go in, events come out. Every back-end passes the suite in tests/backends/contract.py."""

from __future__ import annotations

import abc
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from backends.adopted import AdoptedJob, AdoptedPool
from backends.backend_context import BackendContext
from backends.capabilities import Capabilities
from backends.checkpoint_store import CheckpointStore
from backends.checks import Check, CheckRequest, CheckStatus, PermissionDocument, capacity_checks
from backends.events import Event
from backends.failures import Cause
from backends.job_spec import JobSpec
from backends.storage import Storage
from backends.worker_needs import WorkerNeeds
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition


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
        """Return what there is for jobs, as a sentence: `this machine has 2 cores, no GPU, 8.0 GiB of memory`; empty where nobody knows."""
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
