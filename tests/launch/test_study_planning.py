"""Plans of studies: what is asked for laid over what a tag holds, in an order and with shares that stay."""

from __future__ import annotations

import dataclasses
import shutil

import pytest

from benchmarking.archive.folder import prepare_folder
from benchmarking.methods.registry import experiment_spec
from benchmarking.studies.record import StudyFlags
from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.yaml_source import read_yaml
from launch.study_planning import (
    adopted,
    definition_of,
    extended,
    folder_of,
    planned,
    share_of,
    specs_of,
    stored_definition,
)

FLAGS = StudyFlags("local")


def resolved(*settings):
    return resolve(read_yaml("toy.yaml"), "local", settings)


def specs(toy, *methods, seeds=2, settings=()):
    """The experiments of each method with seeds 0, 1, ..."""
    found = resolved(*settings)
    return [experiment_spec(found, method, 100 + at, "s", toy.results, {}, at) for method in methods for at in range(seeds)]


def study_of(toy, known, *methods, seeds=2, flags=FLAGS, settings=()):
    asked = specs(toy, *methods, seeds=seeds, settings=settings)
    return extended(known, flags, {"toy": resolved(*settings)}, asked, {}, toy.results / "s")


def test_a_new_study_has_all_seed_by_seed_and_the_money_in_equal_parts(toy):
    study = study_of(toy, None, "RS", "GRID", flags=dataclasses.replace(FLAGS, max_cost=2.0))
    assert [one.number for one in study.experiments] == [0, 0, 1, 1]
    assert {one.method for one in study.experiments[:2]} == {"RS", "GRID"}
    assert [one.share_usd for one in study.experiments] == [0.5] * 4


def test_what_is_added_comes_behind_what_is_there_and_shares_stay(toy):
    first = study_of(toy, None, "RS", flags=dataclasses.replace(FLAGS, max_cost=1.0))
    more = study_of(toy, first, "RS", "GRID", seeds=3, flags=dataclasses.replace(FLAGS, max_cost=3.0))
    assert more.experiments[:2] == first.experiments
    assert [(one.method, one.number) for one in more.experiments[2:4]] == [("GRID", 0), ("GRID", 1)]
    assert {(one.method, one.number) for one in more.experiments[4:]} == {("RS", 2), ("GRID", 2)}
    assert [one.share_usd for one in more.experiments] == [0.5] * 6
    with pytest.raises(UserError, match=r"give --max_cost 3 or more"):
        study_of(toy, first, "RS", "GRID", seeds=3, flags=dataclasses.replace(FLAGS, max_cost=2.0))


def test_a_limit_that_a_definition_has_is_for_that_benchmark_s_experiments(toy):
    study = study_of(toy, None, "RS", settings=["budget.max_cost=0.8"])
    assert (study.flags.max_cost, [one.share_usd for one in study.experiments]) == (None, [0.4, 0.4])


def test_who_shares_first_come_has_the_whole_limit(toy):
    study = study_of(toy, None, "RS", flags=dataclasses.replace(FLAGS, max_cost=2.0, shares="first_come"))
    assert [one.share_usd for one in study.experiments] == [None, None]
    made = specs_of(study, study.experiments, {"toy": resolved()}, toy.results / "s")
    assert [spec.definition.budget.max_cost for spec in made] == [2.0, 2.0]


def test_experiments_have_their_share_as_their_limit_and_stay_the_same_experiments(toy):
    study = study_of(toy, None, "RS", flags=dataclasses.replace(FLAGS, max_cost=1.0))
    made = specs_of(study, study.experiments[1:], {"toy": resolved()}, toy.results / "s")
    assert [(spec.number, spec.seed, spec.definition.budget.max_cost, spec.tag) for spec in made] == [(1, 101, 0.5, "s")]
    assert made[0].hash == study.experiments[1].hash
    assert share_of(made[0].resolved) == "its share of $1 for 2 experiments"
    assert share_of(resolved("budget.max_cost=1")) == ""
    assert made[0].folder == folder_of(toy.results / "s", study.experiments[1], "local") == toy.results / "s" / "toy" / "RS-local-1"


def test_the_text_of_a_definition_changes_where_it_means_something_else(toy):
    first = study_of(toy, None, "RS")
    again = study_of(toy, first, "RS", seeds=3)
    assert again.definitions["toy"] is first.definitions["toy"]
    raised = study_of(toy, first, "RS", settings=["budget.max_num_trials=9"])
    assert "max_num_trials: 9" in raised.definitions["toy"]
    assert stored_definition(raised, "toy", toy.results / "s").definition.budget.max_num_trials == 9


def test_a_source_that_is_gone_is_said_with_what_to_do(toy):
    study = study_of(toy, None, "RS")
    assert definition_of(study, "toy", ["n_workers=3"], ["RS"], {}, toy.results / "s").definition.n_workers == 3
    there = toy.folder.rename(toy.folder.with_name("moved"))
    with pytest.raises(UserError, match=r"its source folder .* is gone") as told:
        definition_of(study, "toy", [], ["RS"], {}, toy.results / "s")
    assert "--set source_dir=FOLDER" in str(told.value)
    found = definition_of(study, "toy", [f"source_dir={there}"], ["RS"], {}, toy.results / "s")
    assert found.definition.source_dir == str(there)
    # Who only reads needs no script.
    assert stored_definition(study, "toy", toy.results / "s").definition.name == "toy"


@pytest.mark.slow
def test_folders_without_a_study_are_one_where_they_are_of_one_kind(toy):
    assert adopted("s", toy.results) is None
    made = specs(toy, "RS", "GRID")
    for spec in made:
        prepare_folder(spec, {})
    study = adopted("s", toy.results)
    assert {one.key for one in study.experiments} == {planned(spec).key for spec in made}
    assert [one.number for one in study.experiments] == [0, 0, 1, 1]
    assert (study.flags.backend, [*study.definitions]) == ("local", ["toy"])
    shutil.rmtree(made[0].folder)
    prepare_folder(specs(toy, "RS", settings=["space.x.uniform=[0, 2]"])[0], {})
    assert adopted("s", toy.results) is None
