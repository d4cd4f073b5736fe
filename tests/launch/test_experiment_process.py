"""The process that runs experiments for a command: what it is ordered while one runs, before, after, and when nobody is there any more."""

from __future__ import annotations

import io
import json
import os
import signal
import time

import pytest

from launch.experiment_process import Orders, Sender, SentPanel

RUN = {"run": "x", "place": "1 of 1"}


@pytest.fixture
def ordered():
    """Orders that are listened to, and what gives one; signals are as they were afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    reading, writing = os.pipe()
    stream = os.fdopen(writing, "w")
    orders = Orders(os.fdopen(reading))
    orders.start()

    def order(**one):
        stream.write(json.dumps(one) + "\n")
        stream.flush()

    order.end = stream.close
    yield orders, order
    orders.done()
    stream.close()
    for number, handler in before.items():
        signal.signal(number, handler)


def until(condition):
    """Wait for what another thread does, in this one, which signals come to."""
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline
        signal.sigtimedwait([], 0.001)


def test_to_wind_down_comes_once_however_often_it_is_ordered_and_to_stop_raises(ordered):
    orders, order = ordered
    seen = []
    order(**RUN)
    assert orders.next() == RUN

    def stopped():
        with orders.obeyed(lambda: seen.append("wound down")):
            order(order="wind_down")
            until(lambda: seen)
            os.kill(os.getpid(), signal.SIGTERM)  # as a service manager sends it to every process
            order(order="wind_down")
            order(order="stop")
            until(lambda: False)

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert seen == ["wound down"]


def test_an_order_that_comes_before_there_is_anything_to_end_is_not_lost(ordered):
    orders, order = ordered
    order(**RUN)
    order(order="wind_down")
    orders.next()
    until(lambda: orders.is_ordered_to_end)
    seen = []
    with orders.obeyed(lambda: seen.append(1)):
        assert seen == [1]


def test_an_order_for_one_that_is_over_does_nothing_and_the_next_one_runs(ordered):
    orders, order = ordered
    order(**RUN)
    orders.next()
    orders.done()
    order(order="stop")
    order(**RUN)
    orders.next()
    seen = []
    with orders.obeyed(lambda: seen.append(1)):
        signal.sigtimedwait([], 0.01)
    assert seen == []


def test_where_nobody_is_there_any_more_what_runs_is_wound_down_and_nothing_comes_after_it(ordered):
    orders, order = ordered
    order(**RUN)
    orders.next()
    seen = []
    with orders.obeyed(lambda: seen.append(1)):
        order.end()
        until(lambda: seen)
    orders.done()
    assert orders.next() is None


def test_the_order_to_leave_comes_to_what_runs_or_will_in_a_moment(ordered):
    orders, order = ordered
    seen = []
    order(**RUN)
    orders.next()
    with orders.obeyed(lambda: seen.append("wound down"), lambda: seen.append("left")):
        order(order="detach")
        until(lambda: seen)
    orders.done()
    order(**RUN)
    order(order="detach")
    orders.next()
    until(lambda: orders._is_left)  # noqa: SLF001 (nothing else shows that it has come)
    with orders.obeyed(lambda: seen.append("wound down"), lambda: seen.append("left")):
        assert seen == ["left", "left"]


def test_where_nobody_is_there_any_more_jobs_of_a_run_that_others_go_on_with_are_left():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    reading, writing = os.pipe()
    orders = Orders(os.fdopen(reading))
    orders.start(leaves=True)
    os.write(writing, (json.dumps(RUN) + "\n").encode())
    orders.next()
    seen = []
    with orders.obeyed(lambda: seen.append("wound down"), lambda: seen.append("left")):
        os.close(writing)
        until(lambda: seen)
    orders.done()
    assert orders.next() is None
    assert seen == ["left"]
    for number, handler in before.items():
        signal.signal(number, handler)


def test_messages_are_lines_and_one_that_nobody_hears_is_no_error():
    stream = io.StringIO()
    send = Sender(stream)
    send(say="a\nb")
    assert stream.getvalue() == json.dumps({"say": "a\nb"}, separators=(",", ":")) + "\n"
    reading, writing = os.pipe()
    os.close(reading)
    gone = os.fdopen(writing, "w")
    Sender(gone)(say="x")
    with pytest.raises(BrokenPipeError):
        gone.close()


def test_a_panel_is_sent_when_it_is_another_and_taken_away():
    sent, text = [], ["1"]
    panel = SentPanel(lambda **message: sent.append(message), every_s=3600.0)
    panel.start(lambda: text[0])
    panel.changed()
    panel.changed()
    text[0] = "2"
    panel.changed()
    panel.stop()
    assert sent == [{"panel": "1"}, {"panel": "2"}, {"panel": ""}]
