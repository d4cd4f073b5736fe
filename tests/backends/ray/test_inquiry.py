"""What a cluster is asked without waiting for long; no cluster is asked."""

from __future__ import annotations

import threading
import time

import pytest

from backends.ray.inquiry import Inquiry


class Head:
    """Answers how often it was asked, while it answers."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_there = threading.Event()
        self.is_there.set()

    def __call__(self) -> int:
        self.asked += 1
        asked = self.asked
        assert self.is_there.wait(30.0)
        return asked


def until(holds) -> None:
    while not holds():
        time.sleep(0.001)


def test_each_answer_is_a_new_one_while_there_is_somebody_to_answer():
    inquiry = Inquiry(Head(), wait_s=30.0)
    assert [inquiry.answer(), inquiry.answer()] == [1, 2]


def test_while_nobody_answers_the_last_answer_holds_and_nobody_is_asked_again():
    head = Head()
    inquiry = Inquiry(head, wait_s=0.001)
    assert inquiry.answer() == 1
    head.is_there.clear()
    assert [inquiry.answer(), inquiry.answer(), inquiry.answer()] == [1, 1, 1]
    until(lambda: head.asked == 2)  # the one that still waits
    head.is_there.set()
    until(lambda: inquiry.answer() >= 2)


def test_what_asking_raises_is_raised_once_where_it_was_asked():
    said = iter([1, RuntimeError("no connection"), 2])

    def ask():
        one = next(said)
        if isinstance(one, Exception):
            raise one
        return one

    inquiry = Inquiry(ask, wait_s=30.0)
    assert inquiry.answer() == 1
    with pytest.raises(RuntimeError, match="no connection"):
        inquiry.answer()
    assert inquiry.answer() == 2
