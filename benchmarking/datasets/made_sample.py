"""One sample that a generator makes, and what generators have in common."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class MadeSample:
    """One sample.

    Args:
        key: names it within the set; `folder`: its class, for sets whose folders say so; empty where it has none.
        label: number of its class; None where it has none.
        content: its bytes, in parts that follow each other.
        ending: of its file or member, e.g. `jpg`; `npy` for pixels.
        shape: height, width, depth of pixels; None for what is encoded.
    """

    key: str
    folder: str
    label: int | None
    content: tuple[bytes, ...]
    ending: str
    shape: tuple[int, int, int] | None = None


class SampleSource(Protocol):
    """Makes samples by their number alone, so that processes can share them out and a set can be mended.

    `samples` is their number, `classes` that of their classes, None where they have none.
    """

    samples: int
    classes: int | None

    def sample(self, index: int) -> MadeSample:
        """Return the sample of this number, from 0."""
        ...


def key_of(index: int, samples: int) -> str:
    """Return the key of a sample: as many digits for each, at least six, so that names sort as numbers do."""
    return f"{index:0{max(6, len(str(samples - 1)))}d}"


def digits(seed: int, index: int, count: int, base: int, distinct: int) -> tuple[int, ...]:
    """Return `count` numbers below `base`, other ones for each index below `distinct`, in no visible order.

    The first few write the index down in that base, scrambled by a number that has no divisor in common with what they can count; a hash
    of seed and index gives the rest.

    Raises:
        ValueError: so many numbers cannot tell so many indices apart.
    """
    leading, capacity = 0, 1
    while capacity < distinct and leading <= count:
        leading, capacity = leading + 1, capacity * base
    if leading > count:
        raise ValueError(f"{count} numbers below {base} do not tell {distinct} samples apart")
    # 2654435761 is prime and larger than any base, so that multiplying by it permutes what the leading numbers can write.
    rest = (index * 2654435761 + seed) % capacity
    first = []
    for _ in range(leading):
        rest, digit = divmod(rest, base)
        first.append(digit)
    drawn = struct.unpack(f"<{count}I", hashlib.shake_128(f"{seed}/{index}".encode()).digest(4 * count))
    return (*first, *(number % base for number in drawn[leading:]))
