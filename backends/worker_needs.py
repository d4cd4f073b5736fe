"""What the workers of an experiment need of a machine that others use too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class WorkerNeeds:
    """What all workers of an experiment need together.

    Args:
        instance_types: that their jobs may ask for.
        n_workers: jobs that run at once at most.
        exclusive: whether nothing else may run beside the experiment.
    """

    instance_types: Sequence[str]
    n_workers: int
    exclusive: bool = False
