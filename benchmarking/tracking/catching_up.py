"""Brings experiments to a tracker: reads what is new in their journals and writes what the tracker lacks, as often as it is asked."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from backends.common.file_lock import NoLocksError, try_lock
from backends.tracked import KnownRun, Tracker, TrackerError, changes
from benchmarking.archive.folder import read_nonce
from benchmarking.archive.folder_lock import is_held
from benchmarking.archive.stored import StoredExperiment, experiments_of, load
from benchmarking.tracking.translation import Translation
from definitions import strict_json
from definitions.errors import UserError

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_REFUSALS = 3
"""Runs that a tracker may refuse one after the other before the rest is tried later."""


class FollowedExperiment:
    """One experiment that a tracker is told of.

    Args:
        folder: of the experiment.
        is_live: returns whether a controller is at work in a folder.
    """

    def __init__(self, folder: Path, is_live: Callable[[Path], bool] = is_held) -> None:
        self.folder, self._is_live = folder, is_live
        self.is_told = False
        """Whether the tracker has all that was in the journal when it was last looked at."""
        self._stored: StoredExperiment | None = None
        self._translation: Translation | None = None
        self._known: dict[str, KnownRun] | None = None
        self._told: tuple[Any, ...] | None = None
        self._lock: int | None = None

    def catch_up(self, tracker: Tracker, refused: Callable[[str], None]) -> None:
        """Tell a tracker what it lacks.

        Args:
            tracker: is told.
            refused: called with what is said of a run that the tracker does not take; the others are told all the same.

        Raises:
            TrackerError: not all could be told; what is lacking is looked up anew the next time.
            UserError: the experiment cannot be read.
        """
        # Looked at before the journal: of one that ends in between, the end is told the next time.
        live = self._is_live(self.folder)
        now = (live, *_files(self.folder))
        if self._told == now:
            return
        self.is_told = False
        translation = self._read()
        if translation is None:
            self._told, self.is_told = now, True
            return
        if not self._locked():
            return
        wanted = translation.experiment(live=live)
        refusals = 0
        try:
            if self._known is None:
                self._known = tracker.find(wanted)
            for change in changes(wanted, self._known, tracker.as_kept):
                try:
                    self._known[change.run.job] = tracker.write(change, self._known)
                    refusals = 0
                except TrackerError as error:
                    refusals += 1
                    # Without its own run there is nothing that those of its trials could belong to.
                    if error.will_pass or refusals >= _REFUSALS or change.run is wanted.whole:
                        raise
                    refused(f"{change.run.name}: {error}")
        except TrackerError:
            # Whether a call that was not answered had an effect, only the tracker knows.
            self._known = None
            raise
        self._told, self.is_told = now, True
        if not live:
            self.close()

    def close(self) -> None:
        """Let others tell of this experiment."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _read(self) -> Translation | None:
        """Return what the journal says by now; None where it has not begun."""
        if self._stored is None:
            stored = load(self.folder)
            if not stored.is_started:
                return None
            self._stored = stored
            prefix = stored.spec.job_prefix(read_nonce(self.folder))
            self._translation = Translation(stored.spec, prefix, _commit(self.folder), stored.region)
        assert self._translation is not None
        # Opened for each look, so that a controller which ends finds nobody at its journal.
        with self._stored.journal() as journal:
            for record in journal.records(self._translation.sequence):
                self._translation.take(record)
        return self._translation if self._translation.sequence else None

    def _locked(self) -> bool:
        """Return whether nobody else tells of this experiment: two at once would make its runs twice."""
        if self._lock is not None:
            return True
        path = self.folder / "tracking.lock"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            return True  # a folder that cannot be written has no controller either
        held = False
        with contextlib.suppress(NoLocksError):
            held = try_lock(descriptor, fcntl.LOCK_EX, path, "")
        if held:
            self._lock = descriptor
        else:
            os.close(descriptor)
        return held


class Telling:
    """Tells a tracker of several experiments, and is patient with it.

    Args:
        make: makes the tracker of an experiment; called anew where that failed.
        name: of the tracker, for people.
        say: takes a line for people; each is said once.
        now: monotonic seconds.
    """

    def __init__(self, make: Callable[[], Tracker], name: str, say: Callable[[str], None], now: Callable[[], float]) -> None:
        self._make, self._name, self._say, self._now = make, name, say, now
        self._trackers: dict[Path, Tracker] = {}
        self._experiments: dict[Path, FollowedExperiment] = {}
        self._tags: set[Path] = set()
        self._said: set[str] = set()
        self._retry_at = 0.0
        self.failures = 0
        """How often in a row the tracker could not be told."""
        self.last_error = ""
        self.refused = False
        """Whether the tracker does not take something, whatever is done again."""

    def follow(self, folder: Path) -> None:
        """Tell of an experiment from now on."""
        self._experiments.setdefault(folder, FollowedExperiment(folder))

    def follow_all(self, tag_folder: Path) -> None:
        """Tell of all experiments of a tag from now on, also of those that are made later."""
        self._tags.add(tag_folder)

    @property
    def left(self) -> list[str]:
        """Folders of experiments of which the tracker does not have all yet."""
        return [str(one.folder) for one in self._experiments.values() if not one.is_told]

    def round(self) -> bool:
        """Tell what is new, where it is not too soon after a failure; return whether the tracker has all then."""
        if self._now() < self._retry_at:
            return False
        try:
            for tag_folder in self._tags:
                for folder in experiments_of(tag_folder):
                    self.follow(folder)
            for one in [*self._experiments.values()]:
                self._catch_up(one, self._tracker_of(one.folder))
        except TrackerError as error:
            self.failures += 1
            self._retry_at = self._now() + min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (self.failures - 1))
            self.last_error = str(error)
            self.refused = not error.will_pass
            if self.failures == 1:
                self.say(f"{self._name} could not be told: {error}; nothing waits for it, and what it lacks is told as soon as it can be")
            return False
        if self.failures:
            self.say(f"{self._name} takes what it is told again")
            self._said.clear()
        self.failures, self.last_error, self.refused = 0, "", False
        return not self.left

    def say(self, line: str) -> None:
        """Say a line, once until the tracker is well again."""
        if line not in self._said:
            self._said.add(line)
            self._say(line)

    def close(self) -> None:
        """Let go of all experiments."""
        for one in self._experiments.values():
            one.close()

    def _tracker_of(self, folder: Path) -> Tracker:
        # Each has its own: what a tracker knows of an experiment that is told in between must not get into the next.
        if folder not in self._trackers:
            self._trackers[folder] = self._make()
        return self._trackers[folder]

    def _catch_up(self, one: FollowedExperiment, tracker: Tracker) -> None:
        if not one.folder.is_dir():
            del self._experiments[one.folder]  # it was refused before it began, and left nothing
            return
        try:
            one.catch_up(tracker, lambda text: self.say(f"{self._name} does not take {text}"))
        except UserError as error:
            self.say(str(error))
            return
        finally:
            for remark in tracker.remarks():
                self.say(remark)


def _files(folder: Path) -> tuple[tuple[int, int], ...]:
    """Return by what one sees that a journal is as it was: size and time of its files, without opening them."""
    found = []
    for name in ("journal.sqlite", "journal.sqlite-wal"):
        with contextlib.suppress(OSError):
            status = (folder / name).stat()
            # Who reads a journal that was closed makes an empty log beside it.
            if status.st_size:
                found.append((status.st_size, status.st_mtime_ns))
    return tuple(found)


def _commit(folder: Path) -> str:
    """Return the commit of the script's repository as environment.json says; empty where that is not known."""
    try:
        git: Any = strict_json.loads((folder / "environment.json").read_text(encoding="utf-8"))["git"]
        return str(git["commit"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def rounds(telling: Telling, *, tries: int, sleep: Callable[[float], None]) -> Iterator[bool]:
    """Tell until the tracker has all, and yield whether it has; end after so many failures in a row, or where it refuses."""
    while True:
        whole = telling.round()
        yield whole
        # A round without a failure that left something found it in another process's hands, or unreadable: waiting longer would not help.
        if whole or telling.refused or telling.failures >= tries or not telling.failures:
            return
        sleep(0.2)
