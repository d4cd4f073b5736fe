import pytest

from benchmarking.workloads.load.evidence import evidence_of
from benchmarking.workloads.load.judge import ProbeJudge, ProbeRules, is_steady, requests_needed

RULES = ProbeRules(rate=100.0, percentile=99.0, limit_s=0.01, length_s=60.0)


def fed(judge, blocks, at_a_time=1):
    for end in range(at_a_time, len(blocks) + 1, at_a_time):
        verdict = judge.look(blocks[:end])
        if verdict:
            return verdict, end
    return "", len(blocks)


@pytest.mark.parametrize(
    ("percentile", "over", "alpha", "needed"),
    [(99, 0, 0.05, 299), (99, 1, 0.05, 473), (99, 2, 0.05, 628), (95, 0, 0.05, 59), (99.9, 0, 0.05, 2995), (99, 0, 0.01, 459)],
)
def test_fewest_requests(percentile, over, alpha, needed):
    assert requests_needed(percentile, over, alpha) == needed


def test_none_over_is_promising_at_the_first_look_that_has_enough():
    verdict, blocks = fed(ProbeJudge(RULES, certifies=False), [(15, 0)] * 400)
    assert verdict == "passed"
    assert 459 <= 15 * blocks < 459 * 1.3 + 15


def test_what_is_certified_has_held_for_the_whole_probe():
    """However early it shows: a queue that grows slowly, or a server that is fast for its first seconds, is found out later."""
    judge, blocks = ProbeJudge(RULES), [(15, 0)] * 400
    assert fed(judge, blocks) == ("", 400)
    assert not judge.is_over(blocks, 59.9)
    assert judge.is_over(blocks, 60.0)
    assert judge.end(blocks) == "passed"
    assert ProbeJudge(RULES, certifies=False).is_over([(15, 1)] * 400, 60.0)  # who explores asks for no more time


def test_a_queue_that_grows_at_the_end_is_not_certified():
    """A quarter of what may be is over, all of it in the last quarter: by its number it passes, and yet it does not hold."""
    late = [(15, 0)] * 300 + [(15, 1 if number % 6 == 0 else 0) for number in range(100)]
    assert evidence_of(late).verdict(0.01, 0.025) == "passed"
    assert not is_steady(late, 0.01)
    assert ProbeJudge(RULES).end(late) == "undecided"
    assert ProbeJudge(RULES).end(late[::-1]) == "passed"


def test_all_over_fails_once_it_cannot_pass_any_more():
    """60 of the 6,000 requests of the whole probe may be over."""
    assert fed(ProbeJudge(RULES), [(15, 15)] * 400) == ("failed", 5)


def test_a_probe_that_cannot_pass_any_more_fails_before_the_next_look():
    """A queue that grows: from the fourth block on all are over, and 60 may be; the first look would be at 20 blocks."""
    verdict, blocks = fed(ProbeJudge(RULES), [(15, 0)] * 3 + [(15, 15)] * 100)
    assert verdict == "failed"
    assert 8 <= blocks <= 12


def test_what_is_near_the_limit_stays_undecided_and_says_how_long():
    judge = ProbeJudge(RULES)
    blocks = [(15, 1 if number % 8 == 0 else 0) for number in range(400)]
    assert fed(judge, blocks) == ("", 400)
    assert judge.end(blocks) == "undecided"
    assert 0 < judge.more_s() < 10_000


def test_blocks_are_few_enough_to_be_counted_at_each_look():
    assert ProbeRules(100.0, 99.0, 0.01, 30.0).block_s == pytest.approx(0.15)
    assert ProbeRules(5000.0, 99.0, 0.01, 60.0).block_s == pytest.approx(0.18)


def test_a_probe_goes_on_where_a_little_more_decides_it():
    """At 95 % 7 s and 5 blocks with none over are too few; another second is enough."""
    blocks = [(10, 0)] * 7
    judge = ProbeJudge(ProbeRules(10.0, 95.0, 0.01, 7.0))
    assert not judge.is_over(blocks, 6.9)
    assert not judge.is_over(blocks, 7.0)
    assert judge.is_over([(10, 0)] * 10, 10.0)  # decided
    # What lies at the limit is not decided in three times its length either.
    near = ProbeJudge(ProbeRules(10.0, 95.0, 0.01, 7.0))
    assert near.is_over([(20, 1)] * 4, 7.0)
    assert near.end([(20, 1)] * 4) == "undecided"


def test_requests_within_a_quarter_of_the_limit_count_as_one():
    assert ProbeRules(100.0, 99.0, 0.01, 30.0).least_inflation == 1.0
    slow = ProbeRules(100.0, 99.0, 0.4, 60.0)
    assert slow.least_inflation == pytest.approx(10.0)
    verdict, blocks = fed(ProbeJudge(slow, certifies=False), [(15, 0)] * 400)
    assert verdict == "passed"
    assert 15 * blocks >= 4590
