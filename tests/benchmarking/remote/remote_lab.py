"""Journals in a fake store, on a clock that tests set."""

from __future__ import annotations

import contextlib
import dataclasses

from backends.simulated.backend import SimulatedBackend
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.experiment import run_experiment
from benchmarking.methods.registry import experiment_spec
from benchmarking.remote.journal_restoring import numbers_of, restore_journal
from benchmarking.remote.keeping import StoreKeeper
from benchmarking.remote.layout import segment_key
from benchmarking.remote.live import LiveWords
from benchmarking.remote.marked import MarkedEnds
from benchmarking.remote.segments import Writer, decoded
from benchmarking.remote.shipping import Shipper, ShippingPace
from benchmarking.surroundings import Surroundings
from definitions.resolve import Resolved
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeTable, definition

EXPERIMENT = "demo/RS-sagemaker-0"
ONE, TWO = Writer("1" * 16, "1", 1), Writer("2" * 16, "1", 2)


class Clock:
    """Seconds that pass where somebody waits."""

    def __init__(self):
        self.now, self.waits = 1000.0, []

    def wait(self, event, seconds):
        self.waits.append(seconds)
        self.now += seconds or 0.0

    @property
    def pace(self):
        return ShippingPace(lambda: self.now, self.wait)


class Inline:
    """An executor that does things at once."""

    map = staticmethod(map)


def shipper_of(store, writer=ONE, clock=None, shipped=0, last=0):
    return Shipper(store, EXPERIMENT, writer, shipped, last, (clock or Clock()).pace)


def rows_of(*sequences, kind="reported"):
    return tuple((sequence, 10.0 + sequence, kind, f'{{"n":{sequence}}}') for sequence in sequences)


def segments_in(store, experiment=EXPERIMENT):
    """Return the segments that are there, in order."""
    keys = [one.key for one in store.list(f"{experiment}/journal/")]
    assert keys == [segment_key(experiment, number) for number in range(1, len(keys) + 1)]
    return [decoded(store.get(key).body, key) for key in keys]


def restored(store, folder, **options):
    return restore_journal(store, folder, numbers_of(store, EXPERIMENT), Inline, **options)


def rows_in(folder):
    with contextlib.closing(SqliteJournal(folder / "journal.sqlite", read_only=True)) as journal:
        return (*journal.rows(),)


def fake_spec(folder, number=0):
    """Return a simulated experiment of four trials, whose results are below the folder."""
    (folder / "fake.py").write_text("")
    fake = definition(budget=Budget(max_num_trials=4), source_dir=str(folder), simulated={"table": "none.csv"})
    spec = experiment_spec(Resolved(fake, {}, "simulated"), "RS", 1 + number, "t", folder / "results", {})
    return dataclasses.replace(spec, number=number)


def run_kept(spec, store, writer=ONE, **options):
    """Run an experiment whose state is kept in a store."""
    pace = Clock().pace
    words = LiveWords(store, writer, lambda spec, state: {"trials": len(state.trials)}, lambda: 1.0, pace, start=lambda thread: None)
    keeper = StoreKeeper(store, writer, pace, words, MarkedEnds(store, pace, start=lambda thread: None))
    made = {"make_backend": lambda name, context: SimulatedBackend(FakeTable()), "keeper": keeper}
    return run_experiment(spec, Surroundings({}, spec.results_dir.parent / "cache", **(made | options)))
