"""Which models are loaded: each on its first call, the least recently used ones unloaded when memory is short."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import tempfile
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from backends.serving.base import LoadFailedError, ModelServer
from backends.serving.front.counters import Counters, Leak
from backends.serving.front.eviction import Residency, victims
from backends.serving.front.packages import PackageSource, Unpacked, remove, unpack
from definitions.errors import OutriderError
from definitions.quantities import size_text

_UNPACKED_AHEAD = 4
"""Archives at most that are fetched, or wait unpacked until memory is free: so many and those of loaded models are on the disk."""


class NotReadyError(OutriderError):
    """A model is being loaded and was not ready in time."""


@dataclass
class Resident:
    """A loaded model: its name within the server, where it is unpacked, the bytes that its load added, and requests that use it now."""

    name: str
    place: Path
    size_bytes: int
    users: int = 0


@dataclass(frozen=True)
class Use:
    """A model in use by one request; `load_s`: seconds that the request waited for it, 0 where it was there."""

    name: str
    is_cold: bool
    load_s: float


class ModelCache:
    """Loads and unloads the models of one server; all of one event loop.

    Args:
        server: started.
        source: of archives.
        folder: where they are unpacked.
        limit_bytes: memory that the server may take; None for no limit.
        load_wait_s: seconds that a request waits for a load.
        now: monotonic seconds.
    """

    def __init__(
        self,
        server: ModelServer,
        source: PackageSource,
        folder: Path,
        limit_bytes: int | None,
        load_wait_s: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server, self._source, self._folder = server, source, folder
        self._limit_bytes, self._load_wait_s, self._now = limit_bytes, load_wait_s, now
        self._residents: OrderedDict[str, Resident] = OrderedDict()
        """By target, the least recently used first."""
        folder.mkdir(parents=True, exist_ok=True)
        self._loading: dict[str, asyncio.Task[Resident]] = {}
        self._waiters: dict[str, int] = {}
        self._memory = asyncio.Lock()
        self._ahead = asyncio.Semaphore(_UNPACKED_AHEAD)
        self._released = asyncio.Event()
        self._needs: dict[str, int] = {}
        """Bytes that a load of one kind of package was seen to add at most."""
        self._unpacked = 0
        self.base_bytes = 0
        """Memory of the server without any model."""
        self.counters = Counters()
        self.leak = Leak()

    @property
    def resident(self) -> list[str]:
        """The loaded targets, the least recently used first."""
        return [*self._residents]

    @contextlib.asynccontextmanager
    async def use(self, target: str) -> AsyncIterator[Use]:
        """Give a loaded model for as long as a request uses it.

        Raises:
            NotReadyError: it is still being loaded.
            PackageError: there is no such target, or its archive is none.
            LoadFailedError: the server does not take it.
            ServerFailedError: the server is gone.
        """
        found = self._residents.get(target)
        begun, is_cold = self._now(), found is None
        if found is None:
            found = await self._loaded(target)
        else:
            self._residents.move_to_end(target)
            self.counters.hits += 1
        found.users += 1
        try:
            yield Use(found.name, is_cold, self._now() - begun if is_cold else 0.0)
        finally:
            found.users -= 1
            self._released.set()

    async def unload(self, target: str) -> bool:
        """Unload a model that nobody uses; return whether it was loaded."""
        async with self._memory:
            found = self._residents.get(target)
            if found is None or found.users or self._waiters.get(target):
                return False
            await self._drop(target)
            return True

    def forget(self) -> None:
        """Forget all loaded models, as their server is gone, and delete what was unpacked for them."""
        for one in self._residents.values():
            remove(one.place)
        self._residents.clear()

    async def measure(self) -> int:
        """Return the memory that the server takes now, in bytes."""
        return await asyncio.to_thread(self._server.memory)

    async def _loaded(self, target: str) -> Resident:
        """Return a model once it is loaded; whoever comes meanwhile waits for the same load."""
        self.counters.cold += 1
        deadline = self._now() + self._load_wait_s
        self._waiters[target] = self._waiters.get(target, 0) + 1
        try:
            while True:
                task = self._loading.get(target)
                if task is None:
                    task = self._loading[target] = asyncio.ensure_future(self._load(target))
                    task.add_done_callback(lambda _: self._loading.pop(target, None))
                # The load goes on when this request is given up: the next one finds it done.
                await asyncio.wait({task}, timeout=max(0.0, deadline - self._now()))
                if not task.done():
                    raise NotReadyError(f"{target} is still being loaded after {self._load_wait_s:g} s")
                found = task.result()
                # It may have gone with its server between the load's end and now.
                if self._residents.get(target) is found:
                    return found
        finally:
            self._waiters[target] -= 1
            if not self._waiters[target]:
                del self._waiters[target]

    async def _load(self, target: str) -> Resident:
        try:
            async with self._ahead:
                unpacked = await asyncio.to_thread(self._fetch, target)
                try:
                    async with self._memory:
                        return await self._admit(target, unpacked)
                except BaseException:
                    remove(unpacked.place)
                    raise
        except BaseException:
            self.counters.failed_loads += 1
            raise

    def _fetch(self, target: str) -> Unpacked:
        self._unpacked += 1
        place = self._folder / f"{_model_name(target)}-{self._unpacked}"
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            archive, kind = self._source.fetch(target, Path(scratch))
            return unpack(archive, place, kind)

    async def _admit(self, target: str, unpacked: Unpacked) -> Resident:
        """Load a model that is unpacked, with others unloaded until there is room; holds the lock of the memory."""
        name, kind = _model_name(target), unpacked.kind
        deadline = self._now() + self._load_wait_s
        while True:
            before_bytes = await self._make_room(target, self._needs.get(kind, unpacked.size_bytes), deadline)
            try:
                await self._server.load(name, unpacked.folder)
            except LoadFailedError as error:
                # The server's own word that memory is short: one more goes, and it is tried again.
                if not error.is_short_of_memory or not await self._give_up_one(target, deadline):
                    raise
                continue
            found = self._residents[target] = Resident(name, unpacked.place, 0)
            self.counters.loads += 1
            used_bytes = await self.measure()
            found.size_bytes = max(0, used_bytes - before_bytes)
            self._needs[kind] = max(found.size_bytes, self._needs.get(kind, 0))
            while self._limit_bytes is not None and used_bytes > self._limit_bytes:
                if not await self._evict_one(besides=target):
                    break
                used_bytes = await self.measure()
            else:
                return found
            # It takes more than was thought, and whoever else is there is in use: it waits for them, unless it is alone.
            await self._take_back(target, found)
            if not self._residents:
                raise self._too_large(target, used_bytes)
            if self._now() >= deadline:
                raise self._no_room(target)

    async def _take_back(self, target: str, found: Resident) -> None:
        """Unload a model that has just been loaded, once those who use it already have their answers; its files stay."""
        self._residents.pop(target, None)
        while found.users:
            self._released.clear()
            await self._released.wait()
        await self._server.unload(found.name)

    async def _give_up_one(self, target: str, deadline: float) -> bool:
        """Unload the least recently used model, once there is one that nobody uses; return whether any is loaded."""
        while not await self._evict_one():
            if not self._residents:
                return False
            await self._wait_for_release(target, deadline)
        return True

    async def _wait_for_release(self, target: str, deadline: float) -> None:
        """Wait until somebody uses a model no longer, or time is over."""
        self._released.clear()
        if self._now() >= deadline:
            raise self._no_room(target)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._released.wait(), max(0.0, deadline - self._now()))

    def _no_room(self, target: str) -> NotReadyError:
        return NotReadyError(f"there is no room for {target}: all {len(self._residents)} loaded models are in use")

    async def _make_room(self, target: str, needed_bytes: int, deadline: float) -> int:
        """Unload what has to go for `needed_bytes`; return the memory that is in use then."""
        while True:
            used_bytes = await self.measure()
            rows = [Residency(name, one.users + self._waiters.get(name, 0), one.size_bytes) for name, one in self._residents.items()]
            chosen, is_enough = victims(rows, used_bytes, needed_bytes, self._limit_bytes)
            if chosen:
                self.counters.evictions += 1
                await self._drop(chosen[0])
                continue
            if is_enough:
                return used_bytes
            if not rows:
                raise self._too_large(target, used_bytes + needed_bytes)
            await self._wait_for_release(target, deadline)

    def _too_large(self, target: str, used_bytes: int) -> LoadFailedError:
        limit = size_text(self._limit_bytes or 0)
        words = f"{target} does not fit into memory even alone: the server would take {size_text(used_bytes)}, {limit} are there"
        return LoadFailedError(words, is_short_of_memory=True)

    async def _evict_one(self, besides: str = "") -> bool:
        """Unload the least recently used model that nobody uses; return whether there was one."""
        for target, one in self._residents.items():
            if target != besides and not one.users and not self._waiters.get(target):
                self.counters.evictions += 1
                await self._drop(target)
                return True
        return False

    async def _drop(self, target: str) -> None:
        found = self._residents.pop(target)
        await self._server.unload(found.name)
        remove(found.place)
        self.leak.unloaded(await self.measure() - self.base_bytes - sum(one.size_bytes for one in self._residents.values()))


def _model_name(target: str) -> str:
    # SageMaker hashes it as well: a target may have any characters, and a length that no file name has.
    return "m" + hashlib.sha256(target.encode()).hexdigest()[:20]
