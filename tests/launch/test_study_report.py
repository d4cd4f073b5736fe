"""The report that a study leaves at its end."""

from __future__ import annotations

import importlib.util
import json

import pytest

pytestmark = pytest.mark.slow

WORDS = ("--benchmark", "toy.yaml", "--experiment_tag", "s", "--max_num_trials", "1", "--method", "RS", "--num_seeds", "2")


def test_it_lies_with_the_study_and_a_line_names_it(toy, run):
    code, out, _ = run(*WORDS)
    assert code in (0, 4)
    assert out.splitlines()[-2:] == ["results: results/s", "report: results/s/report.html"]
    assert "their p value" not in out  # of one method nothing is compared
    text = (toy.results / "s" / "report.html").read_text(encoding="utf-8")
    assert "<title>Outrider report: s</title>" in text
    figures = json.loads((toy.results / "s" / "figures.json").read_text(encoding="utf-8"))
    assert "best_so_far_trials" in {figure["key"] for figure in figures["figures"]}


def test_where_nothing_is_measured_since_it_stays_as_it_is(toy, run):
    run(*WORDS)
    report = toy.results / "s" / "report.html"
    before = report.stat()
    _, out, _ = run("--resume", "s")
    assert out.splitlines()[-1] == "report: results/s/report.html, as it was"
    assert report.stat().st_mtime_ns == before.st_mtime_ns
    _, out, _ = run("--resume", "s", "--num_seeds", "3")
    assert out.splitlines()[-1] == "report: results/s/report.html"
    assert report.stat().st_ino != before.st_ino
    report.unlink()
    _, out, _ = run("--resume", "s")
    assert out.splitlines()[-1] == "report: results/s/report.html"


def test_a_single_experiment_leaves_none(toy, run):
    run(*WORDS[:-2])
    assert not (toy.results / "s" / "report.html").exists()


def test_results_for_a_program_are_not_mixed_with_it(toy, run):
    _, out, err = run(*WORDS, "--format", "json")
    assert len(json.loads(out)["experiments"]) == 2
    assert "report: results/s/report.html" in err.splitlines()


def test_without_plotly_it_has_tables_only_and_the_line_says_so(toy, run, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "plotly" else found(name, *more))
    _, out, _ = run(*WORDS)
    assert (
        out.splitlines()[-1]
        == "report: results/s/report.html (tables only: figures need the extra, in Outrider's folder: pip install '.[report]')"
    )
    assert (toy.results / "s" / "report.html").stat().st_size < 300_000


def test_what_cannot_be_written_is_one_line_and_the_study_ends_as_it_would(toy, run):
    (toy.results / "s" / "report.html").mkdir(parents=True)
    code, out, err = run(*WORDS)
    assert code in (0, 4)
    assert "report:" not in out
    (line,) = [line for line in err.splitlines() if line.startswith("no report: ")]
    assert "cannot write results/s/report.html" in line


def test_a_fault_in_it_is_none_of_the_study_s(toy, run, monkeypatch):
    def broken(*arguments):
        raise KeyError("x")

    monkeypatch.setattr("benchmarking.figures.every.figures_of", broken)
    code, _, err = run(*WORDS)
    assert code in (0, 4)
    assert "no report: KeyError: 'x'; outrider report s tells more" in err


def test_it_asks_what_the_study_asks_of_its_comparison(toy, run):
    toy.define(study="{methods: [RS, GRID], seeds: 2, compare: {baseline: GRID, x: level, by: [method]}}")
    run("--benchmark", "toy.yaml", "--study", "--experiment_tag", "s", "--max_num_trials", "1")
    text = (toy.results / "s" / "report.html").read_text(encoding="utf-8")
    assert '<td class="word baseline">baseline</td>' in text
    rows = [row for row in text.split("<tr>") if '<td class="word baseline">' in row]
    assert all("GRID" in row for row in rows)
