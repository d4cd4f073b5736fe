"""One pace for all processes: at most one call in so many seconds, whoever makes it, and nobody is left out."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from backends.sagemaker.aws.rate_limiter import RateLimiter
from backends.sagemaker.aws.shared_pace import SharedPace, key_of

ROOT = Path(__file__).parents[4]
FROZEN = """
import random, sys
from pathlib import Path
from backends.sagemaker.aws.shared_pace import SharedPace
print("ready", flush=True)
sys.stdin.readline()
for key in range(300):
    print(int(SharedPace(Path(sys.argv[1]), str(key), 1.0, random.Random(0), clock=lambda: 5.0).take()))
"""


class Clock:
    def __init__(self, now=100.0):
        self.now = now

    def __call__(self):
        return self.now


def paces(folder, clock, count, key="k"):
    return [SharedPace(folder, key, 1.0, random.Random(seed), clock, process=seed) for seed in range(count)]


def test_how_many_share_a_pace_is_known_at_each_ones_last_call_and_who_ended_is_forgotten(tmp_path):
    clock = Clock()
    members = [*paces(tmp_path, clock, 3), *paces(tmp_path, clock, 1, "other")]
    for one in members:
        assert one.take()
        clock.now += 1.1
    assert [one.sharers for one in members] == [1, 2, 3, 1]
    clock.now += 61.0
    assert members[0].take()
    assert members[0].sharers == 1


def test_several_that_always_want_make_one_call_a_second_together_and_each_its_part(tmp_path):
    clock, calls = Clock(), []
    members = paces(tmp_path, clock, 4)
    while clock.now < 200.0:
        calls += [(clock.now, at) for at, one in enumerate(members) if one.wait_s() == 0.0 and one.take()]
        clock.now += 0.01
    assert all(later - earlier >= 0.999 for (earlier, _), (later, _) in pairwise(calls))
    assert 90 <= len(calls) <= 100
    assert min(sum(at == member for _, at in calls) for member in range(4)) >= 10


def test_other_services_and_regions_have_a_pace_of_their_own(tmp_path):
    clock = Clock()
    keys = [key_of("ListTrainingJobs", region, url) for region in ("eu-west-1", "us-east-1") for url in (None, "http://127.0.0.1:1")]
    assert len({*keys}) == 4
    assert [paces(tmp_path, clock, 1, key)[0].take() for key in keys] == [True] * 4
    assert [paces(tmp_path, clock, 1, key)[0].take() for key in keys] == [False] * 4


def test_what_is_long_past_or_from_before_a_restart_of_the_machine_is_forgotten(tmp_path):
    (tmp_path / "calls.json").write_text(json.dumps({"k": 5000.0, "old": 1.0}))
    clock = Clock()
    assert paces(tmp_path, clock, 1)[0].take()
    assert json.loads((tmp_path / "calls.json").read_text()) == {"k": 100.0, "k/0": 100.0}


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"k": "x"}', "\x00\xff"])
def test_a_torn_file_keeps_nobody_waiting(tmp_path, text):
    (tmp_path / "calls.json").write_text(text)
    first, second = paces(tmp_path, Clock(), 2)
    assert (first.take(), second.take()) == (True, False)


def test_a_folder_that_cannot_be_used_leaves_each_its_own_pace(tmp_path):
    (tmp_path / "file").write_text("")
    assert paces(tmp_path / "file", Clock(), 1)[0].take()


@pytest.mark.slow
def test_two_processes_at_the_same_moment_make_one_call(tmp_path):
    words = [sys.executable, "-c", FROZEN, str(tmp_path)]
    both = [subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for one in both:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in both:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    found = [one.communicate(timeout=60)[0].split() for one in both]
    made = [int(a) + int(b) for a, b in zip(*found, strict=True)]
    # None where each met the other one with the file in its hands.
    assert max(made) == 1
    assert sum(made) > 100


def test_a_limiter_waits_for_the_calls_of_others(tmp_path):
    clock = Clock()
    ours, theirs = (RateLimiter(random.Random(0), shared={"ListTrainingJobs": one}.get) for one in paces(tmp_path, clock, 2))
    assert theirs.take("ListTrainingJobs", 7.0)
    assert ours.ready_at("ListTrainingJobs", 7.0) == 7.0  # it has not looked yet
    assert not ours.take("ListTrainingJobs", 7.0)
    assert 8.0 <= ours.ready_at("ListTrainingJobs", 7.0) <= 8.02
    assert ours.take("StopTrainingJob", 7.0)
    clock.now += 1.02
    assert ours.take("ListTrainingJobs", 8.02)
