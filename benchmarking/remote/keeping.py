"""Keeps the state of experiments in an object store, as it becomes."""

from __future__ import annotations

from backends.object_store import ObjectStore
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.interfaces import Observer
from benchmarking.controller.journal import Journal
from benchmarking.remote.layout import experiment_key
from benchmarking.remote.opening import open_journal
from benchmarking.remote.segments import Writer
from benchmarking.remote.shipping import ShippingPace


class StoreKeeper:
    """Keeps journals and files in a store, too; see `Keeper`.

    Args:
        store: of the run.
        writer: who this is.
        pace: when records are to go.
    """

    def __init__(self, store: ObjectStore, writer: Writer, pace: ShippingPace) -> None:
        self._store, self._writer, self._pace = store, writer, pace

    def prepared(self, spec: ExperimentSpec) -> None:
        """Write what the experiment is."""

    def journal(self, spec: ExperimentSpec) -> Journal:
        """Open the journal, which nobody else writes from now on."""
        return open_journal(self._store, spec.folder, key_of(spec), self._writer, self._pace)

    def observers(self, spec: ExperimentSpec) -> tuple[Observer, ...]:
        """Return what says how the experiment stands."""
        return ()

    def ended(self, spec: ExperimentSpec) -> None:
        """Write the files."""


def key_of(spec: ExperimentSpec) -> str:
    """Return what the keys of an experiment begin with."""
    return experiment_key(spec.definition.name, spec.method, spec.backend, spec.number)
