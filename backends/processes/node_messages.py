"""What whoever distributes jobs over machines and the process that runs them on one of these say to each other, over pipes."""

from __future__ import annotations

import dataclasses
import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from backends.events import Ended, Event
from backends.failures import Cause
from backends.job_spec import JobSpec

_LENGTH = struct.Struct("!Q")


@dataclass(frozen=True)
class NodeSettings:
    """How jobs are run on a machine; the first message to it.

    Args:
        folder: where jobs, their logs and their checkpoints lie, made where it is not there; relative to the machine's own scratch folder.
        token: what the marks of all jobs begin with.
        grace_s: most seconds between TERM and KILL.
        environment: variables that jobs inherit; None for those of the machine.
        python: interpreter of `.py` scripts; empty for the one that runs this.
        preload: modules that a warm worker keeps imported.
        checkpoints: folder of checkpoints; empty for one in `folder`; or where else whoever starts the process keeps them.
        store: variables by which that is reached.
        sends_logs: whether what jobs print is sent, as whoever follows them cannot read `folder`.
    """

    folder: str
    token: str
    grace_s: float
    environment: Mapping[str, str] | None = None
    python: str = ""
    preload: tuple[str, ...] = ()
    checkpoints: str = ""
    sends_logs: bool = True
    store: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class StartJob:
    """A job to be started now.

    Args:
        spec: what it runs.
        cores: how many it was promised; it is tied to none.
        gpus: names of its own, as `CUDA_VISIBLE_DEVICES` has them.
        memory_bytes: that its processes may use together; None for its cores' part of the machine.
        source: folder, relative to the machine's own scratch folder, that is to be taken for `spec.source_dir`; empty where that is there.
        environment: variables for this machine's part of the job alone.
    """

    spec: JobSpec
    cores: int
    gpus: tuple[str, ...] = ()
    memory_bytes: int | None = None
    source: str = ""
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class StopJob:
    """A job that is to end; one that is not known is ignored."""

    name: str
    reason: Cause


@dataclass(frozen=True)
class FinishJobs:
    """All jobs are to end within so many seconds, and the process with them."""

    grace_s: float


NodeMessage = NodeSettings | StartJob | StopJob | FinishJobs


@dataclass(frozen=True)
class LogPiece:
    """What a job has printed since the last piece; `at`: how many bytes it had printed before."""

    job: str
    text: bytes
    at: int = 0


@dataclass(frozen=True)
class NodeBatch:
    """What happened on a machine since the last batch.

    Args:
        now: its clock when this was sent, as that of the events.
        is_urgent: whether somebody may wait for it: all but reports, progress and output.
        survivors: jobs that could not be ended, where this is the last batch; None where it is not.
    """

    now: float
    events: tuple[Event, ...] = ()
    logs: tuple[LogPiece, ...] = ()
    is_urgent: bool = False
    survivors: tuple[str, ...] | None = None


def framed(message: NodeMessage) -> bytes:
    """Return a message to a machine as it is written to a pipe."""
    content = pickle.dumps(message)
    return _LENGTH.pack(len(content)) + content


def framed_batch(batch: NodeBatch) -> bytes:
    """Return a batch as it is written to a pipe.

    For those who only pass it on its first line says what they have to know: `!` where it is urgent, else `.`, and which jobs have ended.
    """
    ended = " ".join(event.job for event in batch.events if isinstance(event, Ended))
    content = f"{'!' if batch.is_urgent else '.'}{ended}\n".encode() + pickle.dumps(batch)
    return _LENGTH.pack(len(content)) + content


def batch_of(content: bytes) -> NodeBatch:
    """Return the batch that was written."""
    found = pickle.loads(content.partition(b"\n")[2])
    assert isinstance(found, NodeBatch)
    return found


class FrameBuffer:
    """Puts messages together from pieces as they arrive."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the bytes of the messages that are whole now."""
        self._rest += piece
        found = []
        while len(self._rest) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._rest)[0]
            if len(self._rest) < end:
                break
            found.append(bytes(self._rest[_LENGTH.size : end]))
            del self._rest[:end]
        return found
