"""The time line of a launched run's controllers, and their cost."""

from __future__ import annotations

from benchmarking.archive.controllers import PastGeneration
from benchmarking.figures.controllers import controllers_panel
from benchmarking.figures.data import Span
from benchmarking.figures.time_line import time_line_figure

ONE = PastGeneration(1, 1, "ctl-a-g1", 1000.0, 1060.0, 0.5, is_billed=True)
TWO = PastGeneration(1, 2, "ctl-a-g2", 1070.0, None, 0.25)
OTHER = PastGeneration(3, 1, "ctl-c-g1", 1010.0, 1100.0)


def test_each_generation_is_a_stretch_on_the_lane_of_its_controller():
    panel, _ = controllers_panel([TWO, OTHER, ONE])
    assert panel is not None
    assert (panel.lanes, panel.kinds) == (("controller 1", "controller 3"), ("generation 1", "generation 2"))
    assert panel.spans == (
        Span(0, 0.0, 60.0, "generation 1", "generation 1, ctl-a-g1: $0.50"),
        Span(0, 70.0, 100.0, "generation 2", "generation 2, ctl-a-g2: $0.25 so far, not over when it was collected"),
        Span(1, 10.0, 100.0, "generation 1", "generation 1, ctl-c-g1: cost not known"),
    )


def test_what_they_cost_is_said_and_is_a_bound_where_one_is_not_known():
    _, words = controllers_panel([ONE, TWO])
    assert words == "Controllers, by number and generation: 1/1 $0.50, 1/2 $0.25 so far; together $0.75, beside what trials cost."
    _, words = controllers_panel([ONE, OTHER])
    assert "together at least $0.50" in words
    emulated = PastGeneration(1, 1, "g", 0.0, 1.0, 0.5, is_billed=True, is_emulated=True)
    assert controllers_panel([emulated])[1].endswith("together $0.50 emulated, beside what trials cost.")


def test_a_run_of_this_machine_has_none():
    assert controllers_panel([]) == (None, "")
    assert controllers_panel([PastGeneration(1, 1, "never")]) == (None, "")
    figure = time_line_figure([], [ONE])
    assert [panel.title for panel in figure.panels] == ["controllers"]
    assert figure.notes[0].startswith("Controllers, by number and generation: 1/1 $0.50;")
    assert time_line_figure([]).panels == ()
