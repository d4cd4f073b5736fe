"""Methods of one benchmark against a baseline, by values that can be worked out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.analysis.effects import Scale, Word
from benchmarking.comparison.measured_methods import measure_methods
from benchmarking.comparison.methods import compare_benchmarks
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis
from definitions.errors import UserError
from tests.benchmarking.comparison.made_runs import compared, run, several

SLOW = several("RS", [2.0, 2.2, 1.8, 2.1, 1.9, 2.05])
FAST = several("TPE", [1.0, 1.1, 0.9, 1.05, 0.95, 1.01])


def test_seeds_are_paired_and_the_family_is_all_methods():
    found = compared([*FAST, *SLOW], ComparisonQuestion())
    assert (found.baseline, found.axis, found.at, found.scale) == ("RS", Axis.TRIALS, 2.0, Scale.RATIO)
    assert [row.method for row in found.rows] == ["RS", "TPE"]
    assert found.rows[0].final is None
    tpe = found.rows[1].final
    assert tpe is not None
    assert (tpe.word, tpe.ahead, tpe.p, tpe.contrast.counts) == (Word.BETTER, True, 0.03125, (6, 6))
    assert tpe.contrast.size == pytest.approx(2.0, abs=0.05)
    assert found.best_known == 0.9
    # A third method makes three pairs of six seeds too few: 2 * 0.03125 is above 0.05.
    both = compared([*FAST, *SLOW, *several("BO", [1.0, 1.1, 0.9, 1.05, 0.95, 1.01])], ComparisonQuestion())
    assert [row.final.word for row in both.rows if row.final] == [Word.NOT_DECIDED] * 2


def test_the_budget_is_the_largest_that_all_have_reached():
    long = [run("TPE", number, [3.0, 2.0, 1.0, 0.5 + number]) for number in range(2)]
    found = compared([*long, run("RS", 0, [4.0, 3.0]), run("RS", 1, [4.0, 3.5])], ComparisonQuestion())
    assert found.at == 2.0
    assert found.rows[1].finals == {0: 2.0, 1: 2.0}
    asked = compared([*long, run("RS", 0, [4.0, 3.0])], ComparisonQuestion(axis=Axis.WALLCLOCK, at=10.0))
    assert asked.rows[1].finals == {0: 3.0, 1: 3.0}


def test_what_limited_the_experiments_is_the_axis():
    timed = {"budget": "max_wallclock_time 60"}
    runs = [run("RS", 0, [4.0, 3.0], facts=timed), run("TPE", 0, [4.0, 2.0], facts=timed)]
    assert compared(runs, ComparisonQuestion()).axis is Axis.WALLCLOCK
    # A limit of time that none of them came near limits nothing.
    for ended_by, axis in {
        ("max_num_trials", "max_num_trials"): Axis.TRIALS,
        ("max_num_trials", "exhausted"): Axis.TRIALS,
        ("max_num_trials", "max_wallclock_time"): Axis.WALLCLOCK,
        ("max_num_trials", ""): Axis.TRIALS,
        ("", ""): Axis.WALLCLOCK,
    }.items():
        ended = [replace(one, ended_by=reason) for one, reason in zip(runs, ended_by, strict=True)]
        assert compared(ended, ComparisonQuestion()).axis is axis


def test_a_seed_without_a_result_is_left_out_and_named_never_filled_in():
    found = compared([*SLOW, run("TPE", 0, []), run("TPE", 1, [9.0, 1.0])], ComparisonQuestion())
    assert (found.rows[1].finals, found.rows[1].missing) == ({1: 1.0}, [0])
    assert found.rows[1].final.word is Word.ONE_RUN_ONLY


def test_who_never_reached_the_target_counts_with_the_time_it_had():
    found = compared([*FAST, *SLOW], ComparisonQuestion(axis=Axis.WALLCLOCK))
    assert found.target == pytest.approx(2.025)
    assert found.rows[1].reach == dict.fromkeys(range(6), 20.0)
    # Three of the baseline reached its own median, and three had 20 s as all others: nobody is sooner.
    assert sorted(found.rows[0].reach.values(), key=str) == [20.0, 20.0, 20.0, None, None, None]
    assert found.rows[1].sooner.word is Word.TIE


def test_a_smaller_level_needs_more_for_the_same_word():
    usual = compared([*FAST, *SLOW], ComparisonQuestion())
    strict = compared([*FAST, *SLOW], ComparisonQuestion(level=0.025))
    assert usual.rows[1].final.word is Word.BETTER
    assert strict.rows[1].final.word is Word.NOT_DECIDED
    assert strict.rows[1].final.contrast.bounds[0] < usual.rows[1].final.contrast.bounds[0]
    assert (usual.confidence, strict.confidence) == (0.95, 0.975)


def test_accuracies_are_compared_by_differences():
    runs = [run("RS", 0, [0.3]), run("RS", 1, [0.2]), run("TPE", 0, [0.1]), run("TPE", 1, [0.05])]
    found = compared(runs, ComparisonQuestion(objective="acc"))
    assert (found.scale, found.mode) == (Scale.DIFFERENCE, "max")
    assert found.rows[1].final.contrast.size == pytest.approx(0.175)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (ComparisonQuestion(objective="lss"), "--objective lss: b has none of this name"),
        (ComparisonQuestion(baseline="ASHA"), "--baseline ASHA: it has no experiment here"),
        (ComparisonQuestion(axis=Axis.COST), "--x cost: b x TPE x seed 0 of t has none"),
    ],
)
def test_wrong_questions_are_refused_by_name(question, said):
    with pytest.raises(UserError, match="^" + said):
        compared([run("RS", 0, [1.0]), run("TPE", 0, [1.0], priced=False)], question)


def test_the_family_is_all_benchmarks():
    def on(benchmark):
        return [replace(one, benchmark=benchmark) for one in [*FAST, *SLOW]]

    def words(*groups):
        found = compare_benchmarks([measure_methods(group, ComparisonQuestion()) for group in groups])
        return [(one.family, one.rows[1].final.word, one.rows[1].final.p) for one in found]

    assert words(on("b")) == [(1, Word.BETTER, 0.03125)]
    # Each of two has to reach 0.025 first, which six pairs cannot.
    assert words(on("b"), on("c")) == [(2, Word.NOT_DECIDED, None)] * 2
    # What cannot be asked takes nothing from the others: a single seed, or a method that never completed.
    alone = [replace(one, benchmark="c") for one in [FAST[0], SLOW[0]]]
    nothing = [replace(one, benchmark="d") for one in [*SLOW, *(run("TPE", number, []) for number in range(6))]]
    assert words(on("b"), alone, nothing) == [(1, Word.BETTER, 0.03125), (1, Word.ONE_RUN_ONLY, None), (1, Word.ONE_RUN_ONLY, None)]
    assert compare_benchmarks([]) == []


def test_who_was_sooner_is_asked_of_those_alone_that_are_better():
    # All came to the same value, one method in half the time.
    late = [run("RS", number, [9.0 + number, 9.0, 9.0, 1.0 + 0.001 * number]) for number in range(8)]
    early = [run("TPE", number, [9.0 + number, 1.0, 1.0, 1.0]) for number in range(8)]
    found = compared([*late, *early], ComparisonQuestion(axis=Axis.WALLCLOCK))
    assert (found.rows[1].final.word, found.rows[1].sooner) == (Word.TIE, None)
    # When each reached the target stands in the row all the same.
    assert (found.rows[1].seconds, found.rows[0].seconds) == (20.0, None)
