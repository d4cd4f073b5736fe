"""Following controllers: each line once, each state once, a successor after its predecessor, and an exit code at the end."""

from __future__ import annotations

import pytest

from backends.sagemaker.controllers.creation import ShownController
from benchmarking.remote.generations import Generation
from benchmarking.remote.launch_record import LaunchRecord, SentPackage
from launch.launching import watching
from launch.launching.place import RunPlace
from launch.launching.resuming import ControllerStanding
from launch.launching.watching import Watch, state_text


class Logs:
    """CloudWatch with the lines that there are so far, by job."""

    def __init__(self):
        self.lines: dict[str, list[str]] = {}

    def get(self, service, attempts=None):
        assert service == "logs"
        return self

    def filter_log_events(self, logGroupName, logStreamNamePrefix, startTime, nextToken="0"):  # noqa: N803 (as boto3 calls them)
        lines = self.lines.get(logStreamNamePrefix.rstrip("/"), [])
        page, rest = lines[int(nextToken) : int(nextToken) + 2], lines[int(nextToken) + 2 :]
        events = [{"eventId": f"{logStreamNamePrefix}{line}", "timestamp": 1, "message": line} for line in page]
        return {"events": events, **({"nextToken": str(int(nextToken) + 2)} if rest else {})}


def standing(index, generation, state=None, failure=""):
    job = f"ctl-{index}-g{generation}"
    described = {"TrainingJobStatus": state, "SecondaryStatus": "Training" if state == "InProgress" else state, "FailureReason": failure}
    shown = None if state is None else ShownController(job, state, failure, described)
    return ControllerStanding(index, Generation(index, generation, job, "n", ""), shown)


@pytest.fixture
def watched(monkeypatch):
    """Return what runs a watch over scripted moments: lists of standings, and of (job, line) that came before each."""
    logs = Logs()

    def run(moments, count=1, longest_s=None):
        said: list[str] = []
        clock = [0.0]
        waiting = list(moments)

        def now(place, record):
            there, lines = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            for job, line in lines:
                logs.lines.setdefault(job, []).append(line)
            return there

        def sleep(seconds):
            clock[0] += seconds

        monkeypatch.setattr(watching, "standings", now)
        record = LaunchRecord("t", "n", "", "", SentPackage("k", "h"), controller={"count": count})
        watch = Watch(RunPlace("t", "b", "p", logs), record, said.append, sleep, lambda: clock[0])  # type: ignore[arg-type]
        return watch.until_over(longest_s), said

    return run


def test_a_successor_is_followed_and_each_line_is_said_once(watched):
    code, said = watched(
        [
            ([standing(1, 1, "InProgress")], [("ctl-1-g1", "a"), ("ctl-1-g1", "b"), ("ctl-1-g1", "c")]),
            ([standing(1, 1, "InProgress")], [("ctl-1-g1", "d")]),
            ([standing(1, 2)], []),  # claimed, about to be created
            ([standing(1, 2, "InProgress")], [("ctl-1-g2", "e")]),
            ([standing(1, 2, "Completed")], [("ctl-1-g2", "f")]),
        ]
    )
    assert code == 0
    assert said == [
        "a",
        "b",
        "c",
        "ctl-1-g1: InProgress (Training)",
        "d",
        "e",
        "ctl-1-g2: InProgress (Training)",
        "f",
        "ctl-1-g2: Completed",
    ]


def test_of_several_each_line_says_whose_it_is_and_the_gravest_end_counts(watched):
    code, said = watched(
        [([standing(1, 1, "Completed"), standing(2, 1, "Failed", "no role")], [("ctl-2-g1", "x")])],
        count=2,
    )
    assert code == 5
    assert "ctl-2-g1: x" in said
    assert "ctl-2-g1: Failed: no role" in said


def test_a_run_that_was_stopped_was_interrupted(watched):
    assert watched([([standing(1, 1, "Stopped")], [])])[0] == 130


def test_a_generation_that_is_never_created_is_not_awaited_for_ever(watched):
    assert watched([([standing(1, 1)], [])])[0] == 0


def test_it_gives_up_after_so_many_seconds(watched):
    assert watched([([standing(1, 1, "InProgress")], [])], longest_s=60.0)[0] is None


def test_a_state_is_said_with_its_reason():
    assert state_text({"TrainingJobStatus": "Failed", "SecondaryStatus": "Failed", "FailureReason": "why"}) == "Failed: why"
    assert state_text({"TrainingJobStatus": "InProgress", "SecondaryStatus": "Starting"}) == "InProgress (Starting)"
