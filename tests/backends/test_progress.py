"""How far a job is: what a line says, and what says nothing."""

import pytest

from backends.progress import ProgressLine, read_progress
from backends.reports import PROGRESS_MARK, ReportParser

LINE = '{"done": 3, "total": 12, "number": 1, "elapsed_s": 2.5, "cpu_s": 2.0, "phases_s": {"load": 0.5}, "outrider_rank": 0}'


def test_what_a_line_says():
    parser = ReportParser()
    assert parser.feed(f"{PROGRESS_MARK} {LINE}\nEpoch 1\n".encode()) == []
    assert parser.take_progress() == [ProgressLine(3.0, 12.0, 2.5, 2.0, {"load": 0.5}, 0, 1)]
    assert parser.take_progress() == []


def test_a_line_that_is_read_again_or_comes_late_says_nothing_new():
    parser = ReportParser()
    for number in (0, 1, 1, 0, 2):
        parser.feed(f'{PROGRESS_MARK} {{"done": {number}, "number": {number}, "elapsed_s": {number}}}\n'.encode())
    assert [one.done for one in parser.take_progress()] == [0.0, 1.0, 2.0]


def test_each_life_of_a_script_counts_anew():
    parser = ReportParser()
    for life, number in ((0, 5), (1, 0)):
        parser.feed(f'{PROGRESS_MARK} {{"done": 1, "number": {number}, "elapsed_s": 1, "outrider_incarnation": {life}}}\n'.encode())
    assert [(one.incarnation, one.number) for one in parser.take_progress()] == [(0, 5), (1, 0)]


@pytest.mark.parametrize(
    "said",
    [
        {"done": 1, "elapsed_s": 1, "outrider_rank": 1},
        {"done": float("nan"), "elapsed_s": 1},
        {"done": -1, "elapsed_s": 1},
        {"done": "3", "elapsed_s": 1},
        {"done": 3},
        {},
    ],
)
def test_other_ranks_and_what_is_no_amount_say_nothing(said):
    assert read_progress(said, 0) is None


@pytest.mark.parametrize(("said", "delayed_s"), [(1.5, 1.5), (0, 0.0), (None, 0.0), (-1, 0.0), ("much", 0.0), (float("nan"), 0.0)])
def test_time_that_others_had_the_processor_is_told_or_not_known(said, delayed_s):
    found = read_progress({"done": 3, "elapsed_s": 4, "delayed_s": said}, 0)
    assert found is not None
    assert found.delayed_s == delayed_s


@pytest.mark.parametrize("total", [0, -4, None, "many", float("inf")])
def test_a_total_that_is_none_is_left_open(total):
    found = read_progress({"done": 3, "total": total, "elapsed_s": 1}, 0)
    assert found is not None
    assert found.total is None


def test_a_garbled_line_is_counted_and_costs_nothing():
    parser = ReportParser()
    parser.feed(f"{PROGRESS_MARK} {{'done'\n".encode())
    assert parser.counts.alien == 1
    assert parser.take_progress() == []
