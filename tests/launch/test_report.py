"""`outrider report` from the outside."""

from __future__ import annotations

import os

import pytest

from definitions.errors import UserError
from launch.verbs.report import main
from tests.benchmarking.page.browsing import CHROMIUM


@pytest.fixture
def reported(toy, run):
    """One method, two seeds, under one tag."""
    assert run("--benchmark", "toy.yaml", "--method", "RS", "--num_seeds", "2", "--experiment_tag", "c", "--yes")[0] == 0
    return toy


@pytest.mark.slow
def test_a_report_goes_beside_the_experiments_or_where_it_is_told(reported, capfd, tmp_path):
    assert main(["c", "--results_dir", str(reported.results)]) == 0
    path = reported.results / "c" / "report.html"
    assert capfd.readouterr().out.strip() == str(path)
    text = path.read_text(encoding="utf-8")
    assert "<title>Outrider report: c</title>" in text
    assert "2 experiments, 1 benchmark, 1 method, 2 seeds; 20" in text  # then when they ran
    other = tmp_path / "new" / "a.html"
    assert main([str(reported.results), "-o", str(other)]) == 0
    assert other.read_text(encoding="utf-8") == text


@pytest.mark.slow
def test_beside_results_that_cannot_be_written_to_it_says_how_it_goes_elsewhere(reported, capfd, monkeypatch, tmp_path):
    real = os.access
    monkeypatch.setattr("os.access", lambda path, mode: str(path) != str(reported.results / "c") and real(path, mode))
    with pytest.raises(UserError) as caught:
        main(["c", "--results_dir", str(reported.results)])
    assert str(caught.value) == f"nothing can be written into {reported.results / 'c'}\n  --output FILE writes the report elsewhere"
    assert main(["c", "--results_dir", str(reported.results), "--output", str(tmp_path / "a.html")]) == 0


@pytest.mark.slow
def test_what_could_not_be_read_stands_on_the_page_too_as_who_gets_it_saw_nothing_else(reported, capfd):
    journal = reported.experiment("c", seed=1) / "journal.sqlite"
    journal.write_bytes(journal.read_bytes()[:5000])
    assert main(["c", "--results_dir", str(reported.results)]) == 0
    assert "warning: read from its CSV files" in capfd.readouterr().err
    text = (reported.results / "c" / "report.html").read_text(encoding="utf-8")
    assert "<li>read from its CSV files, without pauses: cannot open the journal" in text
    assert "RS-local-1/journal.sqlite" in text


@pytest.mark.slow
def test_without_plotly_the_report_has_tables_and_says_what_to_install(reported, capfd, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["c", "--results_dir", str(reported.results)]) == 0
    assert "pip install '.[report]'" in capfd.readouterr().err
    assert (reported.results / "c" / "report.html").stat().st_size < 300_000


@pytest.mark.slow
def test_pictures_go_where_they_are_told(reported, capfd, tmp_path):
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    assert main(["c", "--results_dir", str(reported.results), "--pictures", str(tmp_path / "p")]) == 0
    written = {path.name for path in (tmp_path / "p").iterdir()}
    assert {"best-so-far-trials-1.png", "best-so-far-trials-1.svg", "time-line-1.png"} <= written
    assert capfd.readouterr().out.splitlines()[-1] == f"{tmp_path / 'p'}: {len(written)} pictures"


@pytest.mark.slow
def test_without_a_browser_there_is_the_report_and_a_sentence(reported, capfd, tmp_path, monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "chromium"))
    with pytest.raises(UserError, match="no Chromium or Chrome"):
        main(["c", "--results_dir", str(reported.results), "--pictures", str(tmp_path / "p")])
    assert capfd.readouterr().out.strip() == str(reported.results / "c" / "report.html")
    assert (reported.results / "c" / "report.html").is_file()


def test_an_unknown_tag_is_named(tmp_path):
    with pytest.raises(UserError, match="report x: there is nothing of this tag"):
        main(["x", "--results_dir", str(tmp_path)])
