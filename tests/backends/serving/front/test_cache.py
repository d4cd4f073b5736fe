"""What the front keeps on the disk: the models that are loaded, and a few archives that are about to be."""

from __future__ import annotations

import asyncio
import threading

import pytest

from backends.serving.base import LoadFailedError, ModelServer
from backends.serving.front.cache import ModelCache
from backends.serving.front.packages import FolderSource
from tests.backends.serving.onnx_packages import archive

CONTENT = b"x" * 1000


class HeldServer(ModelServer):
    """Takes as much memory as its models have bytes; its loads wait until they are let through."""

    def __init__(self):
        self.loaded, self.gate, self.is_full = {}, asyncio.Event(), False

    async def start(self, options):
        raise NotImplementedError

    async def ready(self):
        return True

    async def load(self, name, folder):
        await self.gate.wait()
        if self.is_full:
            raise LoadFailedError("no disk here either")
        self.loaded[name] = len((folder / "1" / "model.onnx").read_bytes())

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


def made(tmp_path, limit=None):
    server, source = HeldServer(), CountedSource(tmp_path / "targets")
    return server, source, ModelCache(server, source, tmp_path / "models", limit, 60.0)


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
