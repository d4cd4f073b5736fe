"""Lines about progress come ever less often."""

from benchmarking.datasets.pace import Pace


def test_lines_are_due_after_1_3_7_15_31_seconds_and_then_every_half_minute():
    now = [0.0]
    pace = Pace(lambda: now[0])
    due = []
    while now[0] < 130:
        if pace.is_due():
            due.append(now[0])
        now[0] += 0.5
    assert due == [1.0, 3.0, 7.0, 15.0, 31.0, 61.0, 91.0, 121.0]
