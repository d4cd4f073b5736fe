"""A launched run from Python: what `outrider.run(..., remote=True)` returns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from definitions.errors import UserError
from launch.collecting import collect, note_bill
from launch.launching.following import watch_of
from launch.launching.launching import Launched
from launch.launching.resuming import standings
from launch.launching.watching import state_text
from launch.remote.stopping import RunStopper

T = TypeVar("T")


class RemoteRun(Generic[T]):
    """A run whose study goes on in training jobs, whatever becomes of this process.

    Args:
        launched: what was launched.
        load: reads its results again, once they are here.
        results_folder: of its tag, into which it is collected.
        say: takes what its controllers say while it is awaited.
    """

    def __init__(self, launched: Launched, load: Callable[[], T], results_folder: Path, say: Callable[[str], None]) -> None:
        self.tag, self.jobs, self.uri = launched.place.tag, launched.jobs, launched.place.uri
        self._launched, self._load, self._folder, self._say = launched, load, results_folder, say

    def status(self) -> dict[str, str]:
        """Return how each controller stands: the job of its last generation, and its state in words; raises `CloudError`."""
        found = standings(self._launched.place, self._launched.record)
        shown = {one.claim.job: one.job for one in found if one.claim is not None}
        return {name: "not created" if job is None else state_text(job.description) for name, job in shown.items()}

    def wait(self, timeout_s: float | None = None) -> T:
        """Wait until no controller is at work, and return the results.

        Args:
            timeout_s: seconds to wait at most; None for as long as it takes.

        Raises:
            UserError: it is not over by then; it goes on.
            CloudError: AWS refuses to tell.
        """
        place, record = self._launched.place, self._launched.record
        if watch_of(place, record, self._say).until_over(timeout_s) is None:
            raise UserError(f"run {self.tag}: it is not over after {timeout_s:g} s", "it goes on", "wait again, or collect what there is")
        return self.collect()

    def collect(self) -> T:
        """Bring what was measured so far here, and return it; raises `UserError` where nothing was."""
        place = self._launched.place
        collect(place.store, place.shared, self._folder, self._say)
        note_bill(place.store, self._folder, place.clients)
        return self._load()

    def stop(self) -> bool:
        """Stop it and all its jobs; return whether nothing is left and no controller can start more."""
        place = self._launched.place
        return RunStopper(place.clients, place.tag, [place.store], self._say).stop().is_over

    def __repr__(self) -> str:
        return f"RemoteRun({self.tag!r}, jobs={list(self.jobs)})"
