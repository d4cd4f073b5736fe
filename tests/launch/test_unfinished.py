"""Experiments that failed for one cause are one line, which names them all."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from definitions.errors import EXIT_DONE, EXIT_FAILURES
from launch.unfinished import unfinished


def outcome(method, number, reason="not begun", cause="it is the script", benchmark="toy", code=EXIT_FAILURES):
    spec = SimpleNamespace(
        title=f"{benchmark} x {method} x seed {number} on local",
        definition=SimpleNamespace(name=benchmark),
        method=method,
        number=number,
        backend="local",
        resolved=SimpleNamespace(origins={}),
    )
    return SimpleNamespace(spec=spec, reason=reason, cause=cause, is_fine=code == EXIT_DONE)


def test_nothing_is_said_where_all_came_to_a_good_end():
    assert unfinished([outcome("RS", 0, code=EXIT_DONE)]) == ""


def test_one_or_two_are_named_as_everywhere_else_and_a_cause_of_several_lines_is_one():
    found = unfinished([outcome("RS", 0, "refused", "it cannot be\n  try more"), outcome("RS", 1, code=EXIT_DONE), outcome("RS", 2)])
    assert found.splitlines() == [
        "2 of 3 experiments did not come to a good end:",
        "  toy x RS x seed 0 on local: refused: it cannot be; try more",
        "  toy x RS x seed 2 on local: not begun: it is the script",
    ]


def test_many_of_one_cause_are_one_line_a_benchmark():
    many = [outcome(method, number) for number in (3, 1, 2, 7, 9) for method in ("RS", "TPE") if (method, number) != ("TPE", 9)]
    found = unfinished([*many, outcome("RS", 1, benchmark="other")])
    assert found.splitlines() == [
        "10 of 10 experiments did not come to a good end:",
        "  toy x RS x seeds 1 to 3, 7, 9, TPE x seeds 1 to 3, 7 on local: not begun: it is the script",
        "  other x RS x seed 1 on local: not begun: it is the script",
    ]


@pytest.mark.parametrize(("numbers", "words"), [((4,) * 3, "seeds 4, 4, 4"), ((0, 1, 2), "seeds 0 to 2"), ((0, 1, 3), "seeds 0, 1, 3")])
def test_only_rows_of_three_and_more_are_ranges(numbers, words):
    assert words in unfinished([outcome("RS", number) for number in numbers])
