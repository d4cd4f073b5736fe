"""`outrider report` from the outside."""

from __future__ import annotations

import pytest

from definitions.errors import UserError
from launch.verbs.report import main


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
    assert "2 experiments, 1 benchmark, 1 method, 2 seeds." in text
    other = tmp_path / "new" / "a.html"
    assert main([str(reported.results), "-o", str(other)]) == 0
    assert other.read_text(encoding="utf-8") == text


@pytest.mark.slow
def test_without_plotly_the_report_has_tables_and_says_what_to_install(reported, capfd, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["c", "--results_dir", str(reported.results)]) == 0
    assert "pip install 'outrider[report]'" in capfd.readouterr().err
    assert (reported.results / "c" / "report.html").stat().st_size < 300_000


def test_an_unknown_tag_is_named(tmp_path):
    with pytest.raises(UserError, match="report x: there is nothing of this tag"):
        main(["x", "--results_dir", str(tmp_path)])
