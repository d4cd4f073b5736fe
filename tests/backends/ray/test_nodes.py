"""What is understood of a node that says nothing more; no cluster is asked."""

from __future__ import annotations

import pytest

from backends.ray.nodes import in_a_line, is_disk_full

TRACEBACK = """ray::NodeAgent.tell() (pid=7, ip=10.0.0.2)
  File "agent.py", line 88, in put
    tar.extractall(making)
OSError: [Errno 28] No space left on device"""


class ErrorOfTaskError(Exception):
    """As Ray's, whose text is the traceback there, and whose `cause` is what was raised."""

    def __init__(self, text, cause=None):
        super().__init__(text)
        self.cause = cause


def test_of_a_traceback_the_line_is_told_that_says_the_disk_is_full():
    told = in_a_line(ErrorOfTaskError(TRACEBACK))
    assert told == "ErrorOfTaskError: OSError: [Errno 28] No space left on device"
    assert is_disk_full(told)


def test_else_the_first_line_of_what_was_raised_there():
    assert in_a_line(ErrorOfTaskError(TRACEBACK, ValueError("\n wrong\nmore"))) == "ValueError: wrong"
    assert in_a_line(RuntimeError("")) == "RuntimeError: "
    assert len(in_a_line(RuntimeError("x" * 1000))) == 400


@pytest.mark.parametrize(
    ("why", "is_full"),
    [
        ("OutOfDiskError: Local disk is full", True),
        ("RayTaskError: the local disk's utilization is over capacity (95% by default).", True),
        ("OSError: [Errno 122] Disk quota exceeded", True),
        ("NodeDiedError: the node died", False),
    ],
)
def test_a_full_disk_is_known_by_the_systems_words_and_rays(why, is_full):
    assert is_disk_full(why) is is_full
