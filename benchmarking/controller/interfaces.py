"""What the loop is handed: who makes jobs, who watches, whose money it is, and how checkpoints are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from backends.job_spec import JobSpec
from benchmarking.controller.journal import Record
from benchmarking.controller.state import ExperimentState
from definitions.trial import TrialSpec


class JobFactory(Protocol):
    """Makes job specifications."""

    worst_s: float | None
    """Seconds that a job can be billed for at most; None where nothing limits them."""

    def worst_case_s(self, spec: TrialSpec) -> float | None:
        """Return the seconds that a trial's job can be billed for at most; None where nothing limits them."""
        ...

    def name(self, trial: int, attempt: int) -> str:
        """Return the name of a trial's job."""
        ...

    def build(self, trial: int, attempt: int, spec: TrialSpec, restore_from: str | None) -> JobSpec:
        """Return the job of a trial's attempt."""
        ...

    def instances(self, configuration: Mapping[str, Any]) -> tuple[str, int]:
        """Return the instance type that a configuration's job asks for, and how many of it."""
        ...

    def deploy_key(self, configuration: Mapping[str, Any]) -> str:
        """Return the key of what a configuration's job deploys, by which endpoints are shared; empty where it deploys nothing."""
        ...

    def price(self, configuration: Mapping[str, Any]) -> tuple[float | None, int]:
        """Return dollars per instance-hour (None where unknown) and the number of instances."""
        ...

    def worst_usd(self, spec: TrialSpec) -> float | None:
        """Return what a trial's job costs at most, whatever it falls back to; None where a price or its longest time is unknown."""
        ...


Observer = Callable[[Record, ExperimentState], None]


@dataclass
class Wallet:
    """Money of one invocation, over all its experiments: what earlier ones have spent."""

    spent_usd: float = 0.0


def checkpoint_key(trial: int) -> str:
    """Return the key under which a trial keeps its checkpoint."""
    return f"trial-{trial}"
