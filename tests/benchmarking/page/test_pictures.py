"""Figures as PNG and SVG, and what is said where nothing draws them."""

from __future__ import annotations

import struct
import sys
import xml.etree.ElementTree as ET

import pytest

from benchmarking.figures.data import Curve, Figure, LinePanel, PlotAxis, Reference, Span, SpanPanel
from benchmarking.page.draw import figure_sections
from benchmarking.page.layouts import HEIGHT
from benchmarking.page.pictures import picture, write_pictures
from definitions.errors import UserError
from tests.benchmarking.page.browsing import CHROMIUM

LINES = LinePanel(
    "net", PlotAxis("time", "s"), PlotAxis("loss", better="min"), (Curve("RS", (0.0, 1.0), (2.0, 1.0)),), (), (Reference(0.5, "here"),)
)
LANES = SpanPanel("net: RS", ("worker 1",), PlotAxis("time", "s"), ("run",), (Span(0, 0.0, 1.0, "run"),))
SECTIONS = figure_sections([Figure("best", "Best so far", (LINES,)), Figure("time_line", "Time line", (LANES,))], [])


def size(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
def test_each_figure_is_a_png_and_an_svg_with_its_title_and_its_words(tmp_path):
    folder = tmp_path / "new" / "pictures"
    paths = write_pictures(SECTIONS, folder)
    assert [path.name for path in paths] == ["best-1.png", "best-1.svg", "time-line-1.png", "time-line-1.svg"]
    assert {path.name for path in folder.iterdir()} == {path.name for path in paths}
    assert size((folder / "best-1.png").read_bytes()) == (2 * 760, 2 * (HEIGHT + 44))
    assert size((folder / "time-line-1.png").read_bytes())[0] == 2 * 1200
    drawn = ET.parse(folder / "best-1.svg").getroot()
    words = {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Best so far: net", "time (s)", "loss (less is better)", "here"} <= words


def test_a_picture_has_paper_of_its_own_and_leaves_the_page_s_drawing_alone():
    drawing = SECTIONS[0].drawings[0]
    before = repr(drawing)
    layout = picture(drawing, "<b>T</b>")["layout"]
    assert (layout["paper_bgcolor"], layout["font"]["color"]) == ("#ffffff", "#1b1f24")
    assert layout["title"]["text"] == "&lt;b&gt;T&lt;/b&gt;"
    assert repr(drawing) == before


@pytest.mark.slow
def test_without_a_browser_it_is_said_how_to_get_one(tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "chromium"))
    with pytest.raises(UserError, match=r"no Chromium or Chrome.*\n.*apt-get install chromium.*BROWSER_PATH="):
        write_pictures(SECTIONS, tmp_path / "pictures")


@pytest.mark.slow
def test_a_browser_that_does_not_start_is_no_fault_of_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", "/bin/false")
    with pytest.raises(UserError, match="the browser that draws pictures does not work"):
        write_pictures(SECTIONS, tmp_path / "pictures")


def test_without_kaleido_it_is_said_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(UserError, match=r"kaleido.* is not installed\n.*pip install '\.\[report\]'"):
        write_pictures(SECTIONS, tmp_path / "pictures")
    assert not (tmp_path / "pictures").exists()
