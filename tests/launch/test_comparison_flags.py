"""The flags of a comparison, and the study that says what they do not."""

from __future__ import annotations

import csv
import io
import json

import pytest

from benchmarking.comparison.runs import Axis
from benchmarking.studies.files import write_study
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord
from definitions.errors import EXIT_BUDGET, EXIT_FAILURES, UserError
from launch.comparison_flags import asked, question_for
from launch.verbs.compare import main as compare
from launch.verbs.compare import make_parser
from launch.verbs.report import main as report


def flags(*words):
    return asked(make_parser().parse_args(["s", *words]))


@pytest.fixture
def question(tmp_path):
    """What is asked of a tag whose study has some options of its comparison, and experiments of RS and TPE of which one has a folder."""
    (tmp_path / "s/b/RS-local-0").mkdir(parents=True)
    (tmp_path / "s/b/RS-local-0/experiment.json").write_text("{}")

    def made(options, *words, named="s"):
        planned = tuple(PlannedExperiment("b", method, 0, 1, "h", hears_levels=True, repeats=1) for method in ("RS", "TPE"))
        write_study(tmp_path / "s", StudyRecord(StudyFlags("local", compare=options), {"b": "name: b\n"}, planned))
        return question_for([str(tmp_path / named) if "/" in named else named], tmp_path, "compare", flags(*words))

    return made


def test_flags_win_over_the_options_of_the_study_and_these_over_what_is_usual(question):
    options = {"baseline": "TPE", "x": "trials", "at": 3.0, "threshold": "2%", "expect_seeds": 4, "facet_by": ["tag"], "levels": "any"}
    found = question(options)
    assert (found.baseline, found.axis, found.at, found.threshold, found.expect_seeds) == ("TPE", Axis.TRIALS, 3.0, 0.02, 4)
    assert (found.facet_by, found.any_level, found.by, found.aggregate, found.objective) == (("tag",), True, ("method",), "mean", "")
    found = question(options, "--baseline", "RS", "--at", "2", "--threshold", "0.05", "--levels", "full", "--aggregate", "median")
    assert (found.baseline, found.at, found.threshold, found.any_level, found.aggregate) == ("RS", 2.0, 0.05, False, "median")


def test_a_baseline_and_a_place_on_an_axis_are_not_taken_over_to_others(question):
    options = {"baseline": "TPE", "x": "trials", "at": 3.0, "facet_by": ["tag"]}
    by_type = question(options, "--by", "instance_type")
    assert (by_type.baseline, by_type.by, by_type.facet_by, by_type.at) == ("", ("instance_type",), (), 3.0)
    by_time = question(options, "--x", "wallclock")
    assert (by_time.baseline, by_time.axis, by_time.at) == ("TPE", Axis.WALLCLOCK, None)
    own = question({"by": ["instance_type"], "baseline": "ml.m5.large"})
    assert (own.by, own.baseline) == (("instance_type",), "ml.m5.large")


def test_what_somebody_wrote_into_study_json_by_hand_is_not_gone_by(question):
    assert question({"x": "hours", "baseline": "TPE"}).baseline == ""


def test_methods_that_are_planned_are_known_unless_part_of_a_study_was_named(question):
    assert question({}).planned == (("b", "RS"), ("b", "TPE"))
    assert question({}, named="s/b/RS-local-0").planned == (("b", "RS"), ("b", "TPE"))  # it is all that there is


@pytest.mark.parametrize("share", ["a", "200%", "1"])
def test_a_threshold_is_a_share(question, share):
    with pytest.raises(UserError, match="it is the least lead that matters"):
        question({}, "--threshold", share)


@pytest.mark.parametrize("words", [("--at", "nan"), ("--at", "-1"), ("--at", "inf"), ("--expect_seeds", "0"), ("--expect_seeds", "-1")])
def test_a_budget_and_a_number_of_seeds_are_above_nothing(question, words):
    with pytest.raises(UserError, match=" ".join(words)):
        question({}, *words)


@pytest.mark.slow
def test_the_report_at_the_end_asks_what_the_study_asks(toy, run, capfd):
    toy.define(
        study="{methods: [RS, GRID], seeds: 2, compare: {by: [method], facet_by: [x], x: trials, baseline: GRID, expect_seeds: 2}}",
        space="{x: {choice: [0.2, 0.4]}}",
        budget="{max_num_trials: 2}",
    )
    code, out, err = run("--benchmark", "toy.yaml", "--study", "--experiment_tag", "s", "--n_workers", "1")
    assert code == 0, err
    assert compare(["s", "--results_dir", str(toy.results), "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capfd.readouterr().out)))
    assert [(row["benchmark"], row["method"]) for row in rows] == [(f"toy, x={x}", method) for x in (0.2, 0.4) for method in ("GRID", "RS")]
    assert all(row["benchmark"] in out for row in rows)
    figures = {one["key"]: one for one in json.loads((toy.results / "s" / "figures.json").read_text())["figures"]}
    drawn = {
        (panel["title"].partition(":")[0], group["name"]): group["y"][0]
        for panel in figures["final_values"]["panels"]
        for group in panel["points"]
        if group["kind"] == "aggregate"
    }
    assert drawn == {(row["benchmark"], row["method"]): float(row["value"]) for row in rows}
    assert [panel["title"] for panel in figures["best_so_far_trials"]["panels"]] == ["toy, x=0.2", "toy, x=0.4"]
    assert figures["ranks"]["notes"] == ["Parts of one benchmark are no sample of benchmarks."]
    # Anybody who makes it anew gets the same, unless he asks otherwise.
    text = (toy.results / "s" / "report.html").read_text()
    assert report(["s", "--results_dir", str(toy.results)]) == 0
    assert (toy.results / "s" / "report.html").read_text() == text
    assert report(["s", "--results_dir", str(toy.results), "--by", "x"]) == 0
    figures = {one["key"]: one for one in json.loads((toy.results / "s" / "figures.json").read_text())["figures"]}
    (panel,) = figures["final_values"]["panels"]
    capfd.readouterr()
    compare(["s", "--results_dir", str(toy.results), "--by", "x", "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(capfd.readouterr().out)))
    found = [(group["name"], *group["y"], group["y_low"], group["y_high"]) for group in panel["points"] if group["kind"] == "aggregate"]
    assert found == [(row["method"], float(row["value"]), [float(row["low"])], [float(row["high"])]) for row in rows]
    assert {row["method"] for row in rows} == {"x=0.2", "x=0.4"}
    assert figures["matrix"]["notes"] == ["Configurations are compared here, not methods."]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_seeds_that_are_missing_are_an_exit_code_in_every_form_of_a_run(toy, run, form):
    toy.define(study="{methods: [RS], seeds: 2, compare: {expect_seeds: 3}}", budget="{max_num_trials: 1}")
    words = ("--experiment_tag", "s", "--n_workers", "1", "--format", form)
    code, _, err = run("--benchmark", "toy.yaml", "--study", *words)
    assert code == EXIT_FAILURES, err
    assert run("--resume", "s", "--num_seeds", "3", "--n_workers", "1", "--format", form)[0] == 0


@pytest.mark.slow
def test_seeds_that_are_missing_are_an_exit_code_in_every_form_of_a_comparison(toy, run):
    words = ("--benchmark", "toy.yaml", "--method", "RS", "GRID", "--num_seeds", "2", "--experiment_tag", "s", "--n_workers", "1")
    assert run(*words)[0] == EXIT_BUDGET
    where = ["s", "--results_dir", str(toy.results)]
    for form in ("table", "json", "csv", "md"):
        assert compare([*where, "--format", form, "--expect_seeds", "2"]) == 0
        assert compare([*where, "--format", form, "--expect_seeds", "3"]) == EXIT_FAILURES
    assert report([*where, "--expect_seeds", "3"]) == EXIT_FAILURES
    assert report([*where, "--expect_seeds", "2"]) == 0
