"""Jobs that a back-end's service still knows, whoever started them: what they ran on, what they were given, and what they took."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from definitions.backend_registry import backend_description, backend_names
from definitions.errors import UserError


@dataclass(frozen=True)
class PastJob:
    """A job as its service describes it; None is what is not known.

    Args:
        status: `completed`, `out_of_memory`, or why it says nothing of a full job (`stopped`, `failed`, `interrupted`, ...).
        arguments: that its script was given, as texts.
        total_s: seconds from the start of its instances to its end; `train_s`: those in which its script ran.
        billable_s: seconds that were paid for, per instance; None where that says nothing of its length.
        usage: totals by the reporter, see `backends.events.Closed`; empty where the script does not use it.
        metrics: the last value that the script reported under each name.
        fraction: share of its data, where that is to be found by its data.
    """

    name: str
    status: str
    instance_type: str
    instance_count: int = 1
    arguments: Mapping[str, str] = field(default_factory=dict)
    total_s: float | None = None
    train_s: float | None = None
    billable_s: float | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    fraction: float | None = None


@dataclass(frozen=True)
class FractionSource:
    """Where a job's share of the data is found.

    Args:
        kind: `hyperparameter`; `manifest`, entries of it over objects that there are; `channel-bytes`, bytes of its channels over all.
        name: of the hyperparameter, or of the one channel that counts; empty for all channels.
        whole: where all of the data are; empty for what a manifest is a sample of.
    """

    kind: str
    name: str = ""
    whole: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else self.kind


def fraction_source(text: str, whole: str = "") -> FractionSource:
    """Return where fractions are found, from `manifest`, `hyperparameter:NAME` or `channel-bytes`; raises `UserError` for another word."""
    kind, _, name = text.partition(":")
    if kind not in ("manifest", "hyperparameter", "channel-bytes") or (kind == "hyperparameter" and not name):
        ways = "manifest, hyperparameter:NAME and channel-bytes; a channel's name may stand behind manifest: and channel-bytes:"
        raise UserError(f"--fraction_from {text}", f"a job's share of the data is found by {ways}")
    return FractionSource(kind, name, whole)


PastJobReader = Callable[[Sequence[str], str, FractionSource], Sequence[PastJob]]
"""Names of jobs, a region, where their shares of the data are found -> the jobs, in that order; raises `UserError` where one is unknown."""


def past_job_reader() -> PastJobReader:
    """Return the reader of past jobs of the first back-end that has one.

    Raises:
        UserError: none has, or it cannot be loaded.
    """
    path = next((path for name in backend_names() if (path := backend_description(name).past_jobs)), "")
    if not path:
        raise UserError("past jobs by name", "no back-end that is installed can read them", "give a table or a folder of results")
    module, _, attribute = path.partition(":")
    try:
        found: PastJobReader = getattr(import_module(module), attribute)
    except Exception as error:
        raise UserError(f"past jobs by name: {path} cannot be loaded", f"{type(error).__name__}: {error}") from error
    return found
