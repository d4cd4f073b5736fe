"""Keeps the state of experiments in an object store, as it becomes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from backends.object_store import ListedObject, ObjectStore
from benchmarking.archive.folder import read_nonce
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.interfaces import Observer
from benchmarking.controller.journal import Journal
from benchmarking.remote.files import BEFORE_A_START, IDENTITY, fetch, kept_files, send
from benchmarking.remote.journal_restoring import numbers_of, restore_journal
from benchmarking.remote.layout import FILES, experiment_key, file_key
from benchmarking.remote.live import LiveWords
from benchmarking.remote.marked import MarkedEnds
from benchmarking.remote.opening import open_journal
from benchmarking.remote.segments import Writer
from benchmarking.remote.shipping import ShippingPace, TakenOverError
from definitions import strict_json
from definitions.backend_registry import backend_description

_AT_ONCE = 8


class StoreKeeper:
    """Keeps journals and files in a store, too; see `Keeper`.

    Args:
        store: of the run.
        writer: who this is.
        pace: when records are to go.
        words: says how the experiments stand.
        marks: asks those to end that are marked, where their back-end does not read marks itself.
    """

    def __init__(self, store: ObjectStore, writer: Writer, pace: ShippingPace, words: LiveWords, marks: MarkedEnds) -> None:
        self.uri = store.uri
        self._store, self._writer, self._pace, self._words, self._marks = store, writer, pace, words, marks

    def fetch(self, spec: ExperimentSpec) -> None:
        """Bring the files and the journal of an experiment that somebody began."""
        listed = self._store.list(f"{key_of(spec)}/{FILES}")
        shown = {one.key for one in listed}
        # A listing that lags does not show what was just written; whoever began the experiment has written these first.
        if (key := file_key(key_of(spec), IDENTITY)) not in shown and self._store.get(key) is not None:
            names = (file_key(key_of(spec), name) for name in (*BEFORE_A_START, IDENTITY))
            found = ((key, there) for key in names if key not in shown and (there := self._store.get(key)) is not None)
            listed = [*listed, *(ListedObject(key, len(there.body), there.etag, 0.0) for key, there in found)]
        with ThreadPoolExecutor(_AT_ONCE) as fetching:
            if fetch(self._store, spec.folder, listed, fetching):
                restore_journal(self._store, spec.folder, numbers_of(self._store, key_of(spec)), fetching)

    def prepared(self, spec: ExperimentSpec) -> None:
        """Write what the experiment is, before the first of its jobs gets its name from that.

        Raises:
            TakenOverError: somebody else began it at this moment.
            OutriderError: it cannot be written.
        """
        key, store = file_key(key_of(spec), IDENTITY), self._store
        there = store.get(key)
        if there is None:
            with ThreadPoolExecutor(_AT_ONCE) as sending:
                send(store, spec.folder, key_of(spec), BEFORE_A_START, sending)
            if store.create(key, (spec.folder / IDENTITY).read_bytes()):
                return
            there = store.get(key)
        if there is None or strict_json.loads(there.body.decode()).get("nonce") != read_nonce(spec.folder):
            raise TakenOverError(f"{spec.title}: another controller began it\n  {store.uri}/{key} is its; this one ends and touches no job")

    def journal(self, spec: ExperimentSpec) -> Journal:
        """Open the journal, which nobody else writes from now on."""
        return open_journal(self._store, spec.folder, key_of(spec), self._writer, self._pace)

    def observers(self, spec: ExperimentSpec) -> tuple[Observer, ...]:
        """Return what says how the experiment stands."""
        if backend_description(spec.backend).shares_this_machine:
            self._marks.begin(key_of(spec), spec.folder)
        return (self._words.observer(key_of(spec), spec),)

    def ended(self, spec: ExperimentSpec) -> None:
        """Write the files that are new since it began, and its last word."""
        self._marks.end(key_of(spec))
        self._words.last(key_of(spec))
        with ThreadPoolExecutor(_AT_ONCE) as sending:
            names = [name for name in kept_files(spec.folder) if name not in BEFORE_A_START]
            # What it is comes last, as it says under which budget it has ended.
            send(self._store, spec.folder, key_of(spec), [name for name in names if name != IDENTITY], sending)
            send(self._store, spec.folder, key_of(spec), [name for name in names if name == IDENTITY], sending)


def key_of(spec: ExperimentSpec) -> str:
    """Return what the keys of an experiment begin with."""
    return experiment_key(spec.definition.name, spec.method, spec.backend, spec.number)
