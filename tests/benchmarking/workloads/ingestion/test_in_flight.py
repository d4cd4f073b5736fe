import threading

import pytest

from benchmarking.workloads.ingestion.in_flight import in_flight, streams_in_flight


def test_results_come_in_order_and_so_many_are_under_way_at_once():
    together = threading.Barrier(3, timeout=90)

    def work(number):
        together.wait()  # passes only where three of them are under way at once
        return number * number

    assert list(in_flight(work, range(9), 3)) == [number * number for number in range(9)]


def test_one_thread_is_the_callers_own():
    assert set(in_flight(lambda _: threading.get_ident(), range(4), 1)) == {threading.get_ident()}


def test_an_error_is_raised_in_its_turn():
    def work(number):
        if number == 2:
            raise ValueError("two")
        return number

    found = in_flight(work, range(5), 4)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ValueError, match="two"):
        next(found)


def test_streams_come_one_after_another_and_are_read_at_once():
    together = threading.Barrier(2, timeout=90)

    def stream(name):
        together.wait()
        yield from (f"{name}{number}" for number in range(50))

    assert list(streams_in_flight((stream(name) for name in "abcd"), 2)) == [f"{name}{number}" for name in "abcd" for number in range(50)]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_stream_comes_after_what_it_gave(threads):
    def stream():
        yield 1
        raise ValueError("cut")

    found = streams_in_flight([iter([0]), stream(), iter([2])], threads)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ValueError, match="cut"):
        next(found)


def test_who_stops_reading_leaves_no_thread_behind():
    before = threading.active_count()
    found = streams_in_flight((iter(range(10_000)) for _ in range(3)), 3, ahead=2)
    assert next(found) == 0
    found.close()
    assert threading.active_count() == before
