"""What a study may be asked to be, and its options as flags of `outrider compare`."""

import pytest
from pydantic import ValidationError

from definitions.problems import problems_of
from definitions.study import ComparisonOptions, Study, StudyFile
from launch.cli import make_parser as run_parser
from launch.comparison_flags import NAMES
from launch.verbs.compare import make_parser


def problems(data, root=StudyFile):
    with pytest.raises(ValidationError) as caught:
        root.model_validate(data)
    return {".".join(map(str, one.path)): one.text for one in problems_of(caught.value, data, root)}


def test_what_is_not_said_is_not_decided():
    study = Study()
    assert study.model_dump(exclude_none=True) == {"methods": (), "seeds": 8}
    assert StudyFile().benchmarks == ()


def test_wrong_keys_and_values_are_told():
    found = problems({"seeds": 0, "oder": "seeds", "parallel": "all", "start_seed": -1, "compare": {"threshold": "2", "x": "time"}})
    assert found["seeds"] == "must be above 0; 0 was given"
    assert found["oder"] == "unknown key; did you mean 'order'?"
    assert found["start_seed"] == "must be at least 0; -1 was given"
    assert found["parallel"] == "needs a whole number from 1 up, or auto; 'all' was given"
    assert [Study(parallel=given).parallel for given in (1, 16, "auto")] == [1, 16, "auto"]
    assert all("needs a whole number" in problems({"parallel": given})["parallel"] for given in (0, 1.0, True))
    assert found["compare.threshold"] == "needs a share below 1, such as 1% or 0.01; '2' was given"
    assert found["compare.x"].startswith("must be one of wallclock, trials, cost, level; 'time' was given")


@pytest.mark.parametrize("share", ["1%", "0.5 %", 0.01, 0, "0"])
def test_a_threshold_is_a_share(share):
    assert ComparisonOptions(threshold=share).threshold == share


@pytest.mark.parametrize("share", ["one", 1, "100%", -0.1, True, "nan"])
def test_what_is_no_share_is_refused(share):
    assert "needs a share below 1" in problems({"threshold": share}, ComparisonOptions)["threshold"]


def test_the_options_of_a_comparison_are_the_flags_of_compare():
    flags = {action.dest for action in make_parser()._actions} - {"help", "what", "format", "results_dir"}  # noqa: SLF001
    assert set(ComparisonOptions.model_fields) == flags
    assert set(ComparisonOptions.model_fields) == {*NAMES}


def test_choices_of_the_flags_are_those_of_the_keys():
    choices = {action.dest: action.choices for action in run_parser()._actions}  # noqa: SLF001
    for flag, key in (("study_order", "order"), ("shares", "shares")):
        for choice in choices[flag]:
            assert getattr(Study.model_validate({key: choice}), key) == choice
        assert f"must be one of {', '.join(choices[flag])}; 'x' was given" in problems({key: "x"})[key]


def test_names_that_there_are_not_are_found():
    asked = {"objective": "los", "baseline": "GRID"}
    study = Study(methods=("RS", "ASHAA"), backend="loacl", compare=ComparisonOptions(**asked))
    assert dict(study.problems(["RS", "ASHA"], ["loss"], ["local", "sagemaker"])) == {
        ("methods", 1): "there is no method 'ASHAA'; did you mean 'ASHA'?",
        ("backend",): "there is no back-end 'loacl'; did you mean 'local'?",
        ("compare", "objective"): "there is no objective 'los'; did you mean 'loss'?",
        ("compare", "baseline"): "'GRID' is no method of the study; known: ASHAA, RS",
    }
    twice = Study(methods=("RS", "ASHA", "RS"))
    assert dict(twice.problems(["RS", "ASHA"], [], [])) == {("methods", 2): "'RS' is named twice; each method and seed runs once"}
    by_workers = ComparisonOptions(baseline="2", by=("workers",))
    assert list(Study(methods=("RS",), compare=by_workers).problems(["RS"], ["loss"], [])) == []
