"""Canaries of earlier runs: which full runs score which forecasts."""

import textwrap

import pytest

from benchmarking.forecasting.data.results_folder import read_folder
from benchmarking.forecasting.model.calibration import Calibration
from benchmarking.forecasting.past_jobs import calibration_of
from definitions.errors import UserError
from launch.__main__ import main

pytestmark = pytest.mark.slow

SCRIPT = """\
import argparse, time
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=int)
parser.add_argument("--fraction", type=float)
parser.add_argument("--extra", type=int, default=0)
given = parser.parse_args()
from outrider_report import phase, report
with phase("train"):
    end = time.process_time() + 0.4 * given.fraction * given.x
    while time.process_time() < end:
        pass
report(loss=1.0, rows=1000 * given.fraction)
"""

DEFINITION = """\
name: toy
script: toy.py
space: {x: {choice: [1, 2]}}
arguments: {extra: 0}
objectives: {loss: min}
fidelity: {kind: per_job, argument: fraction, ladder: [0.1, 0.3]}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Canaries of x = 1 and 2, full runs of both by another method, and one with another argument."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "toy.py").write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    (folder / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("OUTRIDER_LEASES", str(folder / "leases"))
        patch.setenv("OUTRIDER_RESULTS", str(folder / "results"))
        assert main(["run", "--benchmark", "toy.yaml", "--method", "CANARY", "--method_args", "stretch_s=0", "--experiment_tag", "c"]) == 0
        alone = calibration_of(folder / "results")
        assert main(["run", "--benchmark", "toy.yaml", "--method", "GRID", "--experiment_tag", "full"]) == 0
        both = calibration_of(folder / "results")
        assert main(["run", "--benchmark", "toy.yaml", "--method", "GRID", "--experiment_tag", "other", "--set", "extra=1"]) == 0
    return folder / "results", alone, both


def test_full_runs_of_any_experiment_score_the_forecasts_of_their_configurations(results):
    _, alone, both = results
    assert alone == Calibration({})
    assert len(both.scores["total_s"]) == 2
    assert all(score >= 0 for score in both.scores["total_s"])


def test_full_runs_with_other_arguments_are_other_jobs(results):
    folder, _, both = results
    assert calibration_of(folder) == both


def test_a_folder_that_cannot_be_read_is_passed_over(results):
    folder, _, _ = results
    (folder / "full" / "toy" / "GRID-local-0" / "experiment.json").write_text("{", encoding="utf-8")
    assert calibration_of(folder) == Calibration({})
    assert calibration_of(folder / "nowhere") == Calibration({})


def test_a_folder_of_results_gives_its_canaries_and_one_without_is_told(results):
    folder, _, _ = results
    table = read_folder(folder / "c")
    assert sorted({one.fraction for one in table.canaries}) == [0.1, 0.3]
    with pytest.raises(UserError, match="no canaries were run"):
        read_folder(folder / "other")
