"""Reads logs: new lines of all jobs by one call per poll, all lines of one job at its end, the last lines where one failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from backends.sagemaker.calls import Call, Calls
from backends.sagemaker.clients import Clients
from backends.sagemaker.errors import Kind, Trouble
from backends.sagemaker.logs import GROUP, PATTERN, LogWindow, stream_name, stream_request, sweep_request
from backends.sagemaker.refusals import CloudError

_TAIL_LINES = 40


class LogReader:
    """Reads the logs of one experiment's jobs.

    Args:
        prefix: that their names begin with.
        clients: of AWS.
        calls: makes the calls.
        take: takes a job's name and one event of its log; events come more than once.
        pattern: whether only lines with our marks are asked for.
    """

    def __init__(
        self, prefix: str, clients: Clients, calls: Calls, take: Callable[[str, Mapping[str, Any]], None], *, pattern: bool = True
    ) -> None:
        self._prefix, self._clients, self._calls, self._take = prefix, clients, calls, take
        self._pattern = PATTERN if pattern else None
        self._window = LogWindow()
        self._lags_s: list[float] = []
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
                    self._lags_s.append(max(0.0, (event.get("ingestionTime", 0) - event.get("timestamp", 0)) / 1000))
                    self._pass_on(event)
                if page.get("nextToken"):
                    ask(str(page["nextToken"]))
                else:
                    over()

            self._put(sweep_request(self._prefix, start_ms, token, self._pattern), done, over)

        def over() -> None:
            self._window.turned(self._lags_s)
            self._lags_s = []
            self.next_at = self._begun_at

        ask("")

    def drain(self, job: str, streams: Collection[str], done: Callable[[], None]) -> None:
        """Read all lines of a job's own streams, then call `done`; streams that are not known yet are looked for first."""
        own = [name for name in streams if (parts := stream_name(name)) is not None and parts.number == 1]

        def ask(names: Collection[str], token: str) -> None:
            def page_done(page: Mapping[str, Any]) -> None:
                for event in sorted(page["events"], key=lambda event: int(event.get("timestamp", 0))):
                    self._pass_on(event)
                if page.get("nextToken"):
                    ask(names, str(page["nextToken"]))
                else:
                    done()

            self._put(stream_request(names, token, self._pattern), page_done, done)

        def found(page: Mapping[str, Any]) -> None:
            names = [str(one["logStreamName"]) for one in page.get("logStreams", ())]
            mine = [name for name in names if (parts := stream_name(name)) is not None and parts.job == job and parts.number == 1]
            if mine:
                ask(mine, "")
            else:
                done()

        if own:
            ask(own, "")
            return
        request = {"logGroupName": GROUP, "logStreamNamePrefix": f"{job}/"}
        make = lambda: self._clients.get("logs").describe_log_streams(**request)  # noqa: E731
        self._calls.put(Call("DescribeLogStreams", make, found, self._unless_missing(done)))

    def tail(self, stream: str, done: Callable[[Sequence[str]], None]) -> None:
        """Get the last lines of a stream, whatever they are."""
        request = {"logGroupName": GROUP, "logStreamName": stream, "limit": _TAIL_LINES, "startFromHead": False}

        def take(page: Mapping[str, Any]) -> None:
            done([str(event.get("message", "")).rstrip() for event in page.get("events", ())])

        make = lambda: self._clients.get("logs").get_log_events(**request)  # noqa: E731
        self._calls.put(Call("GetLogEvents", make, take, self._unless_missing(lambda: done(()))))

    def _pass_on(self, event: Mapping[str, Any]) -> None:
        name = stream_name(str(event.get("logStreamName", "")))
        if name is not None:
            self._take(name.job, event)

    def _put(self, request: Mapping[str, Any], done: Callable[[Mapping[str, Any]], None], missing: Callable[[], None]) -> None:
        make = lambda: self._clients.get("logs").filter_log_events(**request)  # noqa: E731
        self._calls.put(Call("FilterLogEvents", make, done, self._unless_missing(missing)))

    def _unless_missing(self, missing: Callable[[], None]) -> Callable[[Trouble], None]:
        def failed(trouble: Trouble) -> None:
            # An account's first job makes the log group, and a job's first line its stream.
            if trouble.kind is Kind.MISSING:
                missing()
                return
            assert trouble.refusal is not None
            raise CloudError("the logs of the training jobs cannot be read", trouble.refusal)

        return failed
