"""Training jobs that may belong to a tag, as the service lists them, and the tags that say whether they do."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from backends.naming import TAG_FORM, tag_mark
from backends.sagemaker.aws.clients import Clients
from definitions.errors import UserError

_OVER = ("Completed", "Failed", "Stopped", "Deleting")
_PAGE = 100


def check_tag(tag: str) -> None:
    """Raise `UserError` for what cannot be the tag of a run."""
    if not TAG_FORM.fullmatch(tag):
        raise UserError(
            f"--tag {tag!r}",
            "a tag has letters and digits, hyphens between them, and at most 41 of all",
            "see results/ for those there are",
        )


@dataclass(frozen=True)
class TaggedJob:
    """A training job as a listing shows it.

    Args:
        status: primary status; `pool`: status of its warm pool, empty where it has none.
    """

    name: str
    arn: str
    status: str
    pool: str
    created_at: datetime.datetime

    @property
    def runs(self) -> bool:
        """Whether it holds instances as a job."""
        return self.status not in _OVER

    @property
    def live(self) -> bool:
        """Whether it costs money: it runs, or its instances are kept warm."""
        return self.runs or self.pool == "Available"


def list_jobs(clients: Clients, tag: str, since: datetime.datetime | None, between_pages: Callable[[], None]) -> Iterator[TaggedJob]:
    """Yield the jobs whose names say that they may belong to a tag, the newest first.

    Args:
        clients: of the region to look in.
        tag: of the experiments.
        since: by the service's clock; jobs created before it are left out. None for all.
        between_pages: waits before the next call.

    Raises:
        ClientError, BotoCoreError: AWS refuses the listing.
    """
    request: dict[str, Any] = {"NameContains": tag_mark(tag), "MaxResults": _PAGE, "SortBy": "CreationTime"}
    if since is not None:
        request["CreationTimeAfter"] = since - datetime.timedelta(seconds=1)
    sagemaker = clients.get("sagemaker")
    while True:
        page = sagemaker.list_training_jobs(**request)
        for one in page["TrainingJobSummaries"]:
            pool = one.get("WarmPoolStatus", {}).get("Status", "")
            yield TaggedJob(one["TrainingJobName"], one["TrainingJobArn"], one["TrainingJobStatus"], pool, one["CreationTime"])
        if not page.get("NextToken"):
            return
        request["NextToken"] = page["NextToken"]
        between_pages()


def newest_job(clients: Clients, beginning: str) -> str:
    """Return the name of the newest job whose name begins so; empty where there is none; raises as `list_jobs`."""
    request: dict[str, Any] = {"NameContains": beginning, "SortBy": "CreationTime", "SortOrder": "Descending", "MaxResults": _PAGE}
    page = clients.get("sagemaker").list_training_jobs(**request)
    names = [str(one["TrainingJobName"]) for one in page["TrainingJobSummaries"]]
    return next((name for name in names if name.startswith(beginning)), "")


def tags_of(clients: Clients, arn: str) -> dict[str, str]:
    """Return the tags of a job; raises `ClientError` or `BotoCoreError` where AWS refuses."""
    request: dict[str, Any] = {"ResourceArn": arn}
    found: dict[str, str] = {}
    while True:
        page = clients.get("sagemaker").list_tags(**request)
        found |= {one["Key"]: one["Value"] for one in page["Tags"]}
        if not page.get("NextToken"):
            return found
        request["NextToken"] = page["NextToken"]
