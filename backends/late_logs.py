"""What the log of a closed job says by now, where its end was not seen when the job was closed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from backends.reports import Report
from definitions.backend_registry import backend_description
from definitions.metrics import MetricSources


@dataclass(frozen=True)
class LateLog:
    """What a job's log says by now.

    Args:
        reports: that were not known yet.
        is_whole: whether the end is there.
        lines: all of it, in the order in which they were printed.
    """

    reports: Sequence[Report]
    is_whole: bool
    lines: Sequence[str] = ()


LateLogReader = Callable[[str, str, Mapping[tuple[int, int], Mapping[str, Any]], MetricSources], LateLog]
"""Job, region, metrics of its known reports by (incarnation, sequence), where metrics are found -> its log; raises any error."""


def late_log_reader(backend: str) -> LateLogReader | None:
    """Return what reads the logs of closed jobs of a back-end; None where they are all there when a job is closed."""
    module, _, attribute = backend_description(backend).late_logs.partition(":")
    if not module:
        return None
    found: LateLogReader = getattr(import_module(module), attribute)
    return found
