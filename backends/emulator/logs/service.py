"""CloudWatch Logs as far as training jobs need it: streams, GetLogEvents, FilterLogEvents."""

from __future__ import annotations

import heapq
import shlex
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from backends.emulator.core.settings import Settings
from backends.emulator.http.errors import ServiceError
from backends.emulator.http.paging import decode_token, encode_token
from backends.emulator.logs.store import GROUP, LogEvent, LogStore, LogStream

_MOST_BYTES = 1 << 20
_MOST_EVENTS = 10000
_EVENT_OVERHEAD_BYTES = 26


class LogsService:
    """The operations, by name; groups other than the training jobs' are not imitated."""

    def __init__(self, store: LogStore, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._operations = {
            "DescribeLogGroups": self._groups,
            "DescribeLogStreams": self._streams,
            "GetLogEvents": self._get,
            "FilterLogEvents": self._filter,
            "DeleteLogStream": self._delete_stream,
        }

    def handles(self, operation: str, request: Mapping[str, Any]) -> bool:
        """Return whether an operation and its group are imitated."""
        return operation in self._operations and (operation == "DescribeLogGroups" or self._group(request) == GROUP)

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request; raises `ServiceError`."""
        if operation != "DescribeLogGroups" and not self._store.names():
            raise _missing("log group")
        return self._operations[operation](request)

    def _group(self, request: Mapping[str, Any]) -> str:
        name = str(request.get("logGroupName") or request.get("logGroupIdentifier") or "")
        return name.split(":log-group:", 1)[-1].removesuffix(":*")

    def _arn(self, rest: str = "") -> str:
        return f"arn:aws:logs:{self._settings.region}:{self._settings.account}:log-group:{GROUP}:{rest or '*'}"

    def _groups(self, request: dict[str, Any]) -> dict[str, Any]:
        names = self._store.names()
        prefix, pattern = request.get("logGroupNamePrefix", ""), request.get("logGroupNamePattern", "")
        if not names or not GROUP.startswith(prefix) or pattern not in GROUP:
            return {"logGroups": []}
        first = min(stream.created_ms for stream in map(self._store.get, names) if stream)
        return {"logGroups": [{"logGroupName": GROUP, "creationTime": first, "arn": self._arn(), "metricFilterCount": 0}]}

    def _streams(self, request: dict[str, Any]) -> dict[str, Any]:
        prefix, by_time = request.get("logStreamNamePrefix", ""), request.get("orderBy") == "LastEventTime"
        if prefix and by_time:
            raise _wrong("Cannot order by LastEventTime with a logStreamNamePrefix.")
        streams = [stream for stream in map(self._store.get, self._store.names(prefix)) if stream]
        if by_time:
            streams.sort(key=lambda stream: (stream.last_ms or 0, stream.name))
        if request.get("descending"):
            streams.reverse()
        start = decode_token(request["nextToken"]) if request.get("nextToken") else 0
        end = start + _limit(request, 50)
        answer: dict[str, Any] = {"logStreams": [self._described(stream) for stream in streams[start:end]]}
        if end < len(streams):
            answer["nextToken"] = encode_token(end)
        return answer

    def _described(self, stream: LogStream) -> dict[str, Any]:
        found: dict[str, Any] = {
            "logStreamName": stream.name,
            "creationTime": stream.created_ms,
            "arn": self._arn(f"log-stream:{stream.name}"),
            "storedBytes": 0,
        }
        if stream.first_ms is not None:
            found.update(firstEventTimestamp=stream.first_ms, lastEventTimestamp=stream.last_ms, lastIngestionTime=stream.ingested_ms)
        return found

    def _get(self, request: dict[str, Any]) -> dict[str, Any]:
        stream = self._stream(request.get("logStreamName", ""))
        limit, since, until = _limit(request, _MOST_EVENTS), request.get("startTime"), request.get("endTime")
        token = str(request.get("nextToken", ""))
        if token:
            direction, place = _position(token)
        else:
            direction, place = ("f", 0) if request.get("startFromHead") else ("b", stream.count)
        events: list[LogEvent] = []
        size = 0
        forward = direction == "f"
        scanned = place
        for event in self._store.read(stream, place, since) if forward else self._store.read_back(stream, place):
            fits = (since is None or event.timestamp_ms >= since) and (until is None or event.timestamp_ms < until)
            cost = len(event.message.encode()) + _EVENT_OVERHEAD_BYTES
            if fits and (len(events) >= limit or (events and size + cost > _MOST_BYTES)):
                break
            scanned = event.sequence + 1 if forward else event.sequence
            if fits:
                events.append(event)
                size += cost
        start, end = (place, scanned) if forward else (scanned, place)
        if events and forward:
            start = events[0].sequence
        events = events if forward else events[::-1]
        return {
            "events": [{"timestamp": event.timestamp_ms, "message": event.message, "ingestionTime": event.ingested_ms} for event in events],
            "nextForwardToken": f"f/{end:056d}/s",
            "nextBackwardToken": f"b/{start:056d}/s",
        }

    def _filter(self, request: dict[str, Any]) -> dict[str, Any]:
        names, prefix = request.get("logStreamNames"), request.get("logStreamNamePrefix")
        if names is not None and prefix is not None:
            raise _wrong("logStreamNames and logStreamNamePrefix cannot both be given.")
        if names is not None:
            streams = [self._stream(name) for name in names]
        else:
            streams = [stream for stream in map(self._store.get, self._store.names(prefix or "")) if stream]
        since, until = request.get("startTime"), request.get("endTime")
        needed, sufficient = _terms(request.get("filterPattern", ""))
        read = dict(decode_token(request["nextToken"])) if request.get("nextToken") else {}
        limit, size = _limit(request, _MOST_EVENTS), 0
        events: list[dict[str, Any]] = []
        more = False
        for event, stream in heapq.merge(*(self._from(stream, read.get(stream.name, 0), since) for stream in streams), key=_when):
            fits = (since is None or event.timestamp_ms >= since) and (until is None or event.timestamp_ms < until)
            wanted = all(term in event.message for term in needed)
            if fits and wanted and (not sufficient or any(term in event.message for term in sufficient)):
                cost = len(event.message.encode()) + _EVENT_OVERHEAD_BYTES
                if len(events) >= limit or (events and size + cost > _MOST_BYTES):
                    more = True
                    break
                size += cost
                events.append(
                    {
                        "logStreamName": stream.name,
                        "timestamp": event.timestamp_ms,
                        "message": event.message,
                        "ingestionTime": event.ingested_ms,
                        "eventId": f"{event.timestamp_ms:014d}{zlib.crc32(stream.name.encode()):010d}{event.sequence:032d}",
                    }
                )
            read[stream.name] = event.sequence + 1
        answer: dict[str, Any] = {"events": events, "searchedLogStreams": []}
        if more:
            answer["nextToken"] = encode_token(read)
        return answer

    def _delete_stream(self, request: dict[str, Any]) -> dict[str, Any]:
        self._store.delete(self._stream(request.get("logStreamName", "")).name)
        return {}

    def _from(self, stream: LogStream, offset: int, since: int | None) -> Iterator[tuple[LogEvent, LogStream]]:
        return ((event, stream) for event in self._store.read(stream, offset, since))

    def _stream(self, name: str) -> LogStream:
        stream = self._store.get(name)
        if stream is None:
            raise _missing("log stream")
        return stream


def _when(item: tuple[LogEvent, LogStream]) -> tuple[int, str, int]:
    return item[0].timestamp_ms, item[1].name, item[0].sequence


def _limit(request: Mapping[str, Any], most: int) -> int:
    limit = int(request.get("limit", most))
    if not 1 <= limit <= most:
        raise _wrong(f"limit must be between 1 and {most}.")
    return limit


def _position(token: str) -> tuple[str, int]:
    parts = token.split("/")
    if len(parts) != 3 or parts[0] not in ("f", "b") or not parts[1].isdigit():
        raise _wrong("The specified nextToken is invalid.")
    return parts[0], int(parts[1])


def _terms(pattern: str) -> tuple[list[str], list[str]]:
    """Return the terms that all have to occur, and those (`?term`) of which one has to; other kinds of patterns are not imitated."""
    if pattern.startswith(("{", "[", "%")) or any(word.startswith("-") for word in pattern.split()):
        raise _wrong("The emulator imitates filter patterns of plain, quoted and optional (?) terms only.")
    words = shlex.split(pattern)
    # With a needed term beside them, optional ones are ignored, as the service's documentation says.
    needed = [word for word in words if not word.startswith("?")]
    return needed, [] if needed else [word[1:] for word in words]


def _missing(what: str) -> ServiceError:
    return ServiceError("ResourceNotFoundException", f"The specified {what} does not exist.")


def _wrong(message: str) -> ServiceError:
    return ServiceError("InvalidParameterException", message)
