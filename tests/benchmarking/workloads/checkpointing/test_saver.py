from concurrent.futures import Future

import pytest
import torch

from benchmarking.workloads.checkpointing.saver import CheckpointFailedError, Saver


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class FakeStore:
    """Takes `copy_s` to copy, `write_s` to write; what it began is done when `finish` is called."""

    def __init__(self, clock, copy_s=1.0, write_s=10.0):
        self.clock, self.copy_s, self.write_s = clock, copy_s, write_s
        self.there, self.done = {}, []
        self.calls = []

    def save(self, state, name):
        self.calls.append(f"save {name}")
        self.clock.now += self.write_s
        self.there[name] = dict(state)

    def begin(self, state, name):
        self.calls.append(f"begin {name}")
        self.clock.now += self.copy_s
        future = Future()
        self.done.append((name, dict(state), future))
        return future

    def finish(self):
        name, state, future = self.done.pop(0)
        self.there[name] = state
        future.set_result(None)

    def load(self, name, like):
        self.clock.now += 2
        return self.there[name]

    def remove(self, name):
        self.calls.append(f"remove {name}")
        self.there.pop(name, None)

    def stored_bytes(self, name):
        assert name in self.there
        return 42

    def close(self):
        self.calls.append("close")


@pytest.fixture
def clock():
    return Clock()


def saver_of(store, clock, **options):
    return Saver(store, "/place", clock=clock, cpu_clock=lambda: clock.now / 2, **options)


def state():
    return {"w": torch.ones(3)}


def test_training_stands_still_while_it_saves(clock):
    store = FakeStore(clock)
    saver = saver_of(store, clock)

    def gathered():
        clock.now += 3
        return state()

    assert saver.save(gathered) == 13
    (save,) = saver.wait()
    assert (save.name, save.size_bytes, save.stored_bytes, save.stall_s, save.durable_s, save.cpu_s) == ("step-000001", 12, 42, 13, 13, 6.5)
    assert saver.wait() == []


def test_with_async_it_stands_still_for_the_copy_and_for_the_one_before(clock):
    store = FakeStore(clock)
    saver = saver_of(store, clock, is_async=True)
    assert saver.save(state) == 1
    clock.now += 5
    store.finish()  # 6 s after it began
    clock.now += 100
    store.copy_s = 4
    assert saver.save(state) == 4
    clock.now += 20
    store.finish()
    first, second = saver.wait()
    assert (first.stall_s, first.durable_s, first.cpu_s) == (1, 6, None)
    assert (second.stall_s, second.durable_s) == (4, 24)


def test_the_last_stays_until_the_next_is_whole(clock):
    store = FakeStore(clock)
    saver = saver_of(store, clock)
    for _ in range(3):
        saver.save(state)
    assert store.calls == ["save step-000001", "save step-000002", "remove step-000001", "save step-000003", "remove step-000002"]
    assert (saver.last, list(store.there)) == ("step-000003", ["step-000003"])
    saver.close(remove=True)
    assert store.calls[-2:] == ["remove step-000003", "close"]


def test_other_ranks_wait_and_do_not_ask_how_large_it_is(clock):
    def barrier():
        clock.now += 7

    class Nothing(FakeStore):
        def save(self, state, name):
            pass

    saver = saver_of(Nothing(clock), clock, rank=1, barrier=barrier)
    assert saver.save(state) == 7
    (save,) = saver.wait()
    assert (save.stall_s, save.durable_s, save.stored_bytes) == (7, 0, 0)


def test_what_failed_is_named_and_the_one_before_is_kept(clock):
    store = FakeStore(clock)
    saver = saver_of(store, clock, is_async=True)
    saver.save(state)
    store.finish()
    saver.save(state)
    store.done[0][2].set_exception(OSError(28, "No space left on device"))
    with pytest.raises(
        CheckpointFailedError, match=r"checkpoint step-000002 could not be saved at /place: OSError: .*No space left"
    ) as error:
        saver.wait()
    assert str(error.value).endswith("the one before, step-000001, is whole")
    assert list(store.there) == ["step-000001"]


def test_the_first_one_pays_nothing_for_what_is_done_once(clock):
    store = FakeStore(clock)
    saver = saver_of(store, clock)
    saver.warm_up()
    assert store.calls == ["save warm-up", "remove warm-up"]
    assert saver.wait() == []
    assert not saver.has_saved
    saver.save(state)
    loaded, seconds, cpu_s = saver.load({})
    assert (loaded["w"].tolist(), seconds, cpu_s) == ([1, 1, 1], 2, 1)
