"""A controller as a child, its process replaced by a fake: how it is started, asked, ended, and what is kept of what it said."""

from __future__ import annotations

import io
import os
import queue
import signal
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from launch.remote import controller_process
from launch.remote.controller_process import ControllerProcess
from launch.remote.lives import Asked


class Child:
    """In the place of a process: what it was started with, what it was sent, and an end that a test brings about."""

    pid = 4711

    def __init__(self, words: Any, **given: Any) -> None:
        self.words, self.given = words, given
        self.sent: list[Any] = []
        self.ended = threading.Event()
        reading, writing = os.pipe()
        self.stderr, self.said = os.fdopen(reading, "rb"), os.fdopen(writing, "wb")
        world.children.append(self)

    def send_signal(self, number: int) -> None:
        self.sent.append(number)

    def kill(self) -> None:
        self.sent.append("kill")

    def wait(self) -> int:
        self.ended.wait(60.0)
        return -9

    def end(self, said: bytes) -> None:
        self.said.write(said)
        self.said.close()
        self.ended.set()


world = SimpleNamespace(children=[], order=[])


@pytest.fixture
def order(monkeypatch):
    """What was done about processes, in order."""
    world.children, world.order = [], []
    monkeypatch.setattr(controller_process.subprocess, "Popen", Child)
    monkeypatch.setattr(controller_process, "Subreaper", lambda: SimpleNamespace(claim=lambda: world.order.append("subreaper")))
    monkeypatch.setattr(controller_process, "take_first", lambda pid, by: world.order.append((pid, by)))
    monkeypatch.setattr(controller_process, "kill_until_gone", lambda find, most_s: world.order.append((find, most_s)))
    return world.order


def started(errors: Any = None) -> tuple[ControllerProcess, Child, queue.SimpleQueue[int]]:
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    process = ControllerProcess(["python", "-m", "launch"], Path("/root"), {"A": "b"}, errors or io.BytesIO(), ended.put)
    return process, world.children[-1], ended


def test_it_is_a_session_of_its_own_with_the_given_variables_alone_and_is_taken_before_its_supervisor(order):
    process, child, ended = started()
    assert child.words == ["python", "-m", "launch"]
    assert child.given == {
        "cwd": Path("/root"),
        "env": {"A": "b"},
        "stdin": subprocess.DEVNULL,
        "stderr": subprocess.PIPE,
        "start_new_session": True,
    }
    # Its orphans come here before any can be made.
    assert order == ["subreaper", (4711, 300)]
    assert process.pid == 4711
    child.end(b"")
    assert ended.get(timeout=60.0) == -9


def test_its_end_is_told_once_nobody_of_it_is_left_and_its_last_three_lines_are_kept(order):
    heard = io.BytesIO()
    process, child, ended = started(heard)
    child.end(b"one\n\n  two  \nth\xffree\nfour\n")
    assert ended.get(timeout=60.0) == -9
    assert ended.empty()
    find, most_s = order[-1]
    assert (find, most_s) == (controller_process._left_behind, 10.0)  # noqa: SLF001 (what is killed)
    assert process.last_words() == "two th\ufffdree four"
    assert heard.getvalue() == b"one\n\n  two  \nth\xffree\nfour\n"


@pytest.mark.parametrize("error", [OSError("no space"), ValueError("closed")])
def test_a_log_that_takes_nothing_ends_nothing(order, error):
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise error

    process, child, ended = started(Full())
    child.end(b"one\ntwo\n")
    assert ended.get(timeout=60.0) == -9
    assert process.last_words() == "one two"


def test_each_way_to_end_has_its_signal(order):
    process, child, ended = started()
    for asked in (Asked.WIND_DOWN, Asked.DETACH, Asked.HAND_OVER):
        process.ask(asked)
    process.kill()
    assert child.sent == [signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR1, "kill"]
    child.end(b"")
    ended.get(timeout=60.0)


def test_left_behind_is_what_descends_from_here_and_not_this_process_itself(monkeypatch):
    own = SimpleNamespace(pid=os.getpid())
    other = SimpleNamespace(pid=os.getpid() + 1)
    ends = iter([(5, 0), (6, 0), (0, 0)])
    monkeypatch.setattr(controller_process, "descendants", lambda pid: [own, other] if pid == os.getpid() else [])
    monkeypatch.setattr(controller_process.os, "waitpid", lambda pid, how: next(ends))
    assert controller_process._left_behind() == [other]  # noqa: SLF001 (what is killed)
    assert [*ends] == []

    def none(pid, how):
        raise ChildProcessError

    monkeypatch.setattr(controller_process.os, "waitpid", none)
    assert controller_process._left_behind() == [other]  # noqa: SLF001
