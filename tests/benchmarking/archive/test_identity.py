"""What identifies an experiment: its folder, its title, its hash, the names of its jobs."""

import dataclasses

import pytest

from benchmarking.archive.identity import ExperimentSpec
from definitions.resolve import Resolved
from tests.benchmarking.experiments import definition


@pytest.fixture
def spec(tmp_path):
    resolved = Resolved(definition(name="b"), {}, "local")
    return ExperimentSpec(resolved, "RS", 17, "t", tmp_path, {"a": 1}, 2, hears_levels=False, repeats=1)


def test_its_folder_and_title_go_by_names_and_number(spec, tmp_path):
    assert spec.folder == tmp_path / "t" / "b" / "RS-local-2"
    assert spec.title == "b x RS x seed 2 on local"


@pytest.mark.parametrize("changes", [{"seed": 18}, {"method": "GRID"}, {"method_arguments": {"a": 2}}])
def test_what_determines_its_results_changes_its_hash(spec, changes):
    assert dataclasses.replace(spec, **changes).hash != spec.hash


@pytest.mark.parametrize("changes", [{"tag": "u"}, {"number": 3}, {"repeats": 2}])
def test_what_does_not_leaves_it(spec, changes):
    assert dataclasses.replace(spec, **changes).hash == spec.hash


def test_another_definition_or_back_end_is_another_experiment(spec):
    other = dataclasses.replace(spec.resolved, definition=definition(name="b", objectives={"acc": "max"}))
    assert dataclasses.replace(spec, resolved=other).hash != spec.hash
    assert dataclasses.replace(spec, resolved=dataclasses.replace(spec.resolved, backend="sagemaker")).hash != spec.hash


def test_jobs_of_the_same_experiment_elsewhere_have_other_names(spec):
    names = {spec.job_prefix("n"), spec.job_prefix("m"), dataclasses.replace(spec, tag="u").job_prefix("n")}
    assert len(names) == 3
    assert spec.job_prefix("n") == spec.job_prefix("n")
    assert all("b" in name.split("-") for name in names)
