"""Reads logs: new lines of all jobs by one call per poll, all lines of one job at its end, the last lines where one failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backends.sagemaker.aws.call_queue import Call, CallQueue
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind
from backends.sagemaker.logs.parser import GROUP, PATTERN, is_marked, message_of, stream_name
from backends.sagemaker.logs.window import LogWindow, job_request, poll_request

SWEEP = "FilterLogEvents of all jobs"
"""How the call is named that looks for new lines, and is paced: experiments side by side take turns with it, as one alone would look."""
_TAIL_LINES = 1000
"""Last lines read of a failed job, by one call: a launcher prints many after the exception that says why."""
_READ = "FilterLogEvents"
_FORGET_LAG = 0.98
_MOST_KEPT = 2_000_000
"""Characters of a job's log that are kept in memory."""


@dataclass
class _KeptLines:
    """Lines with their times in milliseconds, and how long they are together."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0


class LogPoller:
    """Reads the logs of one experiment's jobs.

    Args:
        prefix: that their names begin with.
        clients: of AWS.
        calls: makes the calls.
        take: takes a job's name and one event of its log; events come more than once.
        polled: told when a poll began whose events have all been taken.
        pattern: whether only lines with our marks are asked for.
        keeps: whether all lines are kept in memory, so that no log has to be read again to be kept elsewhere.

    Its `lag_s` is how many seconds late lines were lately.
    """

    def __init__(
        self,
        prefix: str,
        clients: Clients,
        calls: CallQueue,
        take: Callable[[str, Mapping[str, Any]], None],
        polled: Callable[[float], None] = lambda begun_at: None,
        *,
        pattern: bool = True,
        keeps: bool = False,
    ) -> None:
        self._prefix, self._clients, self._calls, self._take, self._polled = prefix, clients, calls, take, polled
        self._pattern = PATTERN if pattern else None
        self._keeps = keeps
        self._kept: dict[str, _KeptLines] = {}
        self._window = LogWindow()
        self._lags_s: list[float] = []
        self.lag_s = 0.0
        self._begun_at = -math.inf
        self.next_at = -math.inf

    def plan(self, now: float, every_s: float) -> None:
        """Begin to read new lines if the last time was `every_s` seconds ago or more, and is over."""
        if math.isinf(self.next_at) and self.next_at > 0:
            return
        self.next_at = self._begun_at + every_s
        if now < self.next_at:
            return
        self._begun_at, self.next_at = now, math.inf
        start_ms = self._window.start_ms()

        def ask(token: str) -> None:
            def done(page: Mapping[str, Any]) -> None:
                for event in self._window.fresh(page["events"]):
                    self._lags_s.append(_lag_s(event))
                    if self._keeps and _is_of_first_host(event):
                        self._keep(event)
                    if not self._keeps or self._pattern is None or is_marked(str(event.get("message", ""))):
                        self._pass_on(event)
                if page.get("nextToken"):
                    ask(str(page["nextToken"]))
                else:
                    over()

            request = poll_request(self._prefix, start_ms, token, None if self._keeps else self._pattern)
            self._put(request, done, over, _READ if token else SWEEP)

        def over() -> None:
            self._window.finish_poll(self._lags_s)
            self.lag_s = max([self.lag_s * _FORGET_LAG, *self._lags_s])
            self._lags_s = []
            self.next_at = self._begun_at
            self._polled(self._begun_at)

        ask("")

    def kept(self, job: str) -> list[str] | None:
        """Return the lines of a job's first host that polls have seen, by their times, and forget them; None where they may not be all."""
        found = self._kept.pop(job, _KeptLines())
        return None if not found.lines or found.size > _MOST_KEPT else [text for _, text in sorted(found.lines, key=lambda line: line[0])]

    def _keep(self, event: Mapping[str, Any]) -> None:
        name = stream_name(str(event.get("logStreamName", "")))
        if name is None:
            return
        kept, text = self._kept.setdefault(name.job, _KeptLines()), message_of(event)
        kept.size += len(text)
        if kept.size <= _MOST_KEPT:
            kept.lines.append((int(event.get("timestamp", 0)), text))
        else:
            kept.lines.clear()

    def read_all(self, job: str, done: Callable[[Sequence[str]], None], *, all_hosts: bool = False, whole: bool = False) -> None:
        """Read all lines of a job's first host, or of all, from their beginning, then call `done`.

        Args:
            job: its name.
            done: takes all lines that the first host printed, in the order of their times, where `whole` is asked for; else nothing.
            all_hosts: whether the other hosts' lines are read too.
            whole: whether lines that are for people are read too.
        """
        found: list[tuple[int, str]] = []

        def ask(token: str) -> None:
            def page_done(page: Mapping[str, Any]) -> None:
                for event in sorted(page["events"], key=lambda event: int(event.get("timestamp", 0))):
                    self.lag_s = max(self.lag_s, _lag_s(event))
                    if whole and _is_of_first_host(event):
                        found.append((int(event.get("timestamp", 0)), message_of(event)))
                    if not whole or self._pattern is None or is_marked(str(event.get("message", ""))):
                        self._pass_on(event)
                if page.get("nextToken"):
                    ask(str(page["nextToken"]))
                else:
                    over()

            self._put(job_request(job, token, None if whole else self._pattern, all_hosts=all_hosts), page_done, over)

        def over() -> None:
            # Lines of one moment stay in the order in which they came.
            done([text for _, text in sorted(found, key=lambda line: line[0])])

        ask("")

    def tail(self, job: str, streams: Collection[str], done: Callable[[Sequence[str]], None], host: int = 1) -> None:
        """Get the last lines that a job printed, without our own; of a host's last life, as far as there is one."""

        def read(names: Collection[str]) -> None:
            mine = [
                (parts.number == host, parts.since, name) for name in names if (parts := stream_name(name)) is not None and parts.job == job
            ]
            if not mine:
                done(())
                return
            request = {"logGroupName": GROUP, "logStreamName": max(mine)[2], "limit": _TAIL_LINES, "startFromHead": False}
            make = lambda: self._clients.get("logs", attempts=1).get_log_events(**request)  # noqa: E731
            self._calls.put(Call("GetLogEvents", make, take, self._unless_missing(lambda: done(()))))

        def take(page: Mapping[str, Any]) -> None:
            lines = [message_of(event).rstrip() for event in page.get("events", ())]
            done([line for line in lines if not is_marked(line)])

        def found(page: Mapping[str, Any]) -> None:
            read([str(one["logStreamName"]) for one in page.get("logStreams", ())])

        if streams:
            read(streams)
            return
        # It printed none of our lines, not even the last one, so that no stream of its is known.
        make = lambda: self._clients.get("logs", attempts=1).describe_log_streams(logGroupName=GROUP, logStreamNamePrefix=f"{job}/")  # noqa: E731
        self._calls.put(Call("DescribeLogStreams", make, found, self._unless_missing(lambda: done(()))))

    def _pass_on(self, event: Mapping[str, Any]) -> None:
        name = stream_name(str(event.get("logStreamName", "")))
        if name is not None:
            self._take(name.job, event)

    def _put(
        self,
        request: Mapping[str, Any],
        done: Callable[[Mapping[str, Any]], None],
        missing: Callable[[], None],
        operation: str = _READ,
    ) -> None:
        make = lambda: self._clients.get("logs", attempts=1).filter_log_events(**request)  # noqa: E731
        self._calls.put(Call(operation, make, done, self._unless_missing(missing, "nextToken" in request)))

    def _unless_missing(self, missing: Callable[[], None], is_later_page: bool = False) -> Callable[[CallFailure], None]:
        def failed(failure: CallFailure) -> None:
            # An account's first job makes the log group, and a job's first line its stream. A token that has grown too old in a long
            # pause is no answer either: the next reading begins anew.
            if failure.kind is FailureKind.MISSING or (is_later_page and failure.kind is FailureKind.OTHER):
                missing()
                return
            raise CloudError("the logs of the training jobs cannot be read", failure)

        return failed


def _is_of_first_host(event: Mapping[str, Any]) -> bool:
    stream = stream_name(str(event.get("logStreamName", "")))
    return stream is not None and stream.number == 1


def _lag_s(event: Mapping[str, Any]) -> float:
    return max(0.0, (int(event.get("ingestionTime", 0)) - int(event.get("timestamp", 0))) / 1000)
