"""What one trial runs, as a value: a configuration, at which level, and which repeat of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TrialSpec:
    """What one trial runs; a job that runs it again is another attempt of the same.

    Args:
        configuration: the point of the search space.
        level: level of a per-job fidelity that the method chose, as for a canary; None where the trial runs the full job.
        repeat: number of the repeated measurement, from 0.
        prefix_s: most seconds that it runs where it is a prefix of the full job, stopped as soon as enough is known; else None.
    """

    configuration: Mapping[str, Any]
    level: float | None = None
    repeat: int = 0
    prefix_s: float | None = None


def seed_of(seed: int, repeat: int) -> int:
    """Return what the script of a repeat is seeded with: 31 bits that differ between experiments' seeds and between repeats.

    The first repeat has the experiment's own seed, and each is the same for every configuration, so that these meet equal chances.
    """
    return seed if repeat == 0 else int.from_bytes(hashlib.sha256(f"{seed}-{repeat}".encode()).digest()[:4]) >> 1
