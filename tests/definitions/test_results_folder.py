from pathlib import Path

from definitions.results_folder import default_results_dir, results_words


def test_the_folder_of_results_comes_from_the_environment_where_none_is_given():
    assert default_results_dir({"OUTRIDER_RESULTS": "/data/runs"}) == Path("/data/runs")
    assert default_results_dir({}) == Path("results")


def test_a_printed_command_names_the_folder_of_results_where_it_is_not_the_usual_one(monkeypatch):
    monkeypatch.setenv("OUTRIDER_RESULTS", "/data/runs")
    assert results_words(Path("/data/runs")) == []
    assert results_words(Path("results")) == ["--results_dir", "results"]
