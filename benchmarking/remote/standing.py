"""How a launched run stands, for whoever has its place in the store alone: one listing, and one read of each last word."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from backends.object_store import ListedObject, ObjectStore
from backends.stop_mark import KEY as STOP
from backends.stop_mark import StopMark, decoded
from benchmarking.remote import layout
from benchmarking.remote.controller_word import EVERY_S, ControllerState, ControllerWord, from_bytes
from benchmarking.remote.generations import read_generation
from benchmarking.report.text import duration
from benchmarking.studies.record import from_json
from definitions import strict_json
from definitions.errors import UserError

SILENT_S = 3 * EVERY_S
"""Seconds without a word after which a controller is not said to be running."""
_AT_ONCE = 16

UNSEEN_S = 120.0
"""Seconds for which a generation that was claimed may have no job, as it is about to be created."""


@dataclass(frozen=True)
class SeenJob:
    """A training job as the service shows it.

    Args:
        status: primary status; empty where the service does not tell.
        failure: why it failed; empty where it did not.
        is_there: False where the service says that there is no such job.
    """

    status: str = ""
    failure: str = ""
    is_there: bool = True

    @property
    def is_over(self) -> bool:
        """Whether it has ended; an interrupted job is started again by the service, which then shows it in progress."""
        return self.status not in ("InProgress", "Stopping", "")

    @property
    def end(self) -> str:
        """How it ended, in words."""
        words = "its job completed" if self.status == "Completed" else f"its job is {self.status.lower()}"
        return f"{words}: {self.failure}" if self.failure else words


class NoRunError(UserError):
    """A store has nothing of a run."""


JobStatus = Callable[[str], SeenJob]
"""Returns how the service shows a training job."""


@dataclass(frozen=True)
class SeenController:
    """One controller of a run.

    Args:
        controller: its number; `generation`: the last that is claimed.
        state: how it stands, in words.
        is_alive: whether it is at work, or about to be.
        silent_s: age of its last word in seconds; None where it has said none.
        restarts: how often its process was started again, with the last reason.
        seconds_left: until the limit of its job, as it said last; None where that is not known.
        job: name of its training job; `job_status`: as the service tells it.
    """

    controller: int
    generation: int
    state: str
    is_alive: bool
    silent_s: float | None = None
    restarts: tuple[str, ...] = ()
    seconds_left: float | None = None
    job: str = ""
    job_status: str = ""


@dataclass(frozen=True)
class SeenExperiment:
    """One experiment of a run.

    Args:
        name: its folder below the tag's.
        state: how it stands, in words.
        said: its last word, as `live_status` makes it; empty where it has said none.
    """

    name: str
    state: str
    said: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SeenRun:
    """A run.

    Args:
        controllers: by number.
        experiments: in the order of the study.
        mark: that it is to end; None where there is none.
    """

    controllers: tuple[SeenController, ...]
    experiments: tuple[SeenExperiment, ...]
    mark: StopMark | None = None

    @property
    def is_over_unfinished(self) -> str:
        """Why nobody is at work on it although it is not finished; empty where somebody is, or where it is."""
        unfinished = [one for one in self.experiments if one.said.get("standing") != "finished"]
        if not self.controllers or not unfinished or any(one.is_alive for one in self.controllers):
            return ""
        return "; ".join(f"controller {one.controller}, generation {one.generation}: {one.state}" for one in self.controllers)


def look_at(store: ObjectStore, now: float, job_status: JobStatus) -> SeenRun:
    """Return how a run stands.

    Args:
        store: of the run.
        now: seconds since 1970, by the clock that the store's stamps are by.
        job_status: asked once for each controller.

    Raises:
        NoRunError: there is no such run.
        OutriderError: the store refuses.
    """
    listed = {one.key: one for one in store.list()}
    if not listed or set(listed) == {STOP}:
        raise NoRunError(f"{store.uri}: there is no run", "nothing is kept there", "check the tag, --bucket and --prefix")
    wanted = [key for key in listed if key in (STOP, layout.STUDY) or key.endswith(f"/{layout.LIVE}")]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        read = {key: there.body for key, there in zip(wanted, pool.map(store.get, wanted), strict=True) if there is not None}
        numbers = _generations(listed)
        controllers = tuple(pool.map(lambda one: _controller(store, one, listed, read, now, job_status), sorted(numbers.items())))
    alive = any(one.is_alive for one in controllers)
    experiments = tuple(_experiment(name, read, alive=alive or not controllers) for name in _names(listed, read, store.uri))
    return SeenRun(controllers, experiments, decoded(read[STOP]) if STOP in read else None)


def _generations(listed: Mapping[str, ListedObject]) -> dict[int, int]:
    found: dict[int, int] = {}
    for key in listed:
        which = layout.generation_of(key)
        if which is not None:
            found[which[0]] = max(which[1], found.get(which[0], 0))
    return found


def _controller(
    store: ObjectStore,
    which: tuple[int, int],
    listed: Mapping[str, ListedObject],
    read: Mapping[str, bytes],
    now: float,
    job_status: JobStatus,
) -> SeenController:
    number, generation = which
    key = layout.controller_live_key(number)
    word = from_bytes(read[key]) if key in read else None
    if word is None or word.generation < generation:
        return _silent(store, which, listed, now, job_status)
    # By the store's stamps: the clock of the instance may be wrong by minutes.
    silent_s = max(0.0, now - listed[key].modified_at)
    job = job_status(word.job)
    state, is_alive = stands(word, silent_s, job)
    restarts = tuple(one.why for one in word.restarts)
    left_s = None if word.seconds_left is None or not is_alive else max(0.0, word.seconds_left - silent_s)
    return SeenController(number, generation, state, is_alive, silent_s, restarts, left_s, word.job, job.status)


def _silent(
    store: ObjectStore, which: tuple[int, int], listed: Mapping[str, ListedObject], now: float, job_status: JobStatus
) -> SeenController:
    """Return how a controller stands whose last generation has said nothing, as its job is about to begin, or never did."""
    claim = read_generation(store, *which)
    if claim is None:
        return SeenController(*which, "claimed, and has said nothing yet", is_alive=True)
    job = job_status(claim.job)
    age_s = now - listed[layout.generation_key(*which)].modified_at
    if job.is_over:
        return SeenController(*which, f"{job.end}; it has said nothing", is_alive=False, job=claim.job, job_status=job.status)
    if not job.is_there and age_s > UNSEEN_S:
        return SeenController(*which, f"claimed {duration(age_s)} ago, and its job was never created", is_alive=False, job=claim.job)
    return SeenController(*which, "claimed, and has said nothing yet", is_alive=True, job=claim.job, job_status=job.status)


def stands(word: ControllerWord, silent_s: float, job: SeenJob) -> tuple[str, bool]:
    """Return how a controller stands in words, and whether it is at work or another one follows by itself.

    Args:
        word: its last.
        silent_s: seconds since then.
        job: that it runs in.
    """
    why = f": {word.why}" if word.why else ""
    if word.state.is_final:
        return f"{word.state}{why}", False
    if job.is_over:
        is_followed = word.state is ControllerState.HANDED_OVER
        return (f"{word.state}{why}" if is_followed else f"{job.end}; it last said {word.state!s}{why}"), is_followed
    if silent_s > SILENT_S:
        shown = {"InProgress": "job in progress", "Stopping": "job is stopping"}.get(job.status, "what its job does is not known")
        return f"silent for {duration(silent_s)}, {shown}", True
    return f"{word.state}{why}", True


def _names(listed: Mapping[str, ListedObject], read: Mapping[str, bytes], uri: str) -> list[str]:
    """Return the folders of the experiments, in the order of the study, then those that it does not name."""
    names: dict[str, None] = {}
    if layout.STUDY in read:
        study = from_json(read[layout.STUDY].decode(), f"{uri}/{layout.STUDY}")
        backend = study.flags.backend
        names |= dict.fromkeys(layout.experiment_key(one.benchmark, one.method, backend, one.number) for one in study.experiments)
    for key in listed:
        found = layout.segment_of(key)
        if found is not None:
            names[found[0]] = None
    return list(names)


def _experiment(name: str, read: Mapping[str, bytes], *, alive: bool) -> SeenExperiment:
    body = read.get(layout.live_key(name))
    if body is None:
        return SeenExperiment(name, "waiting" if alive else "not started")
    try:
        said = dict(strict_json.loads(body.decode()))
    except ValueError:
        return SeenExperiment(name, "its last word cannot be read")
    state = str(said.get("standing", "unknown"))
    if state in ("running", "waiting") and not alive:
        state = "left"
    return SeenExperiment(name, state, said)
