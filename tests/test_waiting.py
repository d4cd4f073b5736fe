import pytest

from tests.waiting import looks


class Clock:
    """Seconds that pass by sleeping alone; what was slept."""

    def __init__(self):
        self.now_s, self.slept = 100.0, []

    def __call__(self):
        return self.now_s

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now_s += seconds


def test_it_is_looked_soon_at_first_and_seldomer_later_and_once_more_at_the_end():
    clock = Clock()
    count = sum(1 for _ in looks(10.0, 0.2, clock, clock.sleep))
    assert clock.slept[:10] == [0.02] * 10
    assert clock.slept[-1] == 0.2
    assert clock.slept == sorted(clock.slept)
    assert 10.0 < clock.now_s - 100.0 <= 10.2
    assert count == len(clock.slept) + 1


def test_what_takes_half_a_second_is_seen_soon_after():
    clock = Clock()
    seen = next(clock.now_s for _ in looks(10.0, 0.2, clock, clock.sleep) if clock.now_s >= 100.5)
    assert seen == pytest.approx(100.5, abs=0.05)
    assert len(clock.slept) < 25
