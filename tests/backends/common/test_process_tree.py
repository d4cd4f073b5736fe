"""Processes by what Linux tells of them."""

import os
import signal
import subprocess
import sys

import pytest

from backends.common import process_tree
from backends.common.process_tree import Process, read_process


def test_this_process_is_what_the_system_says():
    own = read_process(os.getpid())
    assert (own.pid, own.parent, own.group, own.session) == (os.getpid(), os.getppid(), os.getpgrp(), os.getsid(0))
    assert own.alive
    assert process_tree.all_processes()[os.getpid()].start_ticks == own.start_ticks
    assert read_process(2**22 + 1) is None


@pytest.mark.parametrize(("state", "alive"), [("R", True), ("S", True), ("D", True), ("Z", False), ("X", False)])
def test_what_waits_to_be_reaped_lives_no_more(state, alive):
    assert Process(1, state, 0, 1, 1, 5).alive is alive


def test_nobody_sends_a_signal_to_a_later_process_of_the_same_number():
    own = read_process(os.getpid())
    assert not process_tree.send(own._replace(start_ticks=own.start_ticks + 1), signal.SIGKILL)
    assert not process_tree.send(Process(2**22 + 1, "R", 0, 1, 1, 5), signal.SIGKILL)
    assert process_tree.send(own, signal.SIGCONT)


def test_groups_are_there_or_not():
    assert process_tree.send_group(os.getpgrp(), 0)
    assert not process_tree.send_group(2**22 + 1, 0)


def test_killing_gives_up_in_time_and_ends_when_none_is_left():
    looks = []

    def none_after_two():
        looks.append(1)
        return [] if len(looks) > 2 else [Process(2**22 + 1, "R", 0, 1, 1, 5)]

    assert process_tree.kill_until_gone(none_after_two, 10.0)
    assert len(looks) == 3
    assert not process_tree.kill_until_gone(lambda: [Process(2**22 + 1, "R", 0, 1, 1, 5)], 0.0)
    assert process_tree.kill_until_gone(lambda: [Process(2**22 + 1, "Z", 0, 1, 1, 5)], 0.0)


@pytest.mark.slow
def test_a_family_is_found_by_mark_by_session_by_parents_and_by_having_been_known():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'], env={})"
    mark = f"test-{os.getpid()}-mark."
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, start_new_session=True, env={"OUTRIDER_CONTROLLER": mark}
    ) as parent:
        try:
            # Between its fork and its program the child has its parent's environment still.
            while len(process_tree.descendants(parent.pid)) < 2 or all(
                process_tree.carries(one.pid, mark.encode()) for one in process_tree.descendants(parent.pid)
            ):
                pass
            first, second = process_tree.descendants(parent.pid)
            assert (first.pid, second.parent) == (parent.pid, parent.pid)
            assert process_tree.children(parent.pid) == [second.pid]
            assert parent.pid in process_tree.children(os.getpid())
            assert process_tree.carries(first.pid, mark.encode())
            assert not process_tree.carries(second.pid, mark.encode())
            expected = [one.pid for one in sorted((first, second))]
            for found in (
                process_tree.find(mark.encode()),
                process_tree.find(b"no such mark", {first.session}),
                process_tree.find(b"no such mark", (), [first]),
            ):
                assert [one.pid for one in found] == expected
            another = first._replace(start_ticks=first.start_ticks + 1)
            assert process_tree.find(b"no such mark", (), [another]) == []
        finally:
            assert process_tree.kill_until_gone(lambda: process_tree.descendants(parent.pid), 20.0)
    assert read_process(parent.pid) is None


def test_a_process_and_its_descendants_are_those_that_any_thread_started(tmp_path, monkeypatch):
    started = {1: {"1": "2 3 ", "7": "9"}, 2: {"2": "4 "}, 3: {"3": ""}, 4: {"4": ""}, 9: {"9": ""}}
    for pid, threads in started.items():
        for thread, found in threads.items():
            folder = tmp_path / str(pid) / "task" / thread
            folder.mkdir(parents=True)
            (folder / "children").write_text(found)
        (tmp_path / str(pid) / "stat").write_text(f"{pid} (a) b) S {1 if pid != 4 else 2} 1 1 " + "0 " * 15 + "77 0 0")
    monkeypatch.setattr(process_tree, "_PROC", str(tmp_path))
    assert sorted(process.pid for process in process_tree.descendants(1)) == [1, 2, 3, 4, 9]
