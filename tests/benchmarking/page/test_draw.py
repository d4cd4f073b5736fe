"""Figures of stored and made-up experiments, drawn in a real browser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.comparison.document import document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.figures.data import (
    BarPanel,
    BarStack,
    Curve,
    Figure,
    LinePanel,
    MatrixPanel,
    PlotAxis,
    PointGroup,
    PointPanel,
    Reference,
    Span,
    SpanPanel,
)
from benchmarking.figures.every import figures_of
from benchmarking.page.draw import figure_sections
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
    assert [*sections][:2] == ["methods", "best-so-far"]
    assert {"seeds", "final-values", "matrix", "importance", "parallel-axes"} <= set(sections)
    why = {row["figure"]: row["why"] for row in sections["not-drawn"].tables[0].rows}
    assert why["Ranks over benchmarks"] == "There is one benchmark alone."


@pytest.mark.slow
def test_figures_are_drawn_when_one_comes_to_them_and_all_before_print(chromium, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render(drawn_page(study()), drawing_library()), encoding="utf-8")
    with opened(chromium, path.as_uri()) as (shown, seen):
        every = shown.locator("[data-plot]").count()
        assert shown.locator(".main-svg").count() < every
        before = shown.evaluate("document.documentElement.scrollHeight")
        for figure in shown.query_selector_all("figure:has([data-plot]):not(details figure)"):
            figure.scroll_into_view_if_needed()
            figure.wait_for_selector(".main-svg", state="attached")
        # Nothing moved, but by what a few figures are higher than they say.
        assert shown.evaluate("document.documentElement.scrollHeight") - before < 40
        assert 0 < shown.locator("[data-plot]:has(.main-svg)").count() < every
        shown.locator("section:has(#seeds) summary").first.click()
        shown.wait_for_selector("#seeds-trials-1 .main-svg", state="attached")
    with opened(chromium, path.as_uri()) as (shown, seen):
        shown.pdf(path=tmp_path / "report.pdf")
        assert shown.locator("[data-plot]:has(.main-svg)").count() == every
        assert shown.locator("details[open]").count() == 0
        assert (seen.requests, seen.faults) == ([path.as_uri()], [])


_DRAWN_WIDTHS = (
    "[...document.querySelectorAll('[data-plot] .main-svg:first-child')].map(one => Math.round(one.getBoundingClientRect().width))"
)


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_on_paper_all_figures_have_its_width_whenever_they_were_drawn_and_on_the_screen_theirs_again(chromium, tmp_path, width):
    path = tmp_path / "report.html"
    page = drawn_page(study())
    few = [section for section in page.sections if section.identity in ("best-so-far", "seeds")]
    path.write_text(render(replace(page, sections=few), drawing_library()), encoding="utf-8")
    with opened(chromium, path.as_uri(), width) as (shown, seen):
        every = shown.locator("[data-plot]").count()
        shown.evaluate("window.addEventListener('beforeprint', () => { window.printed = " + _DRAWN_WIDTHS + "; })")
        for figure in shown.query_selector_all("figure:has([data-plot]):not(details figure)")[:2]:
            figure.scroll_into_view_if_needed()
            figure.wait_for_selector(".main-svg", state="attached")
        before = shown.evaluate(_DRAWN_WIDTHS)
        assert 0 < len(before) < every
        assert all(abs(one - 680) > 20 for one in before)
        shown.pdf(path=tmp_path / "report.pdf", format="A4")
        # A sheet of A4 has 794 pixels, of which its margins leave at least 680.
        assert shown.evaluate("window.printed") == [680] * every
        shown.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        widths = "[...document.querySelectorAll('[data-plot]')].map(one => Math.round(one.clientWidth))"
        shown.wait_for_function(f"JSON.stringify({_DRAWN_WIDTHS}) === JSON.stringify({widths})", timeout=20_000)
        assert overflow(shown) <= 0
        assert seen.faults == []


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "print"])
def test_words_on_cells_are_dark_on_any_paper_and_other_words_are_the_page_s(chromium, tmp_path, look):
    path = tmp_path / "report.html"
    path.write_text(render(drawn_page(study()), drawing_library()), encoding="utf-8")
    with opened(chromium, path.as_uri(), **look) as (shown, _):
        marks(shown)
        fills = {
            name: shown.evaluate(f"getComputedStyle(document.querySelector('#matrix-1 {name}')).fill")
            for name in (".bartext", ".ytick text")
        }
        assert fills == {".bartext": "rgb(27, 31, 36)", ".ytick text": shown.evaluate("getComputedStyle(document.body).color")}


def test_figures_of_several_axes_are_one_section_and_many_are_folded():
    sections = {section.identity: section for section in drawn_page(study()).sections}
    assert [drawing.title for drawing in sections["seeds"].drawings] == ["b by wall-clock time", "b by finished trials", "b by cost"]
    assert [drawing.identity for drawing in sections["best-so-far"].drawings][:2] == ["best-so-far-wallclock-1", "best-so-far-trials-1"]
    assert {identity for identity, section in sections.items() if section.closed} == {"seeds"}


def test_small_dollars_are_written_out_and_small_seconds_as_powers_of_ten():
    panel = LinePanel("p", PlotAxis("cost", "USD"), PlotAxis("time", "s"), (Curve("RS", (1e-5, 2e-5), (1e-6, 2e-6)),))
    layout = figure_sections([Figure("best_so_far_cost", "Best so far by cost", (panel,))], [])[0].drawings[0].layout
    assert (layout["xaxis"]["exponentformat"], layout["yaxis"]["exponentformat"]) == ("none", "e")


@pytest.mark.parametrize(("better", "end"), [("min", (1, "top")), ("max", (0, "bottom")), ("", (0, "bottom"))])
def test_names_of_references_stand_where_curves_are_least(better, end):
    references = (Reference(20.0, "compared here"), Reference(0.9, "target", "y"))
    panel = LinePanel("p", PlotAxis("trials"), PlotAxis("acc", better=better), (Curve("RS", (1.0, 20.0), (0.1, 0.9)),), (), references)
    upright, lying = figure_sections([Figure("k", "t", (panel,))], [])[0].drawings[0].layout["annotations"]
    assert (upright["x"], upright["y"], upright["yanchor"]) == (20.0, *end)
    assert (lying["x"], lying["xanchor"], lying["y"]) == (0, "left", 0.9)


def test_a_bar_of_one_part_has_no_pattern_and_idle_time_stands_back():
    alone = BarPanel("p", PlotAxis("method", categories=("RS",)), PlotAxis("cost", "USD"), (BarStack("failed", (1.0,)),))
    lanes = SpanPanel("l", ("worker 1",), PlotAxis("time", "s"), ("run", "idle"), (Span(0, 0.0, 1.0, "run"), Span(0, 1.0, 2.0, "idle")))
    bar, run, idle = (trace for drawing in figure_sections([Figure("k", "t", (alone, lanes))], [])[0].drawings for trace in drawing.traces)
    assert "pattern" not in bar["marker"]
    assert "pattern" not in run["marker"]
    assert idle["marker"]["pattern"]["fillmode"] == "replace"


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
    section = figure_sections([Figure("costs", "Costs", (panel,))], [])[0]
    (trace,) = section.drawings[0].traces
    assert (trace["x"], trace["y"]) == ([1.0, 3.0], [0, 1])
    assert (trace["error_x"]["array"], trace["error_x"]["arrayminus"]) == ([1.0, 0.5], [0.5, 1.0])
    layout = section.drawings[0].layout
    assert layout["xaxis"]["title"]["text"] == "cost (USD)"
    assert (layout["yaxis"]["ticktext"], layout["yaxis"]["range"]) == (["RS", "TPE"], [1.5, -0.5])


def test_cells_of_a_matrix_are_shaded_between_the_least_and_the_greatest():
    panel = MatrixPanel("m", ("a", "b"), ("c", "d"), ((0.0, 1.0), (0.5, None)), (("low", "high"), ("mid", "")), PlotAxis("share"))
    first, second = figure_sections([Figure("matrix", "Matrix", (panel,))], [])[0].drawings[0].traces
    assert first["marker"]["color"] == ["rgb(214,120,60)", "rgb(88,150,205)"]
    assert second["marker"]["color"] == ["rgb(240,240,240)", "rgba(128,136,144,0.12)"]
    assert first["base"] == [-0.5, 0.5]


def test_points_of_one_name_stand_beside_each_other_and_their_aggregate_aside():
    groups = (PointGroup("RS", ("RS", "RS"), (1.0, 1.0)), PointGroup("RS: mean", ("RS",), (1.0,), group="RS", kind="aggregate"))
    panel = PointPanel("p", PlotAxis("method", categories=("RS",)), PlotAxis("loss"), groups)
    seeds, mean = figure_sections([Figure("final_values", "Final", (panel,))], [])[0].drawings[0].traces
    assert seeds["x"] == pytest.approx([-0.18, 0.18])
    assert mean["x"] == pytest.approx([0.3])


def test_markup_in_names_is_text():
    panel = BarPanel("<b>p</b>", PlotAxis("m", categories=("<a href='x'>n</a>",)), PlotAxis("v"), (BarStack("<i>s</i>", (1.0,)),))
    drawing = figure_sections([Figure("k", "t", (panel,))], [])[0].drawings[0]
    assert drawing.traces[0]["name"] == "&lt;i&gt;s&lt;/i&gt;"
    assert drawing.layout["yaxis"]["ticktext"] == ["&lt;a href='x'&gt;n&lt;/a&gt;"]
