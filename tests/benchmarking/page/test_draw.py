"""Figures of stored and made-up experiments, drawn in a real browser."""

from __future__ import annotations

import pytest

from benchmarking.comparison.document import document
from benchmarking.comparison.methods import ComparisonQuestion
from benchmarking.figures.data import BarPanel, BarStack, Figure, MatrixPanel, PlotAxis, PointGroup, PointPanel
from benchmarking.figures.every import figures_of
from benchmarking.page.draw import figure_section
from benchmarking.page.library import drawing_library
from benchmarking.page.render import render
from benchmarking.page.report import page_of
from tests.benchmarking.figures.made_details import experiment, stored, trial
from tests.benchmarking.page.browsing import LOOKS, WIDTHS, browser, marks, opened, overflow, serious_faults

QUESTION = ComparisonQuestion()


def study():
    """Two methods of four seeds with 25 trials each, of which TPE is better."""
    made = []
    for method, offset in (("RS", 1.0), ("TPE", 0.5)):
        for number in range(4):
            losses = [offset + 0.1 * number + 1 / (1 + at) for at in range(25)]
            trials = [
                trial(at, {"x": (at * 7 % 25) / 25, "kind": "ab"[at % 2]}, {"loss": loss, "acc": 0.5}) for at, loss in enumerate(losses)
            ]
            made.append(experiment(trials, method=method, number=number, losses=losses))
    return made


def drawn_page(experiments):
    runs = [one.run for one in experiments]
    found = document(runs, QUESTION)
    return page_of("t", runs, found, figures_of(experiments, found, QUESTION))


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("name", ["canary", "race", "repeated", "study"])
def test_every_figure_has_marks_at_any_width_in_any_light(chromium, tmp_path, name):
    page = drawn_page(study() if name == "study" else [stored(tmp_path, name)])
    path = tmp_path / "report.html"
    path.write_text(render(page, drawing_library()), encoding="utf-8")
    identities = {drawing.identity for section in page.sections for drawing in section.drawings}
    for width in WIDTHS:
        for look in LOOKS:
            with opened(chromium, path.as_uri(), width, **look) as (shown, seen):
                counts = marks(shown)
                assert set(counts) == identities
                assert [identity for identity, count in counts.items() if count == 0] == []
                assert (seen.requests, seen.faults) == ([path.as_uri()], [])
                assert "WebGL" not in shown.inner_text("body")
                assert overflow(shown) <= 0
    with opened(chromium, path.as_uri()) as (shown, _):
        marks(shown)
        assert serious_faults(shown) == []


def test_a_study_has_the_figures_of_its_methods_and_says_of_the_rest_why_not():
    sections = {section.identity: section for section in drawn_page(study()).sections}
    assert [*sections][:2] == ["methods", "best-so-far-wallclock"]
    assert {"best-so-far-trials", "seeds-trials", "final-values", "matrix", "importance", "parallel-axes"} <= set(sections)
    why = {row["figure"]: row["why"] for row in sections["not-drawn"].tables[0].rows}
    assert why["Ranks over benchmarks"] == "There is one benchmark alone."


def test_a_method_looks_alike_in_all_figures_and_no_two_look_alike():
    looks = {}
    for section in drawn_page(study()).sections:
        if section.identity.startswith(("best", "seeds", "final")):
            for trace in (trace for drawing in section.drawings for trace in drawing.traces if trace.get("mode") != "lines"):
                looks.setdefault(trace["legendgroup"], set()).add(trace["marker"]["color"])
    assert set(looks) == {"RS", "TPE"}
    assert all(len(colours) == 1 for colours in looks.values())
    assert looks["RS"] != looks["TPE"]


def test_stacked_bars_lie_downwards_with_their_values_and_intervals():
    panel = BarPanel(
        "p", PlotAxis("method", categories=("RS", "TPE")), PlotAxis("cost", "USD"), (BarStack("run", (1.0, 3.0), (0.5, 2.0), (2.0, 3.5)),)
    )
    section = figure_section(Figure("costs", "Costs", (panel,)), [])
    (trace,) = section.drawings[0].traces
    assert (trace["x"], trace["y"]) == ([1.0, 3.0], [0, 1])
    assert (trace["error_x"]["array"], trace["error_x"]["arrayminus"]) == ([1.0, 0.5], [0.5, 1.0])
    layout = section.drawings[0].layout
    assert layout["xaxis"]["title"]["text"] == "cost (USD)"
    assert (layout["yaxis"]["ticktext"], layout["yaxis"]["range"]) == (["RS", "TPE"], [1.5, -0.5])


def test_cells_of_a_matrix_are_shaded_between_the_least_and_the_greatest():
    panel = MatrixPanel("m", ("a", "b"), ("c", "d"), ((0.0, 1.0), (0.5, None)), (("low", "high"), ("mid", "")), PlotAxis("share"))
    first, second = figure_section(Figure("matrix", "Matrix", (panel,)), []).drawings[0].traces
    assert first["marker"]["color"] == ["rgb(214,120,60)", "rgb(88,150,205)"]
    assert second["marker"]["color"] == ["rgb(240,240,240)", "rgba(128,136,144,0.12)"]
    assert first["base"] == [-0.5, 0.5]


def test_points_of_one_name_stand_beside_each_other_and_their_aggregate_aside():
    groups = (PointGroup("RS", ("RS", "RS"), (1.0, 1.0)), PointGroup("RS: mean", ("RS",), (1.0,), group="RS", kind="aggregate"))
    panel = PointPanel("p", PlotAxis("method", categories=("RS",)), PlotAxis("loss"), groups)
    seeds, mean = figure_section(Figure("final_values", "Final", (panel,)), []).drawings[0].traces
    assert seeds["x"] == pytest.approx([-0.18, 0.18])
    assert mean["x"] == pytest.approx([0.3])


def test_markup_in_names_is_text():
    panel = BarPanel("<b>p</b>", PlotAxis("m", categories=("<a href='x'>n</a>",)), PlotAxis("v"), (BarStack("<i>s</i>", (1.0,)),))
    drawing = figure_section(Figure("k", "t", (panel,)), []).drawings[0]
    assert drawing.traces[0]["name"] == "&lt;i&gt;s&lt;/i&gt;"
    assert drawing.layout["yaxis"]["ticktext"] == ["&lt;a href='x'&gt;n&lt;/a&gt;"]
