"""Room that Ray has promised: a placement group for each job that runs at once, kept for the next job that asks for the same."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from backends.ray import agent
from backends.ray.cluster import RayConnection

MOST_ASKED = 16
"""Slots of one kind that are asked for at once; a thousand jobs in Ray's own queue would be looked at again and again."""
KEEP_S = 2.0
"""Seconds that a slot waits for the next job that asks for the same."""

Room = Callable[[Sequence[Mapping[str, float]], str], Any]

_LOOK_S = 3600
_PAUSE_S = 1.0
"""Seconds until a slot that failed is asked for again."""


@dataclass(frozen=True)
class Key:
    """What slots that are alike have in common: what they have of each node, and of how many."""

    bundle: tuple[tuple[str, float], ...]
    count: int = 1


def key_of(bundle: Mapping[str, float], count: int = 1) -> Key:
    """Return the key of slots on so many nodes."""
    return Key(tuple(sorted(bundle.items())), count)


@dataclass(eq=False)
class Slot:
    """A place for one job at a time.

    Args:
        key: what it has.
        group: Ray's placement group; None where the cluster could not be asked.
        nodes: ids of its nodes, by rank; empty until it is there.
        gpus: names of its GPUs on each of them.
        is_given_back: whether nobody wants it any more.
        idle_since: when the last job left it; None while one is in it.
    """

    key: Key
    group: Any
    nodes: tuple[str, ...] = ()
    gpus: tuple[tuple[str, ...], ...] = ()
    is_given_back: bool = False
    idle_since: float | None = None

    def place(self) -> dict[str, Any]:
        """Return it in words that nodes keep for whoever takes its job over."""
        key, name = self.key, "" if self.group is None else self.group.id.hex()
        return {"id": name, "group": self.group, "bundle": key.bundle, "count": key.count, "nodes": self.nodes, "gpus": self.gpus}


def slot_at(place: Mapping[str, Any]) -> Slot:
    """Return the slot that a node has kept."""
    return Slot(Key(tuple(place["bundle"]), place["count"]), place["group"], tuple(place["nodes"]), tuple(place["gpus"]))


@dataclass(frozen=True)
class SlotReady:
    """A slot has its room."""

    slot: Slot


@dataclass(frozen=True)
class SlotFailed:
    """A slot will never have room."""

    slot: Slot


@dataclass(frozen=True)
class RoomGone:
    """Whoever had asked for the room of all slots is gone, and the room with it."""


class SlotBook:
    """The slots of one experiment.

    Args:
        connection: to the cluster.
        post: takes what other threads learn, for `hear`.
        ask: asks for a slot of a key; `give_back`: gives one back, or takes back that it was asked for.
    """

    def __init__(
        self,
        connection: RayConnection,
        post: Callable[[object], None],
        ask: Callable[[RayConnection, Key, Callable[[object], None]], Slot] | None = None,
        give_back: Callable[[RayConnection, Slot], None] | None = None,
    ) -> None:
        self._connection, self._post = connection, post
        self._ask, self._give_back = ask or ask_for_slot, give_back or give_back_slot
        self._asked: list[Slot] = []
        self._slots: list[Slot] = []

    def ask(self, keys: Sequence[Key]) -> None:
        """Let so many slots be asked for as jobs wait for, at most `MOST_ASKED` of a kind; what nobody waits for any more is taken back."""
        wanted = Counter(keys)
        asked = Counter(slot.key for slot in self._asked)
        for slot in [*self._asked]:
            wanted[slot.key] -= 1
            if wanted[slot.key] < 0:
                self._asked.remove(slot)
                self._give_back(self._connection, slot)
        for key, count in wanted.items():
            # Each kind has its own share: what waits for GPUs keeps nobody from cores that are free.
            for _ in range(min(count, MOST_ASKED - asked[key])):
                self._asked.append(self._ask(self._connection, key, self._post))

    def hear(self, said: SlotReady | SlotFailed, now: float) -> None:
        """Take in what became of a slot that was asked for."""
        if said.slot not in self._asked:
            return  # it was taken back meanwhile
        self._asked.remove(said.slot)
        if isinstance(said, SlotReady):
            said.slot.idle_since = now
            self._slots.append(said.slot)
        else:
            self._give_back(self._connection, said.slot)  # it may have got its room, and failed at what comes after

    def take(self, key: Key) -> Slot | None:
        """Return a slot for a job that starts now; None where none is free."""
        slot = next((one for one in self._slots if one.idle_since is not None and one.key == key), None)
        if slot is not None:
            slot.idle_since = None
        return slot

    def promised(self) -> Mapping[str, float]:
        """Return how much of each resource may be held for jobs that wait: what is asked for, and free slots."""
        found: dict[str, float] = {}
        for slot in [*self._asked, *(slot for slot in self._slots if slot.idle_since is not None)]:
            for name, amount in slot.key.bundle:
                found[name] = found.get(name, 0.0) + amount * slot.key.count
        return found

    def adopt(self, slot: Slot) -> None:
        """Take in a slot that an earlier controller got, with the job that is in it; one that two jobs had one after the other once."""
        if slot not in self._slots:
            self._slots.append(slot)

    def free(self, slot: Slot | None, now: float) -> None:
        """Note that the job in a slot has ended."""
        if slot in self._slots and slot is not None:
            slot.idle_since = now

    def tidy(self, now: float, is_wanted: bool) -> float | None:
        """Give back free slots, at once where jobs wait for others, and return when the next one is to be; None where there is none."""
        for slot in [*self._slots]:
            if slot.idle_since is not None and (is_wanted or now >= slot.idle_since + KEEP_S):
                self._slots.remove(slot)
                self._give_back(self._connection, slot)
        return min((slot.idle_since + KEEP_S for slot in self._slots if slot.idle_since is not None), default=None)

    def lose(self, node: str) -> None:
        """Forget the slots of a node that is no more."""
        for slot in [slot for slot in self._slots if node in slot.nodes]:
            self._slots.remove(slot)
            self._give_back(self._connection, slot)

    def lose_all(self) -> int:
        """Forget all slots, as their room is gone, and return in how many of them is a job, which goes on without it."""
        busy = sum(slot.idle_since is None for slot in self._slots)
        for slot in [*self._slots, *self._asked]:
            self._give_back(self._connection, slot)  # where only the way to it was lost, it is free
        self._slots, self._asked = [], []
        return busy

    def close(self, *, but_busy: bool = False) -> None:
        """Give all back, or all in which no job is."""
        for slot in [*(slot for slot in self._slots if not but_busy or slot.idle_since is not None), *self._asked]:
            self._give_back(self._connection, slot)
        self._slots, self._asked = [], []


def ask_for_slot(connection: RayConnection, key: Key, post: Callable[[object], None], room: Room | None = None) -> Slot:
    """Ask for room; `SlotReady` or `SlotFailed` is posted from another thread when it is there or never will be.

    Args:
        connection: to the cluster.
        key: what is asked for.
        post: takes what becomes of it.
        room: asks for a placement group of so many bundles by a strategy, and waits; None for one that goes with this program.
    """
    slot, asked = Slot(key, None), [dict(key.bundle) for _ in range(key.count)]
    strategy = "STRICT_SPREAD" if key.count > 1 else "PACK"
    ask = partial(connection.ray.util.placement_group if room is None else room, asked, strategy)
    threading.Thread(target=_wait, args=(connection, slot, post, ask), name="slot", daemon=True).start()
    return slot


def give_back_slot(connection: RayConnection, slot: Slot) -> None:
    """Give the room of a slot back, or take back that it was asked for; a head that does not answer is not waited for."""
    slot.is_given_back = True
    if slot.group is None:
        return  # whoever asks for it in another thread gives it back
    connection.apart(_remove, connection, slot.group)


def _remove(connection: RayConnection, group: Any) -> None:
    with contextlib.suppress(Exception):  # a cluster that is gone has nothing to be given back
        connection.ray.util.remove_placement_group(group)


def _wait(connection: RayConnection, slot: Slot, post: Callable[[object], None], ask: Callable[[], Any]) -> None:
    ray = connection.ray
    try:
        slot.group = ask()
        if slot.is_given_back:
            _remove(connection, slot.group)
            return
        while not slot.group.wait(_LOOK_S):
            pass
        places = ray.util.placement_group_table(slot.group)["bundles_to_node_id"]
        slot.nodes = tuple(places[number] for number in sorted(places))
        with_gpus = range(slot.key.count) if dict(slot.key.bundle).get("GPU") else ()
        slot.gpus = tuple(map(tuple, ray.get([_gpus_of(ray, slot, number).remote() for number in with_gpus])))
    except Exception:  # noqa: BLE001 (removed meanwhile, or the cluster is gone, which others say)
        time.sleep(_PAUSE_S)
        post(SlotFailed(slot))
        return
    post(SlotReady(slot))


def _gpus_of(ray: Any, slot: Slot, number: int) -> Any:
    """Return a task that runs where a slot's GPUs on one of its nodes are: the same ones all its life, and only who runs there is told."""
    ray.cloudpickle.register_pickle_by_value(agent)
    there = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy(placement_group=slot.group, placement_group_bundle_index=number)
    gpus = dict(slot.key.bundle)["GPU"]
    return ray.remote(agent.assigned_gpus).options(num_cpus=0, num_gpus=gpus, scheduling_strategy=there)
