"""The page in a real browser: it asks for nothing, draws everything, fits, sorts, and keeps nobody out."""

from __future__ import annotations

import csv
import io
import re

import pytest

from benchmarking.comparison.document import COLUMNS, document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.export.files import csv_text
from benchmarking.page.comparison import comparison_section
from benchmarking.page.drawing import Drawing, Page, Section
from benchmarking.page.library import drawing_library
from benchmarking.page.render import WITHOUT_PLOTLY, render
from benchmarking.page.tables import table_of
from tests.benchmarking.comparison.made_runs import run, several
from tests.benchmarking.page.browsing import LOOKS, WIDTHS, browser, marks, opened, overflow, serious_faults

EVIL = "</script><script>window.stolen = 1</script><img src=x onerror='window.stolen = 2'>\u0000\ud800 \u00e9\u4e2d\u6587 " + "x" * 10_000
RUNS = [
    *several("RS", [2.0, 2.2, 1.8, 2.1, 1.9, 2.05]),
    *several("TPE", [1.0, 1.1, 0.9, 1.05, 0.95, 1.01]),
    *several("BO", [2.05, 1.9, 2.1, 1.8, 2.2, 1.95]),
    *several(EVIL, [3.0, 12.0, 7.0]),
]
QUESTION = ComparisonQuestion()
FOUND = document(RUNS, QUESTION)


def page() -> Page:
    drawn = Drawing(
        "sample",
        "A sample",
        "Two points.",
        [{"type": "scatter", "x": [1, 2], "y": [2, 1], "name": "a", "mode": "lines+markers"}],
        {"height": 300, "margin": {"l": 40, "r": 10, "t": 10, "b": 30}},
        table_of("Points", [{"x": 1, "y": 2.0, "name": EVIL}, {"x": 2, "y": None, "name": "b"}]),
    )
    return Page(
        EVIL,
        EVIL,
        [*FOUND.verdicts, EVIL],
        [EVIL],
        [comparison_section(FOUND, QUESTION), Section("figures", "Figures", [EVIL, "b"], drawings=[drawn], terms=[(EVIL, EVIL)])],
    )


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(page(), drawing_library()), encoding="utf-8")
    return path.as_uri()


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "print"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_draws_all_asks_for_nothing_and_fits(chromium, address, width, look):
    with opened(chromium, address, width, **look) as (shown, seen):
        assert all(count > 0 for count in marks(shown).values())
        assert "WebGL" not in shown.inner_text("body")
        assert overflow(shown) <= 0
        assert serious_faults(shown) == []
        assert seen.requests == [address]
        assert seen.faults == []
        assert shown.evaluate("window.stolen") is None


_WORDS_IN_PARTS = """
[...document.querySelectorAll("section > .scroll th")].flatMap((head) => {
  const walker = document.createTreeWalker(head, NodeFilter.SHOW_TEXT), found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    for (const word of node.textContent.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (range.getClientRects().length > 1) found.push(word[0]);
    }
  }
  return found;
})
"""


@pytest.mark.slow
def test_on_paper_heads_of_columns_keep_their_words_whole(chromium, tmp_path):
    runs = [one for name in ("b", "c") for method in ("RS", "TPE", "BO") for one in several(method, [2.0, 2.2, 1.8], name)]
    found = document(runs, QUESTION)
    path = tmp_path / "report.html"
    path.write_text(render(Page("t", "t", [], [], [comparison_section(found, QUESTION)]), None), encoding="utf-8")
    with opened(chromium, path.as_uri(), 720, media="print") as (shown, _):
        assert shown.locator("section > .scroll th").count() > 15
        assert shown.evaluate(_WORDS_IN_PARTS) == []
        assert overflow(shown) <= 0


@pytest.mark.slow
def test_sorted_tables_are_the_csv_of_compare(chromium, address):
    known = list(csv.DictReader(io.StringIO(csv_text(list(COLUMNS), [[row[name] for name in COLUMNS] for row in FOUND.rows]))))
    with opened(chromium, address) as (shown, _):
        shown.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        for key in COLUMNS:
            for falling in (False, True):
                shown.locator(f"table[data-csv=compare] th[data-key={key}] button").press("Enter")
                assert cells(shown, "table[data-csv=compare]") == ordered(known, key, falling), (key, falling)


def cells(shown, table):
    rows = shown.evaluate(
        f"[...document.querySelectorAll('{table} tbody tr')].map(row => [...row.cells].map(cell => cell.dataset.value ?? cell.textContent))"
    )
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def ordered(rows, key, falling):
    """Return rows as a person would sort them: numbers by size, what is absent last; equal ones as they stood before."""
    there = [row for row in rows if row[key] != ""]
    number = all(re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", row[key]) for row in there)
    there.sort(key=lambda row: float(row[key]) if number else row[key].encode("utf-16-be", "surrogatepass"), reverse=falling)
    rows[:] = [*there, *(row for row in rows if row[key] == "")]
    return [{name: clean(value) for name, value in row.items()} for row in rows]


def clean(text):
    return text.replace("\u0000", "\ufffd").replace("\ud800", "\ufffd")


@pytest.mark.slow
def test_keyboard_and_screen_reader_reach_every_table(chromium, address):
    with opened(chromium, address, 390) as (shown, _):
        shown.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        reached = set()
        for _ in range(200):
            shown.keyboard.press("Tab")
            found = shown.evaluate("document.activeElement.closest('.scroll')?.getAttribute('aria-label')")
            reached |= {found} - {None}
        assert reached == set(shown.evaluate("[...document.querySelectorAll('table caption')].map(one => one.textContent)"))
        pictures = shown.evaluate("[...document.querySelectorAll('[data-plot]')].map(one => [one.getAttribute('role'), one.ariaLabel])")
        assert pictures == [["img", "A sample. Two points."]]


def test_sentences_that_are_no_verdicts_stand_back():
    short = [run("RS", 2, [9.0, 2.0]), run("TPE", 2, [])]
    runs = [*(run(method, number, [9.0] * 9) for method in ("RS", "TPE") for number in range(2)), *short]
    runs += [run(method, 0, [1.0, 2.0], benchmark="c") for method in ("RS", "TPE", "BO")]
    found = document(runs, QUESTION)
    text = render(Page("t", "t", found.verdicts, [], []), None)
    looks = {line.partition(">")[2]: line.partition(">")[0] for line in re.findall("<li([^/]*)</li>", text.partition("To know")[0])}
    kinds = {said: look for said, look in looks.items() if said in found.verdicts}
    backs = {
        words for said, look in kinds.items() for words in ("least far", "no result", "not ranked") if words in said and "note" in look
    }
    assert backs == {"least far", "no result", "not ranked"}
    assert not any("note" in look for said, look in kinds.items() if "nothing is said" in said or "not decided" in said)


def test_without_the_drawing_library_the_numbers_stand_open_and_it_is_said_how_to_get_it():
    text = render(page(), None)
    assert WITHOUT_PLOTLY.replace("'", "&#x27;") in text
    assert "<details open><summary>Numbers of this figure" in text
    assert 'id="plotly"' not in text
    assert "data-plot=" not in text.partition("<script>")[0]


def test_the_policy_lets_in_no_request_and_only_our_scripts():
    text = render(page(), drawing_library())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#x27;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in policy.partition("style-src")[0]
    assert "http:" not in policy
    assert "connect-src" not in policy
    assert "<script>window.stolen" not in text
