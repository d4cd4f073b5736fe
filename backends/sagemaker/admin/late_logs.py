"""Reads the log of a training job that has ended once more, from its beginning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.common.aws_client import make_client
from backends.late_logs import LateLog
from backends.reports import Report
from backends.sagemaker.logs.parser import JobLog, message_of
from backends.sagemaker.logs.window import job_request
from definitions.metrics import MetricSources


def read_late_log(
    job: str, region: str, received: Mapping[tuple[int, int], Mapping[str, Any]], sources: MetricSources, logs: Any = None
) -> LateLog:
    """Return the reports in a job's log that are not known yet, whether its end is there now, and its lines.

    Args:
        job: its name.
        region: where it ran.
        received: metrics of its reports that are known, by (incarnation, sequence).
        sources: where metrics are found beside reports.
        logs: client of CloudWatch Logs; made where None.
    """
    client = make_client("logs", region=region) if logs is None else logs
    log = JobLog(received, sources)
    found: list[Report] = []
    lines: list[tuple[int, str]] = []
    token = ""
    while True:
        page = client.filter_log_events(**job_request(job, token, None))
        for event in page["events"]:
            found += log.feed(event)
            lines.append((int(event.get("timestamp", 0)), message_of(event)))
        token = page.get("nextToken") or ""
        if not token:
            break
    found += log.finish()
    # Lines of one moment stay in the order in which they came.
    in_order = [text for _, text in sorted(lines, key=lambda line: line[0])]
    return LateLog(found, log.end() is not None and not log.has_gaps, in_order)
