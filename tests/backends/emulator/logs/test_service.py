"""CloudWatch Logs: pages, tokens, filters, long lines, and what the faults do to lines."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from backends.emulator import ManualClock
from backends.emulator.core.database import Database
from backends.emulator.core.settings import Delays
from backends.emulator.logs.store import SCHEMA, LogStore

pytestmark = pytest.mark.slow

GROUP = "/aws/sagemaker/TrainingJobs"


def stream_of(bench, name):
    streams = bench.client("logs").describe_log_streams(logGroupName=GROUP, logStreamNamePrefix=f"{name}/")["logStreams"]
    return streams[0]["logStreamName"]


def test_events_come_in_pages_forward_and_backward(bench):
    logs = bench.client("logs")
    name = bench.python("for i in range(25): print(i)")
    bench.completed(name)
    where = {"logGroupName": GROUP, "logStreamName": stream_of(bench, name)}
    seen, token = [], {}
    while True:
        page = logs.get_log_events(**where, startFromHead=True, limit=10, **token)
        if token and page["nextForwardToken"] == token["nextToken"]:
            break
        seen += [int(event["message"]) for event in page["events"]]
        token = {"nextToken": page["nextForwardToken"]}
    assert seen == list(range(25))
    tail = logs.get_log_events(**where, limit=10)
    assert [int(event["message"]) for event in tail["events"]] == list(range(15, 25))
    before = logs.get_log_events(**where, limit=10, nextToken=tail["nextBackwardToken"])
    assert [int(event["message"]) for event in before["events"]] == list(range(5, 15))
    assert [int(event["message"]) for event in logs.get_log_events(**where, nextToken=before["nextForwardToken"])["events"]] == list(
        range(15, 25)
    )


def test_a_filter_goes_over_streams_and_pages(bench):
    logs = bench.client("logs")
    names = [bench.python("for i in range(7): print('line', i, 'loss' if i % 2 else '')", name=bench.name("filtered")) for _ in range(2)]
    for name in names:
        bench.completed(name)
    pages = list(
        logs.get_paginator("filter_log_events").paginate(
            logGroupName=GROUP, logStreamNamePrefix="filtered-", filterPattern='"loss"', PaginationConfig={"PageSize": 4}
        )
    )
    events = [event for page in pages for event in page["events"]]
    assert [len(page["events"]) for page in pages] == [4, 2]
    assert sorted((event["logStreamName"].split("/")[0], event["message"]) for event in events) == sorted(
        (name, f"line {i} loss") for name in names for i in (1, 3, 5)
    )
    assert [event["timestamp"] for event in events] == sorted(event["timestamp"] for event in events)
    assert len({event["eventId"] for event in events}) == 6
    late = logs.filter_log_events(logGroupName=GROUP, logStreamNames=[stream_of(bench, names[0])], startTime=events[-1]["timestamp"] + 1000)
    assert late["events"] == []


def test_a_prefix_is_only_a_prefix(bench):
    for name in ("x-1", "x-11"):
        bench.completed(bench.shell(f"echo {name}", name=name))
    logs = bench.client("logs")
    both = logs.filter_log_events(logGroupName=GROUP, logStreamNamePrefix="x-1")["events"]
    assert sorted(event["message"] for event in both) == ["x-1", "x-11"]
    assert bench.lines("x-1") == ["x-1"]


def test_what_is_not_there(bench):
    bench.completed(bench.shell("echo there"))
    logs = bench.client("logs")
    with pytest.raises(logs.exceptions.ResourceNotFoundException):
        logs.get_log_events(logGroupName=GROUP, logStreamName="none")
    with pytest.raises(logs.exceptions.InvalidParameterException):
        logs.get_log_events(
            logGroupName=GROUP, logStreamName=logs.describe_log_streams(logGroupName=GROUP)["logStreams"][0]["logStreamName"], nextToken="x"
        )
    assert logs.describe_log_groups(logGroupNamePrefix="/aws/sagemaker")["logGroups"][0]["logGroupName"] == GROUP


def test_fifty_megabytes_in_one_line(bench):
    name = bench.python("import sys; sys.stdout.write('x' * 50_000_000); print('END'); print('after')")
    bench.completed(name, 120)
    logs = bench.client("logs")
    where = {"logGroupName": GROUP, "logStreamName": stream_of(bench, name)}
    total, longest, last, token = 0, 0, "", {"startFromHead": True}
    while True:
        page = logs.get_log_events(**where, **token)
        if not page["events"]:
            break
        total += sum(len(event["message"]) for event in page["events"])
        longest = max(longest, *(len(event["message"]) for event in page["events"]))
        last, token = page["events"][-1]["message"], {"nextToken": page["nextForwardToken"]}
    assert total == 50_000_003 + 5
    assert longest <= 262_144
    assert last == "after"
    bench.completed(bench.submit())


def test_late_lines_arrive_after_the_end(started):
    clock = ManualClock()
    bench = started(
        clock=clock, faults=[{"kind": "late_logs", "after_line": 22, "after_end": True, "seconds": 30}], delays=Delays(cold_start_s=0.0)
    )
    name = bench.python("for i in range(1, 61): print('epoch', i)")
    bench.completed(name)
    assert bench.lines(name) == [f"epoch {i}" for i in range(1, 23)]
    clock.advance(29.0)
    assert len(bench.lines(name)) == 22
    clock.advance(1.0)
    bench.printed(name, "epoch 60")
    events = bench.events(name)
    assert sorted(int(event["message"].split()[1]) for event in events) == list(range(1, 61))
    late = [event for event in events if int(event["message"].split()[1]) > 22]
    assert all(event["ingestionTime"] - event["timestamp"] == 30000 for event in late)


def test_lines_are_repeated_and_reordered_alike_for_one_seed(started):
    seen = []
    for _ in range(2):
        clock = ManualClock()
        faults = [{"kind": "repeated_logs", "probability": 0.3}, {"kind": "reordered_logs", "seconds": 5}]
        bench = started(clock=clock, faults=faults, seed=4, delays=Delays(cold_start_s=0.0))
        name = bench.python("for i in range(40): print(i)", name="same")
        bench.completed(name)
        for _ in range(60):
            clock.advance(0.1)
            bench.describe(name)
        bench.printed(name, "39")
        stream = bench.client("logs").get_log_events(logGroupName=GROUP, logStreamName=stream_of(bench, name), startFromHead=True)
        order = [int(event["message"]) for event in stream["events"]]
        seen.append((sorted(order), order))
    assert seen[0][0] == seen[1][0]
    assert sorted(set(seen[0][0])) == list(range(40))
    assert len(seen[0][0]) > 42
    assert seen[0][1] != seen[0][0]


def test_a_clock_that_is_ahead_shows_everywhere(started):
    clock = ManualClock()
    bench = started(clock=clock, faults=[{"kind": "clock_ahead", "seconds": 240}], delays=Delays(cold_start_s=0.0))
    name = bench.shell("echo now")
    job = bench.completed(name)
    assert job["CreationTime"].timestamp() == clock.now() + 240
    assert job["TrainingEndTime"].timestamp() == clock.now() + 240
    assert bench.events(name)[0]["timestamp"] == int((clock.now() + 240) * 1000)


@pytest.fixture
def opened(tmp_path):
    """Open the log store of one folder, again and again."""
    databases = []

    def open_store(now=lambda: 0.0, most_pages=None):
        databases.append(Database(tmp_path / "logs.sqlite", SCHEMA))
        if most_pages is not None:
            databases[-1].run(f"PRAGMA max_page_count={most_pages}")
        return LogStore(databases[-1], now)

    yield open_store
    for database in databases:
        database.close()


def test_a_stream_is_read_from_a_time_without_reading_what_came_before(opened):
    store = opened()
    store.create("s")
    for block in range(200):
        store.append("s", [(block * 100 + number, "x" * 100) for number in range(100)])
    for same in (store, opened()):
        stream = same.get("s")
        first = next(same.read(stream, 0, since_ms=15_000_000))
        assert 0 <= 15_000_000 - first.timestamp_ms <= 1_000_000
        assert next(same.read(stream, 16_000, since_ms=15_000_000)).sequence == 16_000
        assert [event.timestamp_ms for event in same.read_back(stream, stream.count)] == [1000 * second for second in range(19_999, -1, -1)]
        assert list(same.read(stream, 0, since_ms=20_000_000)) == []
        assert (stream.count, stream.first_ms, stream.last_ms) == (20_000, 0, 19_999_000)


def test_an_early_event_that_arrives_late_hides_no_later_one(opened):
    store = opened()
    store.create("s")
    store.append("s", [(at, "in time") for at in range(1500)])
    store.append("s", [(1.0, "late")] * 1200)
    store.append("s", [(2000.0, "last")])
    for same in (store, opened()):
        stream = same.get("s")
        assert [event.message for event in same.read(stream, 0, since_ms=1_499_000) if event.timestamp_ms > 1_498_999] == [
            "in time",
            "last",
        ]
        assert [event.sequence for event in same.read(stream, 0, since_ms=2_000_000) if event.message == "last"] == [2700]


def test_streams_survive_and_go_on(opened):
    store = opened(lambda: 5.0)
    store.create("job/algo-1-5")
    store.create("empty")
    store.append("job/algo-1-5", [(1.0, "one"), (2.0, "two \ud83d".encode("utf-8", "replace").decode())])
    again = opened(lambda: 6.0)
    again.append("job/algo-1-5", [(3.0, "three")])
    assert [(event.message, event.timestamp_ms, event.ingested_ms) for event in again.read(again.get("job/algo-1-5"), 0)] == [
        ("one", 1000, 5000),
        ("two ?", 2000, 5000),
        ("three", 3000, 6000),
    ]
    assert (again.get("empty").created_ms, again.get("empty").last_ms) == (5000, None)
    again.delete("job/algo-1-5")
    again.create("new")
    assert opened().names() == ["empty", "new"]
    assert list(again.read(again.get("new"), 0)) == []


def test_events_that_the_disk_has_no_room_for_are_lost_and_counted(opened):
    store = opened(most_pages=20)
    store.create("s")
    store.append("s", [(1.0, "kept")])
    store.append("s", [(2.0, "lost"), (3.0, "x" * 100_000)])
    store.append("s", [(4.0, "kept")])
    assert [event.message for event in store.read(store.get("s"), 0)] == ["kept", "kept"]
    assert store.get("s").lost == 2


def test_errors_of_the_logs_api_can_be_asked_for(started):
    bench = started(faults=[{"kind": "throttle", "operation": "GetLogEvents,FilterLogEvents", "rate_per_s": 0.001, "burst": 1}])
    bench.completed(bench.shell("echo x"))
    logs = bench.client("logs")
    logs.filter_log_events(logGroupName=GROUP)
    with pytest.raises(ClientError) as caught:
        logs.filter_log_events(logGroupName=GROUP)
    assert caught.value.response["Error"]["Code"] == "ThrottlingException"
