"""Where the state of an experiment is kept: in its folder, and perhaps elsewhere too, so that others can go on with it."""

from __future__ import annotations

from typing import Protocol

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.interfaces import Observer
from benchmarking.controller.journal import Journal
from benchmarking.controller.sqlite_journal import SqliteJournal


class Keeper(Protocol):
    """Opens journals, and is told when the files beside them are there. Its methods are called by who has locked the folder."""

    @property
    def uri(self) -> str:
        """Where the state of the whole run is kept elsewhere; empty where it is not."""
        ...

    def fetch(self, spec: ExperimentSpec) -> None:
        """Bring what is known of it elsewhere to its folder, before anything is written there; raises `OutriderError` where that fails."""
        ...

    def prepared(self, spec: ExperimentSpec) -> None:
        """Take note that it is written down what the experiment is, before anything of it runs.

        Raises:
            OutriderError: what it is cannot be kept, or is another elsewhere.
        """
        ...

    def journal(self, spec: ExperimentSpec) -> Journal:
        """Open its journal for writing; raises `UserError` where that cannot be, `JournalLostError` where another controller has it."""
        ...

    def observers(self, spec: ExperimentSpec) -> tuple[Observer, ...]:
        """Return what is called after each record."""
        ...

    def ended(self, spec: ExperimentSpec) -> None:
        """Take note that its files are as they stay until somebody goes on with it; raises `OutriderError` where they cannot be kept."""
        ...


class FolderKeeper:
    """Keeps the state in the experiment's folder alone."""

    uri = ""

    def fetch(self, spec: ExperimentSpec) -> None:
        """Do nothing: what there is is there."""

    def prepared(self, spec: ExperimentSpec) -> None:
        """Do nothing: it is where it is to be."""

    def journal(self, spec: ExperimentSpec) -> Journal:
        """Open the journal in the folder."""
        return SqliteJournal(spec.folder / "journal.sqlite")

    def observers(self, spec: ExperimentSpec) -> tuple[Observer, ...]:
        """Return none."""
        return ()

    def ended(self, spec: ExperimentSpec) -> None:
        """Do nothing: it is where it is to be."""
