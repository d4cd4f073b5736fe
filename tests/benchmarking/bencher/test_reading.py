"""Files of SageMaker Bencher: trials named or listed, laid over the base trial, and data sets in a file of their own."""

from __future__ import annotations

import pytest

from benchmarking.bencher.reading import laid_over, read_bencher
from definitions.errors import UserError
from tests.benchmarking.bencher.bencher_files import SETTINGS, trial, write


def test_listed_trials_are_named_by_their_place_and_laid_over_the_base(tmp_path):
    found = read_bencher(write(tmp_path, trials=f"  - {trial('Photos-jpg', 'ffm')}\n  - {trial('Shards-tar', 'file', ', max_run: 60')}\n"))
    assert [*found.trials] == ["t0", "t1"]
    assert found.trials["t0"]["max_run"] == 600
    assert (found.trials["t1"]["max_run"], found.trials["t1"]["instance_type"]) == (60, "ml.g4dn.xlarge")
    # Only the data sets that are read.
    assert [*found.datasets] == ["Photos-jpg", "Shards-tar"]
    assert found.fsx["subnets"] == ["subnet-1"]


def test_named_trials_keep_their_names_and_what_the_base_has_beside(tmp_path):
    found = read_bencher(write(tmp_path, trials=f"  slow: {trial('Photos-jpg', 'ffm', ', hyperparameters: {epochs: 5}')}\n"))
    assert found.trials["slow"]["hyperparameters"] == {
        "epochs": 5, "batch_size": 32, "input_dim": 96, "private_pool": 4, "prefetch_size": -1, "cache": "None", "compute_time": 10
    }  # fmt: skip


def test_mappings_are_laid_over_key_by_key_and_all_else_replaced():
    assert laid_over({"a": {"x": 1, "y": [1]}, "b": 1}, {"a": {"y": [2]}, "b": None}) == {"a": {"x": 1, "y": [2]}, "b": None}


def test_the_file_of_data_sets_is_found_from_a_folder_above(tmp_path):
    (tmp_path / "experiments" / "deep").mkdir(parents=True)
    path = write(tmp_path, trials=f"  - {trial('Photos-jpg', 'file')}\n")
    moved = tmp_path / "experiments" / "deep" / "e.yml"
    path.rename(moved)
    assert [*read_bencher(moved).datasets] == ["Photos-jpg"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"trials": f"  - {trial('Photo-jpg', 'file')}\n"},
            "trial t0, channel train: there is no data set 'Photo-jpg'[\\s\\S]*'Photos-jpg'",
        ),
        ({"trials": "  - {}\n"}, "no trial names a data set"),
        ({"trials": "  3\n"}, "a list of trials, or trials by name"),
        ({"trials": f"  a: {trial('Photos-jpg', 'file')}\n  a: {trial('Photos-rec', 'file')}\n"}, "'a'|twice|duplicate"),
        ({"trials": f"  - {trial('Photos-jpg', 'file')}\n", "settings": SETTINGS + "name: again\n"}, "name"),
        ({"trials": f"  - {trial('Photos-jpg', 'file')}\n", "datasets": "datasets: gone.yml\n"}, "there is no file gone.yml"),
        ({"trials": f"  - {trial('Photos-jpg', 'file')}\n", "datasets": ""}, "datasets missing"),
        ({"trials": f"  - {trial('Photos-jpg', 'file')}\n", "datasets": "datasets: [1]\n"}, "keys and values are expected"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, changes, message):
    with pytest.raises(UserError, match=message):
        read_bencher(write(tmp_path, **changes))
