from itertools import islice, pairwise

import pytest

from benchmarking.workloads.load.arrivals import read_trace, schedule


def first(count, *arguments):
    return list(islice(schedule(*arguments), count))


def test_poisson_gaps_have_the_rate_and_the_spread():
    times = first(20_001, "poisson", 200.0, 3)
    gaps = [b - a for a, b in pairwise(times)]
    mean = sum(gaps) / len(gaps)
    assert mean == pytest.approx(1 / 200, rel=0.02)
    assert sum((gap - mean) ** 2 for gap in gaps) / len(gaps) == pytest.approx(mean**2, rel=0.05)


def test_one_seed_is_one_schedule_stretched():
    slow, fast = first(100, "poisson", 10.0, 7), first(100, "poisson", 40.0, 7)
    assert fast == pytest.approx([at / 4 for at in slow])
    assert first(100, "poisson", 10.0, 8) != slow


def test_constant_gaps_do_not_drift():
    assert first(100_001, "constant", 3.0, 0)[-1] == pytest.approx(100_000 / 3, abs=1e-9)


def test_a_trace_is_played_as_recorded_or_at_a_rate(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("time,size\n5.0,12\n5.5,3\n# none\n\n6.5,4\n6.0,1\n")
    trace = read_trace(path)
    assert trace == (5.0, 5.5, 6.0, 6.5)
    assert first(9, "trace", 0.0, 0, trace) == [0.0, 0.5, 1.0, 1.5]
    assert first(9, "trace", 4.0, 0, trace) == [0.0, 0.25, 0.5, 0.75]
    assert first(9, "trace", 4.0, 0, (2.0, 2.0)) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("text", "said"), [("", "empty"), ("time\n", "empty"), ("1\nx\n", "line 2"), ("1\nnan\n", "finite"), (None, "cannot be read")]
)
def test_a_trace_that_is_none_is_refused(tmp_path, text, said):
    path = tmp_path / "trace.txt"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SystemExit, match=said):
        read_trace(path)
