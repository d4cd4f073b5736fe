"""What a command hears of a process that runs experiments for it, in which order."""

from __future__ import annotations

import os

import pytest

from launch.crew_member import PipeLines, heard


class Overtaken(PipeLines):
    """A pipe into which a process writes between two looks of the command, as it does where the machine lets the command wait."""

    def __init__(self, descriptor, writes):
        super().__init__(descriptor)
        self._writes = writes

    def read(self):
        for descriptor, text in self._writes:
            os.write(descriptor, text)
        self._writes = []
        return super().read()


@pytest.fixture
def pipes():
    made = [os.pipe(), os.pipe()]
    yield made
    for pair in made:
        for descriptor in pair:
            os.close(descriptor)


@pytest.mark.parametrize("late", ["messages", "errors"])
def test_a_line_on_stderr_is_heard_before_the_end_that_came_after_it(pipes, late):
    (messages, say), (errors, warn) = pipes
    writes = [(warn, b"WARNING of the first\n"), (say, b'{"outcome": {"exit_code": 0}}\n')]
    ours = Overtaken(messages, writes if late == "messages" else []), Overtaken(errors, writes if late == "errors" else [])
    assert [*heard(*ours), *heard(*ours)] == [{"say": "WARNING of the first"}, {"outcome": {"exit_code": 0}}]


def test_half_a_message_of_a_process_that_was_killed_is_none(pipes):
    (messages, say), (errors, warn) = pipes
    ours = PipeLines(messages), PipeLines(errors)
    os.write(say, b'{"stage": "runs"}\n{"outco')
    assert heard(*ours) == [{"stage": "runs"}]
    os.write(say, b'me"\n')
    os.write(warn, b"Killed\n")
    assert heard(*ours) == [{"say": "Killed"}]
