"""A controller whose machine is lost after any kind of record: the next one, elsewhere, goes on with what the store has of it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarking.controller.journal import JournalLostError, Record
from benchmarking.live_status import live_status
from benchmarking.remote.keeping import StoreKeeper
from benchmarking.remote.live import LiveWords
from benchmarking.remote.marked import MarkedEnds
from benchmarking.remote.segments import Writer
from benchmarking.remote.shipping import ShippingPace
from tests.backends.memory_store import MemoryStore
from tests.backends.sagemaker.cloud_lab import CloudLab, Run

pytestmark = pytest.mark.slow

KINDS = ("suggest", "start", "accepted", "started", "reported", "ended", "closed", "settle", "tell", "end")
TRIALS = [{"x": number / 10, "steps": 2, "pause": 0.1} for number in range(3)]


class LostError(BaseException):
    """The machine is gone here."""


def keeper(store: MemoryStore, life: int) -> StoreKeeper:
    writer, pace = Writer(f"{life}" * 16, "1", life), ShippingPace(time.monotonic, retry_for_s=0.0)
    return StoreKeeper(store, writer, pace, LiveWords(store, writer, live_status(time.time), time.time, pace), MarkedEnds(store, pace))


def lost_after(store: MemoryStore, kind: str, nth: int = 1) -> Callable[[Record, Any, Any], None]:
    """Return what loses the machine after the nth record of a kind: no call gets out any more, and nothing here is kept."""
    seen = 0

    def watch(record: Record, state: Any, backend: Any) -> None:
        nonlocal seen
        seen += record.kind == kind
        if seen >= nth:
            store.failing = lambda operation, key: "refused"
            backend.close = backend.detach
            raise LostError

    return watch


def lives(lab: CloudLab, kind: str) -> Run:
    """Run an experiment whose first machine is lost after a kind of record, and whose second one sees it to its end."""
    first = MemoryStore()
    definition = lab.definition(TRIALS, n_workers=2)
    with pytest.raises((LostError, JournalLostError)):
        lab.run(definition, watch=lost_after(first, kind), keeper=keeper(first, 1), check=False)
    shutil.rmtree(lab.folder / "results")
    return lab.run(definition, keeper=keeper(MemoryStore(objects=first.objects), 2))


@pytest.mark.parametrize("kind", KINDS)
def test_lost_after_each_kind_of_record_each_trial_has_one_job_and_one_bill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    with CloudLab(tmp_path, monkeypatch) as lab:
        run = lives(lab, kind)
        assert run.statuses == ["completed"] * 3
        assert [trial.submissions for trial in run.result.state.trials.values()] == [1] * 3
        assert [trial.configuration["x"] for trial in run.result.state.trials.values()] == [0.0, 0.1, 0.2]
        assert len(lab.jobs()) == 3


class LosingStore(MemoryStore):
    """A store whose caller is lost as soon as it has taken an intent to start a job."""

    def create(self, key: str, body: bytes) -> bool:
        created = super().create(key, body)
        if b'"start"' in body:
            self.failing = lambda operation, key: "refused"
            raise LostError
        return created


def test_lost_between_an_intent_and_its_effect_the_next_one_creates_the_job_by_the_name_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with CloudLab(tmp_path, monkeypatch) as lab:
        store, definition = LosingStore(), lab.definition(TRIALS, n_workers=2)
        with pytest.raises((LostError, JournalLostError)):
            lab.run(definition, keeper=keeper(store, 1), check=False)
        assert lab.jobs() == []
        shutil.rmtree(lab.folder / "results")
        run = lab.run(definition, keeper=keeper(MemoryStore(objects=store.objects), 2))
        assert run.statuses == ["completed"] * 3
        # The first trial was begun by the one that is lost: there is no second intent.
        assert [body["trial"] for body in run.of("start")] == [1, 2]
        assert len(lab.jobs()) == 3
