"""Who reads what: every sample once an epoch, over hosts, ranks and loader workers. Pure, but for the worker that asks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import torch
from torch.utils.data import Sampler, get_worker_info

Item = TypeVar("Item")


@dataclass(frozen=True)
class ReaderShare:
    """One of `count` readers, with its number from 0."""

    index: int = 0
    count: int = 1

    def of(self, whole: Sequence[Item]) -> list[Item]:
        """Return this reader's items of a whole: each `count`th."""
        return list(whole[self.index :: self.count])


def share_of_worker() -> ReaderShare:
    """Return which share of its process's share the loader worker that calls reads; all of it where there is no worker."""
    worker = get_worker_info()
    return ReaderShare() if worker is None else ReaderShare(worker.id, worker.num_workers)


def share_of_rank(environ: Mapping[str, str], distribution: str = "replicated") -> ReaderShare:
    """Return which share of the data this process reads.

    Args:
        environ: torchrun's RANK, WORLD_SIZE, LOCAL_RANK and LOCAL_WORLD_SIZE; else SageMaker's SM_HOSTS and SM_CURRENT_HOST, of hosts with
            one process each; else it reads all.
        distribution: `replicated` where each host sees all the data, `sharded` where each has a share of its own already.
    """
    sharded = distribution == "sharded"
    if environ.get("WORLD_SIZE"):
        names = ("LOCAL_RANK", "LOCAL_WORLD_SIZE") if sharded else ("RANK", "WORLD_SIZE")
        return ReaderShare(int(environ.get(names[0], "0")), int(environ.get(names[1], "1")))
    hosts = [] if sharded else json.loads(environ.get("SM_HOSTS") or "[]")
    current = environ.get("SM_CURRENT_HOST", "")
    return ReaderShare(hosts.index(current), len(hosts)) if current in hosts else ReaderShare()


class Piece(NamedTuple):
    """A shard, or of its samples those with numbers `first`, `first + step`, ..."""

    name: str
    first: int = 0
    step: int = 1


def pieces(whole: Sequence[Piece], share: ReaderShare) -> list[Piece]:
    """Return what one reader reads of these shards, or pieces of shards.

    Where there are fewer than readers, several read the same one and take turns with its samples, so that nobody is left without.

    Args:
        whole: in the order of the epoch, the same for each reader.
        share: of the reader.
    """
    if len(whole) >= share.count or not whole:
        return share.of(whole)
    number, turn = share.index % len(whole), share.index // len(whole)
    together = len(range(number, share.count, len(whole)))
    name, first, step = whole[number]
    return [Piece(name, first + step * turn, step * together)]


def sharing_note(shards: int, readers: int) -> str:
    """Return what is to be said where readers have to share shards; nothing where each has its own."""
    if not shards or shards >= readers:
        return ""
    together = -(-readers // shards)
    who = f"{readers} readers (ranks x loader workers) share {shards} shards"
    return f"{who}: up to {together} read the same one and take turns with its samples"


def order_of(length: int, seed: int, epoch: int, shuffle: bool) -> list[int]:
    """Return the order of an epoch, the same in each reader: by number, or shuffled by seed and epoch."""
    if not shuffle:
        return list(range(length))
    generator = torch.Generator().manual_seed((seed * 1_000_003 + epoch) % 2**63)
    order: list[int] = torch.randperm(length, generator=generator).tolist()
    return order


class EpochSampler(Sampler[int]):
    """The numbers of the samples that one rank reads in an epoch, in their order.

    Args:
        length: samples in all.
        share: of the rank.
        seed, shuffle: of the order.
        even: whether each rank gets the same number, and up to `count - 1` samples are left out for it.
    """

    def __init__(self, length: int, share: ReaderShare, *, seed: int, shuffle: bool, even: bool = False) -> None:
        self._length, self._share, self._seed, self._shuffle, self._even = length, share, seed, shuffle, even
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next, from 0."""
        self._epoch = epoch

    def __len__(self) -> int:
        end = self._length // self._share.count * self._share.count if self._even else self._length
        return len(range(self._share.index, end, self._share.count))

    def __iter__(self) -> Iterator[Any]:
        order = order_of(self._length, self._seed, self._epoch, self._shuffle)
        return iter(order[self._share.index :: self._share.count][: len(self)])
