from pathlib import Path

from definitions.results_folder import default_results_dir


def test_the_folder_of_results_comes_from_the_environment_where_none_is_given():
    assert default_results_dir({"OUTRIDER_RESULTS": "/data/runs"}) == Path("/data/runs")
    assert default_results_dir({}) == Path("results")
