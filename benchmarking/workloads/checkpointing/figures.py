"""From the saves and loads of all ranks to what a job reports. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .saver import Save

MB = 1e6


@dataclass(frozen=True)
class Load:
    """One reading back, as one rank did it.

    Args:
        size_bytes: of the tensors that this rank has after it.
        seconds, cpu_s: that it took.
    """

    size_bytes: int
    seconds: float
    cpu_s: float


def save_figures(ranks: Sequence[Sequence[Save]], *, writers: int, train_s: float, is_durable: bool = True) -> dict[str, float | int]:
    """Return the figures of the saves of an epoch; nothing where there were none.

    `checkpoint_bytes` is what one takes in the store; `checkpoint_save_s` the median of the seconds from the beginning until the last rank
    was done, called `checkpoint_durable_s` too where the device or the store has it by then; `checkpoint_save_mb_per_s` those bytes over
    those seconds, in 10^6 bytes, and `..._per_rank` its share of each rank that writes. `checkpoint_stall_s` is all that training stood
    still for in the epoch, on the rank where that was longest, and `checkpoint_stall_share` its share of stall and training.

    Args:
        ranks: (n_ranks, n_saves) in order.
        writers: how many of the ranks write.
        train_s: seconds that the epoch trained for, saves not included.
        is_durable: whether a save was on the device when it was over.
    """
    if not ranks or not ranks[0]:
        return {}
    count = len(ranks[0])
    took_s = [max(rank[number].durable_s for rank in ranks) for number in range(count)]
    rates = [ranks[0][number].stored_bytes / MB / max(seconds, 1e-9) for number, seconds in enumerate(took_s)]
    stall_s = max(math.fsum(save.stall_s for save in rank) for rank in ranks)
    rate = statistics.median(rates)
    found: dict[str, float | int] = {
        "checkpoint_saves": count,
        "checkpoint_bytes": ranks[0][-1].stored_bytes,
        "checkpoint_save_s": statistics.median(took_s),
        "checkpoint_save_mb_per_s": rate,
        "checkpoint_save_mb_per_s_per_rank": rate / max(writers, 1),
        "checkpoint_stall_s": stall_s,
        "checkpoint_stall_share": stall_s / max(stall_s + train_s, 1e-9),
    }
    if is_durable:
        found["checkpoint_durable_s"] = found["checkpoint_save_s"]
    cpu = [math.fsum(rank[number].cpu_s or 0.0 for rank in ranks) for number in range(count)]
    if ranks[0][0].cpu_s is not None:
        found["checkpoint_save_cpu_s"] = statistics.median(cpu)
    return found


def load_figures(ranks: Sequence[Load]) -> dict[str, float | int]:
    """Return the figures of a reading back.

    `checkpoint_load_s` is that of the slowest rank; `checkpoint_load_mb_per_s` what all ranks have after it over that; `..._per_rank` the
    median of the ranks' own.

    Args:
        ranks: (n_ranks,).
    """
    slowest_s = max(one.seconds for one in ranks)
    return {
        "checkpoint_load_s": slowest_s,
        "checkpoint_load_mb_per_s": sum(one.size_bytes for one in ranks) / MB / max(slowest_s, 1e-9),
        "checkpoint_load_mb_per_s_per_rank": statistics.median(one.size_bytes / MB / max(one.seconds, 1e-9) for one in ranks),
        "checkpoint_load_cpu_s": math.fsum(one.cpu_s for one in ranks),
    }
