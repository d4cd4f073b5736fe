"""What the experiments of one invocation share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backends.backend_context import BackendContext
from backends.base import Backend
from backends.registry import make_backend
from benchmarking.archive.keeper import FolderKeeper, Keeper
from benchmarking.controller.interfaces import Observer, Wallet
from benchmarking.controller.tuner import Tuner


@dataclass(frozen=True)
class Surroundings:
    """What experiments of one invocation share.

    Args:
        environ: the controller's environment.
        cache: folder for generated data sets.
        wallet: money spent by the invocation's earlier experiments.
        observers: called after each record.
        started: called with the loop before it runs, so that it can be interrupted, and with the number of workers.
        decided: called with a line for each thing that is decided for the user, before the loop runs.
        waiting: called with what an experiment waits for before its first job, whenever that changes.
        make_backend: makes the back-end; for tests.
        accept_changes: go on with an experiment although its code is another than was measured.
        trackers: kinds of trackers that are told of the experiments while they run.
        keeper: where the state of the experiments is kept.
    """

    environ: Mapping[str, str]
    cache: Path
    wallet: Wallet = field(default_factory=Wallet)
    observers: tuple[Observer, ...] = ()
    started: Callable[[Tuner, int], None] = lambda tuner, n_workers: None
    decided: Callable[[Sequence[str]], None] = lambda lines: None
    waiting: Callable[[str], None] = field(default=lambda text: None, kw_only=True)
    make_backend: Callable[[str, BackendContext], Backend] = make_backend
    accept_changes: bool = False
    trackers: tuple[str, ...] = ()
    keeper: Keeper = field(default_factory=FolderKeeper)
