"""Saves states one after another, keeps the last, and notes for how long training stood still and when each was there for good."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from .filling import bytes_in
from .stores import CheckpointWriter


class CheckpointFailedError(RuntimeError):
    """A checkpoint could not be saved or read back: says which, where, and why."""


@dataclass(frozen=True)
class Save:
    """One checkpoint, as one rank saved it.

    Args:
        name: in the store.
        size_bytes: of the tensors that this rank handed over.
        stored_bytes: that it takes in the store, of all ranks.
        stall_s: seconds for which training stood still: waiting for the one before, gathering, copying, and writing where it is not async.
        durable_s: seconds from the beginning of the save until it was written, and on the device where that is asked for.
        cpu_s: processor seconds of this process; None where training went on beside it.
    """

    name: str
    size_bytes: int
    stored_bytes: int
    stall_s: float
    durable_s: float
    cpu_s: float | None


@dataclass
class _Begun:
    name: str
    size_bytes: int
    stall_s: float
    began_s: float
    done: Future[Any]
    ended_s: float | None = None
    cpu_s: float | None = None


class Saver:
    """Saves into a store; the last checkpoint stays until the next is whole.

    Args:
        store: where to.
        place: what the store is called in errors.
        is_async: whether training goes on while a state is written.
        rank: of this process.
        barrier: waits for all ranks, as training does that goes on only together.
        clock: monotonic seconds.
        cpu_clock: processor seconds of this process.
    """

    def __init__(
        self,
        store: CheckpointWriter,
        place: str,
        *,
        is_async: bool = False,
        rank: int = 0,
        barrier: Callable[[], Any] = lambda: None,
        clock: Callable[[], float] = time.perf_counter,
        cpu_clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._store, self._place, self._async, self._clock, self._cpu_clock = store, place, is_async, clock, cpu_clock
        self._rank, self._barrier = rank, barrier
        self._count = 0
        self._under_way: _Begun | None = None
        self._finished: list[Save] = []
        self.last = ""

    @property
    def has_saved(self) -> bool:
        """Whether anything was saved, or is being saved."""
        return self._count > 0

    def save(self, state: Callable[[], Mapping[str, Any]]) -> float:
        """Save what is handed over, and return for how many seconds training stood still.

        Args:
            state: gathers it; part of the save.

        Raises:
            CheckpointFailedError: this one, or the one before, could not be written.
        """
        asked_s, asked_cpu_s = self._clock(), self._cpu_clock()
        self._settle()
        began_s = self._clock()
        self._count += 1
        name = f"step-{self._count:06d}"
        with self._telling(name, "saved"):
            handed = state()
            begun = _Begun(name, bytes_in(handed), 0.0, began_s, Future())
            if self._async:
                begun.done = self._store.begin(handed, name)
                begun.done.add_done_callback(lambda _: setattr(begun, "ended_s", self._clock()))
            else:
                self._store.save(handed, name)
                begun.ended_s, begun.cpu_s = self._clock(), self._cpu_clock() - asked_cpu_s
                begun.done.set_result(None)
                self._barrier()
        self._under_way = begun
        if not self._async:
            self._settle()
        stall_s = self._clock() - asked_s
        if self._async:
            begun.stall_s = stall_s
        else:
            self._finished[-1] = replace(self._finished[-1], stall_s=stall_s)
        return stall_s

    def warm_up(self) -> None:
        """Save, load and delete next to nothing, so that what is done only once (imports, connections, threads) counts for none."""
        import torch

        with self._telling("warm-up", "saved"):
            state = {"warm": torch.ones(1)}
            if self._async:
                self._store.begin(state, "warm-up").result()
            else:
                self._store.save(state, "warm-up")
            self._barrier()
            self._store.load("warm-up", {"warm": torch.zeros(1)})
            self._barrier()
            self._store.remove("warm-up")

    def wait(self) -> list[Save]:
        """Wait for what is under way, and return the saves that were not returned before."""
        self._settle()
        found, self._finished = self._finished, []
        return found

    def finished(self) -> list[Save]:
        """Return the saves that are over and were not returned before, without waiting for what is under way."""
        if self._under_way is not None and self._under_way.done.done():
            self._settle()
        found, self._finished = self._finished, []
        return found

    def load(self, like: Mapping[str, Any]) -> tuple[Mapping[str, Any], float, float]:
        """Return the last checkpoint, with the seconds and the processor seconds that this took.

        Args:
            like: a state of the same shapes, which may be overwritten.
        """
        began_s, began_cpu_s = self._clock(), self._cpu_clock()
        with self._telling(self.last, "read back"):
            found = self._store.load(self.last, like)
        return found, self._clock() - began_s, self._cpu_clock() - began_cpu_s

    def close(self, *, remove: bool) -> None:
        """End the store's threads; whether the last checkpoint is deleted is said by `remove`."""
        with contextlib.suppress(CheckpointFailedError):
            self._settle()
        if remove and self.last:
            with contextlib.suppress(Exception):  # what ended training is worth more than what could not be deleted after it
                self._store.remove(self.last)
        self._store.close()

    def _settle(self) -> None:
        """Wait for what is under way; then the one before it can go."""
        begun, self._under_way = self._under_way, None
        if begun is None:
            return
        with self._telling(begun.name, "saved"):
            begun.done.result()
        # A future wakes who waits for it before it calls back.
        ended_s = begun.ended_s if begun.ended_s is not None else self._clock()
        with self._telling(begun.name, "found"):
            stored = self._store.stored_bytes(begun.name) if self._rank == 0 else 0
        self._finished.append(Save(begun.name, begun.size_bytes, stored, begun.stall_s, ended_s - begun.began_s, begun.cpu_s))
        if self.last:
            self._store.remove(self.last)
        self.last = begun.name

    @contextlib.contextmanager
    def _telling(self, name: str, what: str) -> Any:
        try:
            yield
        except Exception as error:
            raise CheckpointFailedError(
                f"checkpoint {name} could not be {what} at {self._place}: {type(error).__name__}: {error}"
                + (f"; the one before, {self.last}, is whole" if self.last and self.last != name else "")
            ) from error
