"""What the generations of a run's controllers cost, as the service tells it of their jobs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import FailureKind, failure_of
from backends.sagemaker.controllers.own_job import OwnJob, own_job
from definitions.instances import price_of

_AT_ONCE = 16


@dataclass(frozen=True)
class GenerationCost:
    """What one generation of a controller cost so far.

    Args:
        job: name of its training job.
        seconds: that count; None where the service does not tell.
        usd: None where these or the price is not known.
        is_billed: whether they are the service's billable seconds; else they are those for which it had its instance until now.
        began_at, ended_at: when it was created and when it ended, in seconds since 1970; None where that is not known, or not so far.
    """

    job: str
    seconds: float | None = None
    usd: float | None = None
    is_billed: bool = False
    began_at: float | None = None
    ended_at: float | None = None


def cost_of(job: OwnJob, region: str) -> GenerationCost:
    """Return what a job cost so far, by the price on demand.

    Args:
        job: as the service describes it.
        region: whose price counts.
    """
    described, resources = job.description, job.description["ResourceConfig"]
    billable_s = described.get("BillableTimeInSeconds")
    seconds = job.used_s if billable_s is None else float(billable_s)
    price = price_of(str(resources["InstanceType"]), region)
    usd = None if price is None else seconds * int(resources["InstanceCount"]) * price.usd_per_hour / 3600.0
    began_at, ended_at = (described.get(name) for name in ("CreationTime", "TrainingEndTime"))
    return GenerationCost(
        str(described["TrainingJobName"]),
        seconds,
        usd,
        billable_s is not None,
        None if began_at is None else began_at.timestamp(),
        None if ended_at is None else ended_at.timestamp(),
    )


def costs_of(clients: Clients, names: Sequence[str]) -> list[GenerationCost]:
    """Return what jobs cost so far, in the order of their names, each asked for once; those that were never created are left out."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [found for found in pool.map(lambda name: _asked(clients, name), names) if found is not None]


def _asked(clients: Clients, name: str) -> GenerationCost | None:
    try:
        return cost_of(own_job(clients, name, attempts=1), clients.region)
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        # A bill that lacks something and says so is worth more than none.
        return None if failure.kind is FailureKind.MISSING else GenerationCost(name)
