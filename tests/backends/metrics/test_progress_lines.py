"""Counters in lines become one count."""

import pytest

from backends.metrics.progress_lines import Count, ProgressLines
from definitions.metrics import ProgressSources
from definitions.progress import PROGRESS_PRESETS, expression_of


def counted(expressions, lines, epochs=None):
    found = ProgressLines(ProgressSources(tuple(map(expression_of, expressions)), epochs))
    return [(one.done, one.total) for line in lines if (one := found.take(line)) is not None]


NESTED = ["Epoch {epoch}/{epochs}, batch {step}/{steps}"]


def test_two_nested_counters_are_one():
    assert counted(NESTED, ["Epoch 1/90, batch 120/5004", "loss 0.3", "Epoch 3/90, batch 120/5004"]) == [
        (120.0, 90 * 5004.0),
        (2 * 5004 + 120.0, 90 * 5004.0),
    ]


def test_epochs_that_begin_with_0():
    assert counted(NESTED, ["Epoch 0/2, batch 5/10", "Epoch 1/2, batch 10/10"]) == [(5.0, 20.0), (20.0, 20.0)]


def test_an_epoch_in_a_line_of_its_own_and_steps_in_the_next():
    keras = PROGRESS_PRESETS["keras"]
    lines = ["Epoch 1/3", "20/40 ━━━ 1s 5ms/step", "40/40 ━━━ 1s 5ms/step", "Epoch 2/3", "4/40 ━━━ 1s 5ms/step"]
    assert counted(keras, lines) == [(0.0, None), (20.0, 120.0), (40.0, 120.0), (44.0, 120.0)]


def test_an_epoch_alone_is_through_with_its_line_and_one_that_begins_is_not():
    assert counted(["epoch {epoch}: loss"], ["epoch 1: loss 1", "epoch 2: loss 0.5"], epochs=4) == [(1.0, 4.0), (2.0, 4.0)]
    assert counted(["epoch {epoch}: loss"], ["epoch 0: loss 1", "epoch 1: loss 0.5"], epochs=4) == [(1.0, 4.0), (2.0, 4.0)]
    assert counted(["start of {begins}/{epochs}"], ["start of 1/4", "start of 2/4"]) == [(0.0, 4.0), (1.0, 4.0)]


def test_steps_of_an_epoch_that_nobody_tells_are_those_of_the_one_before():
    lines = ["Epoch 1, batch 100", "Epoch 1, batch 200", "Epoch 2, batch 100"]
    assert counted(["Epoch {epoch}, batch {step}"], lines, epochs=5) == [(100.0, None), (200.0, None), (300.0, 1000.0)]


def test_two_ranks_count_once():
    lines = [f"Epoch 1/2, batch {step}/50" for number in range(1, 50) for step in (number, max(1, number - 1))]
    found = counted(NESTED, lines)
    assert found == [(float(step), 100.0) for step in range(1, 50)]
    prefixed = [f"[rank{rank}]: Epoch 1/2, batch {step + 7 * rank}/50" for step in (1, 2) for rank in (0, 1)]
    assert counted(NESTED, prefixed) == [(1.0, 100.0), (2.0, 100.0)]


def test_a_count_that_goes_back_is_told():
    assert counted(["batch {step}/{steps}"], ["batch 90/100", "batch 10/100"]) == [(90.0, 100.0), (10.0, 100.0)]


def test_what_may_stop_early():
    lines = ProgressLines(ProgressSources((expression_of("round {step} of at most {at_most}"),)))
    assert lines.take("round 7 of at most 500") == Count(7.0, None, 500.0)


@pytest.mark.parametrize("line", ["", "Epoch x/y, batch 1/2", "Epoch 1/2", "x" * 5000])
def test_other_lines_say_nothing(line):
    assert counted(NESTED, [line]) == []
