"""How often the mark is read, and what it says of this experiment."""

import math
from types import SimpleNamespace

import pytest

from backends.backend_context import BackendContext
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind
from backends.sagemaker.backend import SageMakerBackend
from backends.sagemaker.lifecycle.marked_end import MarkedEnd
from backends.sagemaker.lifecycle.stop_watch import StopWatch, words
from backends.stop_mark import StopMark, leave, lift
from definitions.schema import BenchmarkDefinition
from tests.backends.memory_store import MemoryStore

MINE, OTHER = "toy/RS-sagemaker-0", "toy/RS-sagemaker-1"


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_one_read_serves_all_creations_of_two_seconds():
    store, clock = MemoryStore(), Clock()
    watch = StopWatch(store, MINE, clock)
    for clock.now in (100.0, 100.5, 101.9):
        watch.check()
    assert store.calls["get"] == 1
    leave(store, StopMark(0.0, "ann"))
    store.calls.clear()
    watch.check()  # what is known is young enough
    clock.now = 102.0
    with pytest.raises(CloudError) as caught:
        watch.check()
    assert caught.value.failure.kind is FailureKind.MARKED
    assert "ann asked for its end from elsewhere" in str(caught.value)
    assert store.calls["get"] == 1
    lift(store)
    clock.now = 104.0
    watch.check()


class Calls:
    """Makes a call as soon as it is put, and answers it."""

    def put(self, call):
        call.done(call.make())


def test_what_a_creation_has_read_is_not_read_again_by_looks_between_creations():
    store, clock = MemoryStore(), Clock()
    watch = StopWatch(store, MINE, clock)
    assert watch.age_s() == math.inf
    looks = MarkedEnd(SimpleNamespace(calls=Calls(), now=clock, jobs={}), watch, lambda name, cause: None, every_s=10.0)
    watch.check()
    clock.now = 104.0
    looks.plan(clock.now)
    assert (store.calls["get"], watch.age_s(), looks.next_at) == (1, 4.0, 110.0)
    watch.check()
    clock.now = 110.0
    looks.plan(clock.now)
    assert (store.calls["get"], looks.next_at) == (2, 114.0)
    clock.now = 114.0
    looks.plan(clock.now)
    assert (store.calls["get"], looks.next_at) == (3, 124.0)


def test_a_look_at_once_asks_anew_and_one_experiment_is_not_another():
    store, clock = MemoryStore(), Clock()
    watch = StopWatch(store, MINE, clock)
    assert watch.mark() is None
    leave(store, StopMark(1.0, "ann", (OTHER,)))
    assert watch.mark(0.0) is None
    leave(store, StopMark(2.0, "ann", (MINE,)))
    assert watch.mark() is None
    assert watch.mark(0.0) == StopMark(2.0, "ann", (OTHER, MINE)) == watch.last


@pytest.mark.parametrize(("kind", "raises"), [(FailureKind.DENIED, False), (FailureKind.SERVICE, True)])
def test_what_may_not_be_read_is_no_mark_and_what_cannot_be_read_is_asked_again(kind, raises):
    class Refusing(MemoryStore):
        def get(self, key):
            raise CloudError("it cannot be read", CallFailure(kind, "GetObject", "X", "no"))

    watch = StopWatch(Refusing(), MINE, Clock())
    if raises:
        with pytest.raises(CloudError):
            watch.check()
    else:
        watch.check()


def test_who_asked_and_when_is_said():
    assert words(StopMark(1_700_000_000.0, "ann")) == "ann asked for its end from elsewhere, 2023-11-14 22:13:20 UTC"


def test_a_mark_is_looked_for_where_the_run_is_kept_and_not_where_its_jobs_have_their_code(monkeypatch, tmp_path):
    asked = []
    (tmp_path / "run.py").write_text("")
    monkeypatch.setattr("backends.sagemaker.backend.watch_of", lambda uri, experiment, *_: asked.append((uri, experiment)))
    block = {"image": "image:1", "bucket": "bench", "role": "arn:aws:iam::123456789012:role/r", "region": "us-east-1"}
    found = BenchmarkDefinition(
        name="toy", script="run.py", space={"x": {"choice": [1]}}, objectives={"loss": "min"}, source_dir=str(tmp_path), sagemaker=block
    )
    environ = {"OUTRIDER_LEASES": str(tmp_path / "leases"), "AWS_DEFAULT_REGION": "us-east-1"}
    folder = tmp_path / "t" / "toy" / "RS-sagemaker-0"
    for run_uri in ("", "s3://other/outrider/runs/t"):
        SageMakerBackend.create(BackendContext(found, folder, 0, environ, "t", "toy-1", run_uri=run_uri)).close()
    assert asked == [(uri, "toy/RS-sagemaker-0") for uri in ("s3://bench/outrider/runs/t", "s3://other/outrider/runs/t")]
