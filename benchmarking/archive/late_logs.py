"""Reads logs again whose end was not seen when their jobs were closed, and adds to the journal what they say by now."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backends.common.capped_log import CappedLog
from backends.events import Reported
from backends.failures import LOG_INCOMPLETE
from backends.late_logs import LateLogReader
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.journal import Journal


def read_late_logs(spec: ExperimentSpec, journal: Journal, region: str, read: LateLogReader, logs: Path) -> list[str]:
    """Add the late reports of completed trials to a journal, and return in words what came of it.

    Where a copy of the log was kept, it has the late lines too.

    The method is not told of them: what it decided stands. Trials that failed stay failed.

    Args:
        spec: the experiment.
        journal: of it, open for writing.
        region: where its jobs ran.
        read: reads a job's log.
        logs: folder of the copies.
    """
    incomplete, received, last_at = _incomplete(journal)
    lines: list[str] = []
    for job, trial in incomplete.items():
        try:
            late = read(job, region, received.get(job, {}), spec.definition.metric_sources)
        except Exception as error:  # noqa: BLE001 - a service may fail in any way; what is known stays as it is
            return [*lines, f"the log of trial {trial} is incomplete and cannot be read again: {error}"]
        # At the time of the last record, as what nobody waited for is no time of the run.
        for report in late.reports:
            event = Reported(job, last_at, report.sequence, report.metrics, report.elapsed_s or 0.0, report.incarnation)
            journal.append(last_at, *event_record(event))
        if late.is_whole:
            journal.append(last_at, "late", {"job": job})
        journal.commit()
        if late.reports or late.is_whole:
            _keep(logs / f"{job}.log", late.lines, spec.definition.log_cap)
        now = "it is whole now" if late.is_whole else "its end is not there yet"
        lines.append(f"the log of trial {trial} was read again: {len(late.reports)} reports more, {now}")
    return lines


def _keep(path: Path, lines: Sequence[str], cap_bytes: int) -> None:
    """Put lines into a copy in place of what it has; where there is none, or no room, nothing changes."""
    if not lines or not path.is_file():
        return
    # Who is killed in between leaves the copy as it was.
    fresh = path.with_suffix(".log.new")
    with contextlib.suppress(OSError):
        fresh.unlink(missing_ok=True)
        kept = CappedLog(fresh, cap_bytes)
        for line in lines:
            kept.write(f"{line}\n".encode())
        kept.close()
        if kept.lost_bytes:
            fresh.unlink(missing_ok=True)
        else:
            fresh.replace(path)


def _incomplete(journal: Journal) -> tuple[Mapping[str, int], Mapping[str, Mapping[tuple[int, int], Mapping[str, Any]]], float]:
    """Return job -> trial of incomplete logs, the known reports by job, and the time of the last record."""
    incomplete: dict[str, int] = {}
    received: dict[str, dict[tuple[int, int], Mapping[str, Any]]] = {}
    last_at = 0.0
    for record in journal.records():
        body, last_at = record.body, record.at
        if record.kind == "reported":
            received.setdefault(body["job"], {})[body.get("incarnation", 0), body["sequence"]] = body["metrics"]
        elif record.kind == "settle" and body["status"] == "completed" and body["message"].startswith(LOG_INCOMPLETE):
            incomplete[body["job"]] = body["trial"]
        elif record.kind == "late":
            incomplete.pop(body["job"], None)
    return incomplete, received, last_at
