"""study.json comes back as it was written; what is torn or of a later version is refused."""

from __future__ import annotations

import pytest

from benchmarking.studies.failing_alike import EndedExperiment, failing_alike
from benchmarking.studies.files import read_study, write_study
from benchmarking.studies.order import in_order
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord, as_json, from_json, titles
from definitions.errors import UserError


def planned(benchmark, method, number):
    return PlannedExperiment(benchmark, method, number, 1000 + number, "h", hears_levels=True, repeats=2, share_usd=0.125)


MATRIX = [planned(benchmark, method, number) for benchmark in ("a", "b") for method in ("RS", "TPE", "BO") for number in range(8)]
STUDY = StudyRecord(
    StudyFlags("local", 3, {"points": 2}, 1.5, "methods", "first_come", skip_unfit=True, parallel="auto"),
    {"a": "name: a\n", "b": "name: b\n"},
    tuple(MATRIX),
    {("b", "ASHA"): "needs a fidelity"},
)


def test_it_comes_back_as_it_was_written(tmp_path):
    study = STUDY.looked_at("2026-01-01T00:00:00Z")
    write_study(tmp_path / "tag", study)
    assert read_study(tmp_path / "tag") == study
    assert read_study(tmp_path / "other") is None


def test_every_shorter_text_is_refused():
    text = as_json(StudyRecord(StudyFlags("local"), {"a": "x"}, (planned("a", "RS", 0),)))
    for length in range(len(text.rstrip())):
        with pytest.raises(UserError, match="is damaged"):
            from_json(text[:length], "study.json")


def test_parts_that_are_missing_or_of_another_kind_are_refused():
    for wrong in ('{"schema_version":1}', '{"schema_version":1,"flags":[],"definitions":{},"experiments":[],"left_out":[],"looks":[]}'):
        with pytest.raises(UserError, match="is damaged"):
            from_json(wrong, "study.json")
    for text, said in (('{"schema_version":2}', "has version 2"), ("{}", "has no version"), ("[]", "has no version")):
        with pytest.raises(UserError, match=said):
            from_json(text, "study.json")


def test_seeds_are_outermost_and_each_draws_an_order_of_its_own():
    found = in_order(MATRIX, "seeds")
    assert [one.number for one in found] == [number for number in range(8) for _ in range(6)]
    orders = {tuple(one.key[:2] for one in found if one.number == number) for number in range(8)}
    assert len(orders) == 8
    first = [next(one.method for one in found if one.number == number) for number in range(8)]
    assert len(set(first)) > 1
    assert in_order(reversed(MATRIX), "seeds") == found
    assert in_order(MATRIX, "methods") == MATRIX


def test_the_order_of_a_pair_does_not_depend_on_the_others():
    some = [one for one in MATRIX if one.method != "BO"]
    assert in_order(some, "seeds") == [one for one in in_order(MATRIX, "seeds") if one.method != "BO"]


def test_a_look_counts_once_and_only_when_the_study_grew_after_it():
    study = STUDY.looked_at("t1")
    assert study.looked_at("t2") == study
    assert study.looks_before_extension == 0
    grown = StudyRecord(study.flags, study.definitions, (*study.experiments, planned("a", "RS", 8)), study.left_out, study.looks)
    assert grown.looks_before_extension == 1
    assert grown.looked_at("t3").looks_before_extension == 1


def test_it_is_the_script_when_the_first_of_several_methods_fail_alike():
    rs, grid, bo = (EndedExperiment("a", method, "boom") for method in ("RS", "GRID", "BO"))
    assert failing_alike([rs, grid], "a", 3) is None
    assert failing_alike([rs, rs, grid], "a", 3) is None
    assert failing_alike([rs, grid, bo], "a", 3) == failing_alike([rs, grid, bo], "a", 9) == "boom"
    assert failing_alike([rs, grid], "a", 2) == "boom"
    assert failing_alike([rs], "a", 1) is None
    assert failing_alike([rs, rs], "a", 1) == "boom"
    assert failing_alike([rs, EndedExperiment("a", "GRID", "")], "a", 2) is None
    assert failing_alike([rs, EndedExperiment("a", "GRID", "bang")], "a", 2) is None
    assert failing_alike([rs, grid], "b", 2) is None


@pytest.mark.parametrize(("count", "said"), [(4, ""), (5, ""), (6, " and 1 more"), (8, " and 3 more")])
def test_of_many_the_first_five_are_named_and_the_others_counted(count, said):
    found = titles(MATRIX[:count])
    assert found == ", ".join(f"a x RS x seed {number}" for number in range(min(count, 5))) + said
    assert titles(MATRIX[:3], most=1) == "a x RS x seed 0 and 2 more"
