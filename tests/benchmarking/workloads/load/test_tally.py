import json

import pytest

from benchmarking.workloads.load.figures import figures_of
from benchmarking.workloads.load.tally import LoadTally


def counted(rows, counts_cold=True):
    """Each row: block, latency or None for a failure, and whether it was cold."""
    made = LoadTally(0.1, 5.0, counts_cold)
    for block, latency_s, is_cold in rows:
        made.sends(block, 0.001)
        if latency_s is None:
            made.fails(block, block, "status_500", 0.001, "oops")
        else:
            made.answers(block, block, latency_s, latency_s / 2, is_cold=is_cold)
    return made


ROWS = [(0, 0.05, False), (0, 0.2, False), (1, None, False), (1, 0.01, False), (2, 3.0, True), (2, 0.1, False)]


def short(made):
    return {block: counts[:3] for block, counts in made.blocks.items()}


def test_blocks_count_what_was_due_ended_and_over():
    made = counted(ROWS)
    made.sends(3, 0.0)
    assert short(made) == {0: [2, 2, 1], 1: [2, 2, 1], 2: [2, 2, 1], 3: [1, 0, 0]}
    assert short(counted(ROWS, counts_cold=False))[2] == [1, 1, 0]
    # Of levels from 1 down to 0.058 of 0.1 s: 0.2 s is over all, 0.05 s over those from 0.49 on.
    assert made.blocks[0][2:] == [1] * 5 + [2] * 8


def test_blocks_are_read_as_far_as_all_is_settled():
    made = counted([(0, 0.05, False), (2, 0.2, False)])
    made.sends(3, 0.0)
    made.sends(4, 0.0)
    made.answers(4, 0, 0.01, 0.01)
    assert [block[:2] for block in made.settled_blocks(9)] == [(1, 0), (1, 1)]
    made.ages(3)
    assert [block[:2] for block in made.settled_blocks(9)] == [(1, 0), (1, 1), (1, 1), (1, 0)]
    assert len(made.settled_blocks(3)) == 2
    made.answers(3, 0, 7.0, 7.0, is_settled=True)
    assert made.blocks[3][:3] == [1, 1, 1]


def test_what_aged_and_turns_out_cold_is_left_out_where_only_warm_ones_count():
    made = LoadTally(0.1, 5.0, counts_cold=False)
    made.sends(0, 0.0)
    made.ages(0)
    made.answers(0, 0, 7.0, 7.0, is_cold=True, is_settled=True)
    assert set(made.blocks[0]) == {0}


def test_a_failure_never_looks_fast():
    """TechEmpower #117, wrk #28: half of the calls answered by 500 in 1 ms."""
    made = counted([(0, 0.02, False), (0, None, False)] * 50)
    found = figures_of(made, 10.0)
    assert found["latency_p50_ms"] == pytest.approx(20, rel=1e-3)
    assert found["latency_p95_ms"] == found["latency_p99_ms"] == found["latency_max_ms"] == 5000.0
    assert (found["error_share"], found["errors_status_500"], found["achieved_per_s"]) == (0.5, 50, 5.0)


def test_cold_and_warm_are_apart():
    found = figures_of(counted(ROWS), 3.0)
    assert found["cold_share"] == pytest.approx(1 / 5)
    assert found["cold_p95_ms"] == 3000.0
    assert figures_of(counted(row for row in ROWS if row[1]), 3.0)["latency_max_ms"] == 200.0


def test_nothing_counted_is_no_figure():
    assert figures_of(LoadTally(0.1, 5.0), 0.0) == {"requests": 0, "achieved_per_s": 0.0}


def test_an_age_beyond_the_limit_counts():
    made = counted([(0, 0.02, False)])
    made.sends(0, 0.0)
    made.fails(0, 0, "unanswered", 7.5)
    assert figures_of(made, 1.0)["latency_max_ms"] == 7500.0


def test_shares_merge_exactly():
    whole = counted(ROWS)
    merged = LoadTally(0.1, 5.0)
    for part in (counted(ROWS[::2]), counted(ROWS[1::2])):
        merged.merge(LoadTally.from_dict(json.loads(json.dumps(part.as_dict()))))
    assert merged.as_dict() == whole.as_dict()
    assert sum(window.errors for window in merged.windows.values()) == 1


def test_where_nobody_says_what_was_cold_there_is_no_share():
    made = LoadTally(0.1, 5.0)
    made.sends(0, 0.0)
    made.answers(0, 0, 0.01, 0.01)
    assert "cold_share" not in figures_of(made, 1.0)
    made.sends(0, 0.0)
    made.answers(0, 0, 0.01, 0.01, is_cold=False)
    assert figures_of(made, 1.0)["cold_share"] == 0.0
