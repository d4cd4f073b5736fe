"""The report of what goes on: made anew when something has changed, not more often than that, and never by two at once."""

from __future__ import annotations

import contextlib
import json
import threading

import pytest

from benchmarking.status import StatusReader
from launch.live_report import LiveReport, standing_section
from launch.report_server import ReportServer
from tests.benchmarking.archive.stored_folders import copied
from tests.benchmarking.page.browsing import browser, opened


class Clock:
    def __init__(self):
        self.at = 0.0

    def __call__(self):
        return self.at


@pytest.fixture
def folder(tmp_path):
    copied(tmp_path, "repeated")
    return tmp_path / "results" / "repeated"


def test_it_is_made_anew_only_when_something_has_changed(folder):
    standing = StatusReader().look([folder])
    looks = []

    def look():
        looks.append(clock.at)
        return [folder], standing

    clock = Clock()
    report = LiveReport(look, clock)
    first = report()
    assert "<title>Outrider report: repeated</title>" in first.page
    assert f'data-version="{first.version}"' in first.page
    assert json.loads(first.figures)["figures"][0]["key"] == "best_so_far_wallclock"
    assert report() is first
    standing = [*standing, *standing]
    clock.at += 1
    second = report()
    assert second.version != first.version
    assert "2 experiments: 2 killed. This page renews itself." in second.page
    assert second.figures == first.figures
    assert len(looks) == 3


def test_after_a_look_it_rests_four_times_as_long(folder):
    clock = Clock()
    looks = []

    def look():
        looks.append(clock.at)
        clock.at += 2.0
        return [folder], StatusReader().look([folder])

    report = LiveReport(look, clock)
    report()
    for at in (3.0, 9.9, 10.0):
        clock.at = at
        report()
    assert looks == [0.0, 10.0]


def test_before_the_first_result_it_says_how_they_stand(tmp_path):
    (tmp_path / "c").mkdir()
    report = LiveReport(lambda: ([tmp_path / "c"], []))
    assert "How they stand" in report().page
    assert "no experiment has begun" in report().page
    assert json.loads(report().figures)["figures"] == []


def test_while_it_is_made_others_get_the_one_before(folder):
    standing = StatusReader().look([folder])
    asked, go_on = threading.Event(), threading.Event()
    slow = False

    def look():
        if slow:
            asked.set()
            assert go_on.wait(90)
        return [folder], standing * 2 if slow else standing

    clock = Clock()
    report = LiveReport(look, clock)
    first = report()
    slow = True
    clock.at += 1
    found = []
    other = threading.Thread(target=lambda: found.append(report()))
    other.start()
    assert asked.wait(90)
    assert report() is first
    go_on.set()
    other.join(90)
    assert found[0].version != first.version
    assert report() is found[0]


def test_the_table_has_the_columns_that_hold_something(folder):
    (table,) = standing_section(StatusReader().look([folder])).tables
    names = [column.key for column in table.columns]
    assert names[:5] == ["tag", "benchmark", "method", "seed", "state"]
    assert "forecast" not in names


@pytest.mark.slow
def test_in_a_browser_it_renews_itself_as_the_reader_left_it_and_asks_nobody_else(folder):
    standing = StatusReader().look([folder])
    clock = Clock()
    report = LiveReport(lambda: ([folder], standing), clock)
    with contextlib.closing(ReportServer(0, report)) as server, browser() as chromium, opened(chromium, server.address) as (shown, seen):
        shown.evaluate("document.querySelector('section > details').open = true")
        first = shown.evaluate("document.documentElement.dataset.version")
        standing = standing * 2
        clock.at += 1
        shown.wait_for_selector(f"html[data-ready=yes]:not([data-version='{first}'])", state="attached", timeout=90_000)
        assert "2 experiments: 2 killed." in shown.inner_text("main")
        assert shown.evaluate("[...document.querySelectorAll('details')].filter(one => one.open).length") == 1
        assert set(seen.requests) == {server.address, f"{server.address}figures.json"}
        assert seen.faults == []
