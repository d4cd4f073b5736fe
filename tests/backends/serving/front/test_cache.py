"""What the front keeps on the disk: the models that are loaded, and a few archives that are about to be."""

from __future__ import annotations

import asyncio
import threading

import pytest

from backends.serving.base import LoadFailedError, ModelServer
from backends.serving.front.cache import ModelCache, NotReadyError
from backends.serving.front.packages import FolderSource
from tests.backends.serving.onnx_packages import archive

CONTENT = b"x" * 1000


class HeldServer(ModelServer):
    """Takes as much memory as its models have bytes; its loads wait until they are let through."""

    def __init__(self):
        self.loaded, self.gate, self.is_full, self.room, self.factor = {}, asyncio.Event(), False, None, 1

    async def start(self, options):
        raise NotImplementedError

    async def ready(self):
        return True

    async def load(self, name, folder):
        await self.gate.wait()
        if self.is_full:
            raise LoadFailedError("no disk here either")
        if len(self.loaded) == self.room:
            raise LoadFailedError("out of memory", is_short_of_memory=True)
        self.loaded[name] = self.factor * len((folder / "1" / "model.onnx").read_bytes())

    async def unload(self, name):
        del self.loaded[name]

    async def resident(self):
        return [*self.loaded]

    async def invoke(self, name, body, content_type):
        raise NotImplementedError

    def pids(self):
        return ()

    def has_ended(self):
        return False

    async def stop(self):
        pass

    def memory(self):
        return sum(self.loaded.values())


class CountedSource(FolderSource):
    """Counts what it is asked for."""

    def __init__(self, folder):
        super().__init__(folder)
        self.asked, self._lock = 0, threading.Lock()

    def fetch(self, target, scratch):
        with self._lock:
            self.asked += 1
        return super().fetch(target, scratch)


@pytest.fixture
def targets(tmp_path):
    names = [f"m{number}.tar.gz" for number in range(12)]
    for name in names:
        archive(tmp_path / "targets" / name, {"m/1/model.onnx": CONTENT})
    return names


def made(tmp_path, limit=None, wait_s=60.0):
    server, source = HeldServer(), CountedSource(tmp_path / "targets")
    return server, source, ModelCache(server, source, tmp_path / "models", limit, wait_s)


def unpacked(tmp_path):
    return len([*(tmp_path / "models").glob("*/m/1/model.onnx")])


async def call(cache, target):
    async with cache.use(target):
        pass


def test_what_is_unloaded_is_deleted(tmp_path, targets):
    async def run():
        server, _, cache = made(tmp_path, 3 * len(CONTENT))
        server.gate.set()
        for target in targets:
            await call(cache, target)
            assert unpacked(tmp_path) <= 3
        return cache

    cache = asyncio.run(run())
    assert cache.resident == targets[-3:]
    assert (unpacked(tmp_path), cache.counters.evictions) == (3, 9)


def test_of_many_that_are_called_at_once_a_few_wait_unpacked(tmp_path, targets):
    async def run():
        server, source, cache = made(tmp_path)
        callers = [asyncio.ensure_future(call(cache, target)) for target in targets]
        while source.asked < 4 or unpacked(tmp_path) < 4:
            await asyncio.sleep(0.001)
        # Whoever was to be fetched by now beside these has had its turn of the loop, and of the threads.
        for _ in range(20):
            await asyncio.to_thread(lambda: None)
        assert (source.asked, unpacked(tmp_path)) == (4, 4)
        server.gate.set()
        await asyncio.gather(*callers)
        assert sorted(cache.resident) == sorted(targets)

    asyncio.run(run())
    assert unpacked(tmp_path) == 12


def test_what_a_server_had_that_is_gone_and_what_it_refused_leave_nothing(tmp_path, targets):
    async def run():
        server, _, cache = made(tmp_path)
        server.gate.set()
        await call(cache, targets[0])
        server.loaded.clear()
        cache.forget()
        assert unpacked(tmp_path) == 0
        server.is_full = True
        with pytest.raises(LoadFailedError):
            await call(cache, targets[1])
        assert (unpacked(tmp_path), cache.counters.failed_loads) == (0, 1)

    asyncio.run(run())
    assert [*(tmp_path / "models").iterdir()] == []


def short(server, way):
    """A server with room for two models, as it says itself, or of which each takes twice what its files have: nobody knows that before."""
    server.gate.set()
    if way == "said":
        server.room = 2
    else:
        server.factor = 2


WAYS = [("said", None), ("measured", 4 * len(CONTENT))]


@pytest.mark.parametrize(("way", "limit"), WAYS)
def test_a_lack_of_memory_leads_to_an_eviction_and_another_try(tmp_path, targets, way, limit):
    async def run():
        server, _, cache = made(tmp_path, limit)
        short(server, way)
        for target in targets:
            await call(cache, target)
        return cache

    cache = asyncio.run(run())
    assert cache.resident == targets[-2:]
    assert (cache.counters.evictions, unpacked(tmp_path)) == (10, 2)


@pytest.mark.parametrize(("way", "limit"), [("said", None), ("measured", 3 * len(CONTENT))])
def test_where_all_others_are_in_use_it_is_waited_for_one_of_them(tmp_path, targets, way, limit):
    """It fits, if not beside them: that memory is short would be said of a model that no eviction helps."""

    async def run():
        server, _, cache = made(tmp_path, limit)
        short(server, way)
        server.room = server.room and 1
        async with cache.use(targets[0]):
            other = asyncio.ensure_future(call(cache, targets[1]))
            for _ in range(30):
                await asyncio.to_thread(lambda: None)
            assert not other.done()
            assert cache.resident == targets[:1]
        await other
        return cache

    cache = asyncio.run(run())
    assert cache.resident == targets[1:2]
    assert unpacked(tmp_path) == 1


@pytest.mark.parametrize(("way", "limit"), [("said", None), ("measured", 3 * len(CONTENT))])
def test_where_they_stay_in_use_it_is_not_ready(tmp_path, targets, way, limit):
    async def run():
        server, _, cache = made(tmp_path, limit, 0.2)
        short(server, way)
        server.room = server.room and 1
        async with cache.use(targets[0]):
            with pytest.raises(NotReadyError):
                await call(cache, targets[1])
        await call(cache, targets[1])
        assert cache.resident == targets[1:2]

    asyncio.run(run())


@pytest.mark.parametrize(("way", "limit"), [("said", None), ("measured", len(CONTENT))])
def test_one_that_does_not_fit_alone_is_short_of_memory(tmp_path, targets, way, limit):
    async def run():
        server, _, cache = made(tmp_path, limit)
        short(server, way)
        server.room = server.room and 0
        with pytest.raises(LoadFailedError) as caught:
            await call(cache, targets[0])
        assert caught.value.is_short_of_memory
        assert (cache.resident, server.loaded) == ([], {})

    asyncio.run(run())
    assert unpacked(tmp_path) == 0
