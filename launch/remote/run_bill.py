"""The bill of a launched run so far: its controllers of all generations and its trials, apart and in total."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.sagemaker.controllers.bill import GenerationCost, costs_of
from backends.sagemaker.controllers.request import controller_name
from benchmarking.archive.controllers import PastGeneration
from benchmarking.remote.launch_record import LaunchRecord, from_json
from benchmarking.remote.layout import LAUNCH, tag_of
from benchmarking.remote.standing import SeenRun
from benchmarking.report.text import dollars

if TYPE_CHECKING:
    from backends.object_store import ObjectStore
    from backends.sagemaker.aws.clients import Clients

_OF_JOBS = ("", "real", "emulated")
"""Labels of the dollars of trials that are jobs of their own; those inside a controller cost nothing beside it."""


@dataclass(frozen=True)
class RunBill:
    """What a run cost so far.

    Args:
        generations: of its controllers, those that were created.
        trials_usd: of its trials, by the experiments' last words.
        labels: of these dollars, each once.
        emulated: whether the controllers' are an emulator's.
    """

    generations: tuple[GenerationCost, ...]
    trials_usd: float
    labels: tuple[str, ...] = ()
    emulated: bool = False

    @property
    def controllers_usd(self) -> float:
        """Dollars of all generations whose cost is known."""
        return math.fsum(one.usd or 0.0 for one in self.generations)

    @property
    def not_billed_usd(self) -> float:
        """Dollars of it that are by elapsed time, as no billable seconds are known."""
        return math.fsum(one.usd or 0.0 for one in self.generations if not one.is_billed)

    @property
    def unknown(self) -> int:
        """How many generations the service, or the list of prices, does not tell the cost of."""
        return sum(one.usd is None for one in self.generations)

    @property
    def trials_are_billed(self) -> bool:
        """Whether trials cost anything beside their controllers."""
        return all(label in _OF_JOBS for label in self.labels)

    @property
    def total_usd(self) -> float:
        """Dollars of controllers and trials."""
        return self.controllers_usd + (self.trials_usd if self.trials_are_billed else 0.0)


def bill_of(store: ObjectStore, run: SeenRun, clients: Clients) -> RunBill | None:
    """Return the bill of a run so far; None where it has no controllers.

    Args:
        store: of the run.
        run: how it stands, which says how many generations there are.
        clients: of the region of its jobs.

    Raises:
        UserError: launch.json is damaged.
        OutriderError: the store refuses.
    """
    there = store.get(LAUNCH) if run.controllers else None
    if there is None:
        return None
    names = [*_jobs(tag_of(store.uri), from_json(there.body, f"{store.uri}/{LAUNCH}").nonce, run)]
    labels = tuple(dict.fromkeys(str(one.said.get("dollars") or "") for one in run.experiments if one.said))
    trials_usd = math.fsum(float(one.said.get("spent_usd") or 0.0) for one in run.experiments)
    return RunBill(tuple(costs_of(clients, names)), trials_usd, labels, clients.emulated)


def past_generations(record: LaunchRecord, run: SeenRun, bill: RunBill) -> list[PastGeneration]:
    """Return when the generations of a run's controllers were, and what each cost.

    Args:
        record: of the launch.
        run: how it stands.
        bill: of it.
    """
    which = _jobs(record.tag, record.nonce, run)
    return [
        PastGeneration(*which[one.job], one.job, one.began_at, one.ended_at, one.usd, one.is_billed, bill.emulated)
        for one in bill.generations
        if one.job in which
    ]


def _jobs(tag: str, nonce: str, run: SeenRun) -> dict[str, tuple[int, int]]:
    """Return which generation of which controller each job is, of those that are claimed."""
    claimed = [(one.controller, generation) for one in run.controllers for generation in range(1, one.generation + 1)]
    return {controller_name(tag, nonce, *which): which for which in claimed}


def bill_text(bill: RunBill) -> str:
    """Return a bill in a line."""
    count = len(bill.generations)
    about = [f"{count} generation{'s' * (count != 1)}"]
    if bill.not_billed_usd:
        about.append(f"{dollars(bill.not_billed_usd)} of it by elapsed time, not billed yet")
    if bill.unknown:
        about.append(f"what {bill.unknown} of them cost is not known")
    others = ", ".join(label for label in bill.labels if label not in _OF_JOBS)
    inside = "" if bill.trials_are_billed else f" {others}, inside the controllers and not added"
    total = f"{'at least ' if bill.unknown else ''}{dollars(bill.total_usd)}{' emulated' if bill.emulated else ''}"
    controllers = f"controllers {dollars(bill.controllers_usd)} ({'; '.join(about)})"
    return f"spent so far: {controllers}, trials {dollars(bill.trials_usd)}{inside}, together {total}"


def bill_document(bill: RunBill | None) -> Mapping[str, Any] | None:
    """Return a bill as data of JSON types."""
    if bill is None:
        return None
    generations = [{"job": one.job, "seconds": one.seconds, "usd": one.usd, "billed": one.is_billed} for one in bill.generations]
    return {
        "generations": generations,
        "controllers_usd": bill.controllers_usd,
        "not_billed_usd": bill.not_billed_usd,
        "unknown": bill.unknown,
        "trials_usd": bill.trials_usd,
        "trials_inside_controllers": not bill.trials_are_billed,
        "total_usd": bill.total_usd,
        "emulated": bill.emulated,
    }
