"""Figures of stored and made-up experiments, drawn in a real browser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.comparison.document import document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.figures.data import BarPanel, BarStack, Figure, PlotAxis
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
    return page_of("t", runs, found, figures_of(experiments, found, QUESTION), QUESTION)


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.mark.slow
@pytest.mark.timeout(400)  # dozens of figures, each at two widths, in a browser on a busy machine
@pytest.mark.parametrize("name", ["canary", "race", "repeated", "study"])
def test_every_figure_has_marks_at_any_width_in_any_light(chromium, tmp_path, name):
    page = drawn_page(study() if name == "study" else [stored(tmp_path, name)])
    path = tmp_path / "report.html"
    path.write_text(render(page, drawing_library()), encoding="utf-8")
    identities = {drawing.identity for section in page.sections for drawing in section.drawings}
    for width in WIDTHS:
        with opened(chromium, path.as_uri(), width) as (shown, seen):
            # Drawn once; the light is switched, as a reader's device does at dusk. test_render.py opens a page in each.
            for look in LOOKS:
                shown.emulate_media(**{"media": "screen", "color_scheme": "light", **look})
                counts = marks(shown)
                assert set(counts) == identities
                assert [identity for identity, count in counts.items() if count == 0] == []
                assert "WebGL" not in shown.inner_text("body")
                assert overflow(shown) <= 0
            shown.emulate_media(media="screen", color_scheme="light")
            assert serious_faults(shown) == []
            assert (seen.requests, seen.faults) == ([path.as_uri()], [])


def test_a_section_says_first_what_such_a_figure_shows_and_has_its_title_once():
    page = drawn_page(study())
    sections = {section.identity: section for section in page.sections}
    assert sections["parallel-axes"].notes[0] == "Each line is a configuration, and crosses the axis of each parameter at its value."
    assert sections["importance"].notes[0].startswith("How much of what differs between configurations each parameter explains")
    assert render(page, None).count(">Wins, ties and losses<") == 2  # in the navigation, and as the heading


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
        unfolded = shown.locator("details[open]").count()
        shown.pdf(path=tmp_path / "report.pdf")
        assert shown.locator("[data-plot]:has(.main-svg)").count() == every
        assert shown.locator("details[open]").count() == unfolded
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
        shown.wait_for_function(f"JSON.stringify({_DRAWN_WIDTHS}) === JSON.stringify({widths})")
        assert overflow(shown) <= 0
        assert seen.faults == []


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "print"])
def test_words_on_cells_are_dark_on_any_paper_and_other_words_are_the_page_s(chromium, tmp_path, look):
    path = tmp_path / "report.html"
    page = drawn_page(study())
    matrix = [section for section in page.sections if section.identity == "matrix"]
    path.write_text(render(replace(page, sections=matrix), drawing_library()), encoding="utf-8")
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


def test_a_method_looks_alike_in_all_figures_and_no_two_look_alike():
    looks = {}
    for section in drawn_page(study()).sections:
        if section.identity.startswith(("best", "seeds", "final")):
            for trace in (trace for drawing in section.drawings for trace in drawing.traces if trace.get("mode") != "lines"):
                looks.setdefault(trace["legendgroup"], set()).add(trace["marker"]["color"])
    assert set(looks) == {"RS", "TPE"}
    assert all(len(colours) == 1 for colours in looks.values())
    assert looks["RS"] != looks["TPE"]


def test_markup_in_names_is_text():
    panel = BarPanel("<b>p</b>", PlotAxis("m", categories=("<a href='x'>n</a>",)), PlotAxis("v"), (BarStack("<i>s</i>", (1.0,)),))
    drawing = figure_sections([Figure("k", "t", (panel,))], [])[0].drawings[0]
    assert drawing.traces[0]["name"] == "&lt;i&gt;s&lt;/i&gt;"
    assert drawing.layout["yaxis"]["ticktext"] == ["&lt;a href='x'&gt;n&lt;/a&gt;"]
