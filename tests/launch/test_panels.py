"""Panels: what a notebook is shown, and where which panel is drawn."""

from __future__ import annotations

import io
import sys
import threading
from types import SimpleNamespace

import pytest

from launch.panels import NotebookPanel, TerminalPanel, in_notebook, panel_here


class Cell:
    """Stands for IPython's `display` and the areas of a cell's output."""

    def __init__(self):
        self.areas = []
        self.changed = threading.Event()

    def __call__(self, bundle, **how):
        assert how == {"raw": True, "display_id": True}
        self.areas.append([bundle])
        return SimpleNamespace(update=self.update)

    def update(self, bundle, **how):
        assert how == {"raw": True}
        self.areas[-1].append(bundle)
        self.changed.set()

    def texts(self, area):
        return [bundle["text/plain"] for bundle in self.areas[area]]


def test_lines_stay_above_a_text_that_is_replaced():
    cell, text = Cell(), ["running"]
    panel = NotebookPanel(cell, every_s=3600.0)
    panel.say("first")
    panel.start(lambda: text[0])
    panel.say("second")
    text[0] = "done"
    panel.stop()
    assert cell.texts(0) == ["first", "first\nrunning", "first\nsecond\nrunning", "first\nsecond\ndone"]


def test_what_comes_after_a_stop_has_an_area_of_its_own():
    cell = Cell()
    panel = NotebookPanel(cell, every_s=3600.0)
    for name in ("one", "two"):
        panel.start(lambda name=name: name)
        panel.stop()
    panel.say("the end")
    assert [cell.texts(area)[-1] for area in range(3)] == ["one", "two", "the end"]


def test_it_redraws_by_itself_until_it_stops():
    cell, count = Cell(), iter(range(10**9))
    panel = NotebookPanel(cell, every_s=0.001)
    panel.start(lambda: str(next(count)))
    assert cell.changed.wait(90)
    panel.stop()
    drawn = len(cell.areas[0])
    cell.changed.clear()
    assert not cell.changed.wait(0.02)
    assert len(cell.areas[0]) == drawn > 2


def test_text_is_no_markup():
    cell = Cell()
    NotebookPanel(cell).say("x < 1 & <b>")
    assert cell.areas[0][0]["text/html"] == "<pre>x &lt; 1 &amp; &lt;b&gt;</pre>"


@pytest.mark.parametrize(
    ("is_terminal", "environ", "kind"),
    [(True, {"TERM": "xterm"}, TerminalPanel), (True, {"TERM": "dumb"}, None), (True, {}, None), (False, {"TERM": "xterm"}, None)],
)
def test_a_panel_is_drawn_where_it_can_be_redrawn(is_terminal, environ, kind):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    panel = panel_here(stream, environ)
    assert panel is None if kind is None else type(panel) is kind


@pytest.mark.parametrize(("shell", "expected"), [(None, False), (SimpleNamespace(), False), (SimpleNamespace(kernel=object()), True)])
def test_a_notebook_is_told_by_its_kernel(monkeypatch, shell, expected):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert in_notebook() is expected


def test_without_ipython_there_is_no_notebook(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
