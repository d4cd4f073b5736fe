"""Experiments are read from what is in their folders, also when nothing that made them is there any more."""

from __future__ import annotations

import shutil

import pytest

from benchmarking.archive.folder import prepare_folder
from benchmarking.archive.stored import load, load_to_run
from benchmarking.archive.version_1 import method_traits
from benchmarking.controller.method import Method
from benchmarking.forecasting.data.results_folder import read_folder
from benchmarking.forecasting.past_jobs import calibration_of
from benchmarking.methods.registry import BUILT_IN, build_method
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition
from launch.__main__ import main
from launch.planning import plan
from launch.request import RunRequest
from tests.benchmarking.archive.stored_folders import VERSION_1, change_identity, copied, of_plugins


def resumed(tmp_path, tag):
    return list(plan(RunRequest(resume=tag, results_dir=tmp_path / "results")).specs)


def state_of(folder):
    stored = load(folder)
    with stored.journal() as journal:
        return stored.state(journal)


@pytest.mark.parametrize("options", [True, False])
def test_what_a_method_and_a_back_end_measured_that_are_not_installed_is_read_and_exported(tmp_path, options):
    folder = of_plugins(copied(tmp_path, "canary"), options=options)
    (tmp_path / "train.py").unlink()
    assert [(trial.configuration["x"], trial.level, trial.repeat) for trial in state_of(folder).trials.values()][2:4] == [
        (3, 0.1, 0),
        (1, 0.1, 1),
    ]
    assert main(["export", "canary", "--results_dir", str(tmp_path / "results")]) == 0
    assert (folder / "trials.csv").read_text(encoding="utf-8") == (folder / "exported_trials.csv").read_text(encoding="utf-8")
    canaries = read_folder(folder).canaries
    # What its jobs ran on was for its back-end to say; that it is unknown is better than another's price.
    assert {(canary.configuration, canary.instance_type) for canary in canaries} == {("x=1", ""), ("x=2", "")}


def test_canaries_ran_on_what_their_back_end_runs_jobs_on_by_default(tmp_path):
    assert {canary.instance_type for canary in read_folder(copied(tmp_path, "canary")).canaries} == {"local.1cpu"}


def test_to_go_on_they_have_to_be_installed_and_the_error_says_which(tmp_path):
    folder = of_plugins(copied(tmp_path, "canary"))
    with pytest.raises(UserError, match=r"its back-end 'mesh' is not installed[\s\S]*local, simulated[\s\S]*install the package"):
        resumed(tmp_path, "canary")
    change_identity(folder, backend="simulated")
    text = (VERSION_1 / "canary" / "definition.yaml").read_text(encoding="utf-8").replace("/data/code", str(tmp_path))
    (folder / "definition.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"its method 'SPLINES' is not installed[\s\S]*ASHA[\s\S]*install the package"):
        resumed(tmp_path, "canary")


def test_what_the_fold_needs_of_the_method_is_what_the_folder_says(tmp_path):
    folder = copied(tmp_path, "repeated")
    assert load(folder).spec.repeats == 2
    change_identity(folder, schema_version=2, method="SPLINES", hears_levels=True, repeats=1)
    spec = load(folder).spec
    assert (spec.hears_levels, spec.repeats, spec.tag, spec.results_dir) == (True, 1, "repeated", tmp_path / "results")


def test_folders_of_the_first_version_are_folded_as_their_methods_were():
    perjob = {"kind": "per_job", "argument": "f"}
    progressive = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 9}
    for name, factory in BUILT_IN.items():
        fidelity = perjob if name in ("CANARY", "RACE") else progressive
        given = {"name": "b", "script": "s.py", "objectives": {"duration_s" if name == "RACE" else "loss": "min"}, "repeats": 3}
        rest = {"trials": [{"x": 1}]} if name == "LISTED" else {"space": {"x": {"uniform": [0, 1]}}}
        objectives = {"objectives": {"loss": "min", "error": "min"}} if name == "MOASHA" else {}
        made = BenchmarkDefinition.model_validate({**given, **rest, **objectives, "fidelity": fidelity})
        built = build_method(name, made, 0, {}, region="us-east-1")
        assert method_traits(name, made, ()) == (built.hears_levels, 1 if built.measures_repeats else 3), factory
        variant = made.model_copy(
            update={"methods": BenchmarkDefinition.model_validate({**given, "methods": {"V": {"base": name}}}).methods}
        )
        assert method_traits("V", variant, ()) == method_traits(name, made, ())


class _Plugin(Method):
    hears_levels = False
    measures_repeats = True

    def suggest(self):
        return None


class _Point:
    name = "SPLINES"

    @staticmethod
    def load():
        return _Plugin


def test_of_a_plugins_method_the_first_version_left_nothing_so_its_class_says_it_or_the_usual_holds():
    made = BenchmarkDefinition.model_validate({"name": "b", "script": "s.py", "objectives": {"loss": "min"}, "repeats": 3})
    assert method_traits("SPLINES", made, [_Point]) == (False, 1)
    assert method_traits("SPLINES", made, ()) == (True, 3)


def test_a_later_version_is_refused_everywhere_and_left_alone(tmp_path, capsys):
    folder = copied(tmp_path, "canary")
    (spec,) = resumed(tmp_path, "canary")
    change_identity(folder, schema_version=3)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    words = r"experiment.json has version 3[\s\S]*reads the versions 1 and 2; nothing was changed[\s\S]*a later one"
    for read in (load, load_to_run, read_folder):
        with pytest.raises(UserError, match=words):
            read(folder)
    with pytest.raises(UserError, match=words):
        resumed(tmp_path, "canary")
    with pytest.raises(UserError, match=words):
        prepare_folder(spec, {})
    assert calibration_of(tmp_path / "results").scores == {}
    assert main(["export", "canary", "--results_dir", str(tmp_path / "results")]) == 2
    assert "experiment.json has version 3" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_without_experiment_json_says_so_and_keeps_nothing_else_back(tmp_path, capsys):
    folder = copied(tmp_path, "canary")
    (spec,) = resumed(tmp_path, "canary")
    other = folder.with_name("CANARY-simulated-1")
    shutil.copytree(folder, other)
    (folder / "experiment.json").unlink()
    with pytest.raises(UserError, match=r"there is no experiment.json[\s\S]*a copy of the folder"):
        load(folder)
    with pytest.raises(UserError, match=r"there is no experiment\.json"):
        resumed(tmp_path, "canary")
    with pytest.raises(UserError, match=r"has a journal, but no experiment\.json"):
        prepare_folder(spec, {})
    with pytest.raises(UserError, match="there are no results"):
        read_folder(folder)
    assert len(read_folder(tmp_path / "results").canaries) == 3
    assert main(["export", "canary", "--results_dir", str(tmp_path / "results")]) == 2
    assert "there is no experiment.json" in capsys.readouterr().err
    assert (other / "trials.csv").read_text(encoding="utf-8") == (folder / "exported_trials.csv").read_text(encoding="utf-8")
    assert not (folder / "trials.csv").exists()


def test_one_experiment_that_cannot_be_read_is_passed_over_and_named(tmp_path, capsys):
    folder = copied(tmp_path, "canary")
    bad = folder.with_name("CANARY-simulated-1")
    shutil.copytree(folder, bad)
    change_identity(bad, schema_version=3)
    assert main(["forecast", str(tmp_path / "results"), "--results_dir", str(tmp_path / "none")]) == 0
    assert "passed over: " in (said := capsys.readouterr().err)
    assert "version 3" in said


@pytest.mark.parametrize("text", ["{", "[]", '{"schema_version": 2}'])
def test_a_damaged_experiment_json_is_an_error_and_no_traceback(tmp_path, text):
    folder = copied(tmp_path, "canary")
    (folder / "experiment.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"experiment.json (is damaged|has no version)"):
        load(folder)


def test_prices_count_by_the_region_that_was_recorded_and_in_old_folders_by_what_the_back_end_says(tmp_path):
    folder = copied(tmp_path, "repeated")
    assert load(folder).region == "us-east-1"
    change_identity(folder, region="eu-central-1")
    assert load(folder).region == "eu-central-1"


def test_limits_that_were_raised_are_those_that_it_is_read_by_and_goes_on_under(tmp_path):
    folder = copied(tmp_path, "canary")
    began = load(folder).spec
    change_identity(folder, budget={"max_num_trials": 77, "max_failures": 5})
    for spec in (load(folder).spec, load_to_run(folder).spec):
        assert (spec.definition.budget.max_num_trials, spec.definition.budget.max_failures) == (77, 5)
        assert spec.hash == began.hash
    assert load_to_run(folder, ["max_num_trials=80"]).spec.definition.budget.max_num_trials == 80
    # Of one definition that many experiments have, the limits of one are not those of the others.
    seen = {}
    assert load(folder, seen).spec.definition.budget.max_num_trials == 77
    change_identity(folder, budget={"max_num_trials": 78})
    assert load(folder, seen).spec.definition.budget.max_num_trials == 78


def test_limits_that_are_none_are_damage(tmp_path):
    folder = copied(tmp_path, "canary")
    change_identity(folder, budget={"max_num_trials": "many"})
    with pytest.raises(UserError, match=r"experiment\.json is damaged"):
        load(folder)
