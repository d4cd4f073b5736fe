"""Leases of cores and GPUs that hold for the whole machine: lock files which the system frees when a controller dies.

A lease is shared knowledge of all experiments of one user, in one process or in many.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from backends.common.file_lock import try_lock
from definitions.errors import UserError

_ADVICE = "set OUTRIDER_LEASES to a folder of your own, the same for all experiments on this machine"


class Lease:
    """Cores and GPUs that somebody holds; see `LeaseBook.acquire`.

    Args:
        cores: numbers of the cores; `gpus`: names of the GPUs.
        give_back: makes them free again.
    """

    def __init__(self, cores: tuple[int, ...], gpus: tuple[str, ...], give_back: Callable[[], None]) -> None:
        self.cores = cores
        self.gpus = gpus
        self._give_back: Callable[[], None] | None = give_back

    def release(self) -> None:
        """Give everything back; a second call does nothing."""
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            give_back()


class LeaseBook:
    """Takes leases, never waits for them.

    An exclusive lease has the machine to itself. While one is wanted, or one of whoever waits in turn, the turnstile is held, so that
    the small leases of others do not starve it.

    Args:
        folder: where the lock files are; created if it does not exist.
        cores: the cores that may be leased; the order is the order of preference.
        owner: who leases, in words for others who wait: `experiment A`.

    Raises:
        UserError: the folder cannot be written to, or its file system has no locks.
    """

    def __init__(self, folder: Path, cores: Sequence[int], owner: str = "") -> None:
        self._folder = folder
        self._owner = f"{owner}, process {os.getpid()}" if owner else f"process {os.getpid()}"
        self._owner_bytes = self._owner.encode()
        self._cores = tuple(cores)
        self._turnstile: int | None = None
        self._trouble = ""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"the folder of leases {folder} cannot be made", str(error), _ADVICE) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UserError(f"the folder of leases {folder} cannot be written to", "", _ADVICE)
        # Tried once, so that a file system without locks is named before anything waits for one.
        tried = self._lock("tried", fcntl.LOCK_SH)
        if tried is not None:
            _unlock(tried)

    def acquire(self, cores: int, gpus: int, gpu_ids: Sequence[str], exclusive: bool, *, in_turn: bool = False) -> Lease | None:
        """Return a lease, or None where it cannot be had now; then `give_up` says that it is no longer wanted.

        Args:
            cores: how many cores.
            gpus: how many GPUs.
            gpu_ids: the GPUs that may be leased.
            exclusive: whether nothing else may hold a lease at the same time.
            in_turn: whether nobody who comes later is to get one before.
        """
        self._trouble = ""
        # The machine first: whoever may not enter must not take cores from others, not even for a moment.
        machine = self._enter_in_turn(exclusive) if exclusive or in_turn else self._enter()
        if machine is None:
            return None
        locks = [machine]
        taken_cores = self._take([f"core-{core}" for core in self._cores], cores, locks)
        taken_gpus = self._take([f"gpu-{gpu}" for gpu in gpu_ids], gpus, locks) if taken_cores is not None else None
        if taken_cores is None or taken_gpus is None:
            # All or nothing: half a lease kept would block others for nothing.
            _unlock_all(locks)
            return None
        self.give_up()
        return Lease(tuple(self._cores[at] for at in taken_cores), tuple(gpu_ids[at] for at in taken_gpus), partial(_unlock_all, locks))

    def held_by_others(self, gpu_ids: Sequence[str] = ()) -> str:
        """Return who else holds cores or GPUs of this machine: `both cores are leased by experiment A, process 123`; empty for nobody.

        Args:
            gpu_ids: GPUs that are wanted too.
        """
        cores = self._holders([f"core-{core}" for core in self._cores])
        gpus = self._holders([f"gpu-{gpu}" for gpu in gpu_ids])
        found = [
            f"{_share(len(held), count, what)} leased by {' and '.join(dict.fromkeys(held))}"
            for held, count, what in ((cores, len(self._cores), "core"), (gpus, len(gpu_ids), "GPU"))
            if held
        ]
        first = self._holders(["turnstile"])
        if not found and not first and self._trouble:
            return self._trouble
        return "; ".join(found) or (f"{first[0]} waits too and is first" if first else "")

    def _holders(self, names: Sequence[str]) -> list[str]:
        """Return what is written in those of the files that another process has locked."""
        found = []
        for name in names:
            lock = self._lock(name, fcntl.LOCK_SH)
            if lock is not None:
                _unlock(lock)
                continue
            with contextlib.suppress(OSError):
                owner = (self._folder / f"{name}.lock").read_text(encoding="utf-8", errors="replace").strip()
                found += [owner or "another process"] if owner != self._owner else []
        return found

    def give_up(self) -> None:
        """Let others pass the turnstile again."""
        if self._turnstile is not None:
            _unlock(self._turnstile)
            self._turnstile = None

    def _enter(self) -> int | None:
        # Passed and let go at once: it only has to be free of an exclusive lease that is wanted.
        turnstile = self._lock("turnstile", fcntl.LOCK_SH)
        if turnstile is None:
            return None
        try:
            return self._lock("machine", fcntl.LOCK_SH)
        finally:
            _unlock(turnstile)

    def _enter_in_turn(self, exclusive: bool) -> int | None:
        # Kept from one try to the next, so that the leases of others run out and no new ones come.
        if self._turnstile is None:
            self._turnstile = self._lock("turnstile", fcntl.LOCK_EX)
        return None if self._turnstile is None else self._lock("machine", fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)

    def _take(self, names: Sequence[str], count: int, locks: list[int]) -> list[int] | None:
        """Lock `count` of the names and return their places; None where there are fewer. What was locked is in `locks` either way."""
        taken: list[int] = []
        for at, name in enumerate(names):
            if len(taken) == count:
                break
            lock = self._lock(name, fcntl.LOCK_EX)
            if lock is not None:
                locks.append(lock)
                taken.append(at)
        return taken if len(taken) == count else None

    def _lock(self, name: str, kind: int) -> int | None:
        path = f"{self._folder}/{name}.lock"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            # No descriptors or no space left: not now, but who waits is to know for what.
            self._trouble = f"{self._folder / name}.lock cannot be opened: {error.strerror or error}"
            return None
        taken = False
        try:
            taken = try_lock(descriptor, kind, path, _ADVICE)
        finally:
            if not taken:
                os.close(descriptor)
        if taken and kind == fcntl.LOCK_EX:
            with contextlib.suppress(OSError):  # a full disk: then nobody is told who has it
                # Mostly the same owner as before, and reading is cheaper than writing.
                if os.pread(descriptor, len(self._owner_bytes) + 1, 0) != self._owner_bytes:
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, self._owner_bytes, 0)
        return descriptor if taken else None


def _share(held: int, count: int, what: str) -> str:
    if held < count:
        return f"{held} of {count} {what}s {'is' if held == 1 else 'are'}"
    return f"the only {what} is" if count == 1 else f"both {what}s are" if count == 2 else f"all {count} {what}s are"


def _unlock_all(descriptors: list[int]) -> None:
    while descriptors:
        _unlock(descriptors.pop())


def _unlock(descriptor: int) -> None:
    # Unlocked and not only closed: a forked child of this process may have the descriptor too.
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
