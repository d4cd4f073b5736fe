"""Configurations by what was measured of them: what one measurement is, and what pairs it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from scipy import stats

from benchmarking.analysis.stand_ins import NO_STAND_INS, StandIns
from benchmarking.comparison.configurations import compare_configurations, rows_of
from benchmarking.comparison.document import as_text, document
from benchmarking.comparison.question import ComparisonQuestion
from definitions.errors import UserError
from tests.benchmarking.comparison.made_trials import swept

SLOW, FAST = {"instance_type": "ml.g4dn.xlarge"}, {"instance_type": "ml.g5.xlarge"}
BY = ComparisonQuestion(by=("instance_type",))
TWICE = [2.0, 3.0, 2.5, 2.2, 2.4, 2.6]
ONCE = [1.0, 1.5, 1.26, 1.1, 1.21, 1.29]


def rows(*runs, question=BY):
    return rows_of(compare_configurations(runs, question))


def test_interleaved_repeats_of_one_point_are_pairs():
    leader, other = rows(swept([(SLOW, TWICE), (FAST, ONCE)]))
    assert (leader["method"], leader["verdict"], leader["seeds"]) == ("ml.g5.xlarge", "leader", 6)
    assert (other["method"], other["verdict"], other["p"]) == ("ml.g4dn.xlarge", "worse", 0.03125)
    assert other["lead"] == pytest.approx(stats.gmean(ONCE) / stats.gmean(TWICE))
    assert other["lead_low"] < other["lead"] < other["lead_high"] < 0.52
    assert (leader.get("lead_is"), other["lead_is"]) == (None, "ratio")
    # Not interleaved, a machine's drift is noise: the same values are apart by twice and yet less surely so.
    apart = rows(swept([(SLOW, TWICE), (FAST, ONCE)], interleaved=False))[1]
    assert apart["lead_high"] - apart["lead_low"] > 5 * (other["lead_high"] - other["lead_low"])
    assert apart["p"] == pytest.approx(2 / math.comb(12, 6))


def test_comparisons_on_several_benchmarks_share_the_level():
    # Their intervals hold jointly, so that those of one of two are wider than those of one alone.
    apart = swept([(SLOW, TWICE[:4]), (FAST, [2.16, 2.96, 2.2, 1.9])], interleaved=False)
    alone, shared = (compare_configurations([apart], BY, many).ranking.comparisons[0] for many in (1, 2))
    assert alone.interval[0] > shared.interval[0]
    assert alone.interval[1] < shared.interval[1]
    other = replace(apart, benchmark="c")
    both = document([apart, other], BY)
    assert both.rows[1]["lead_low"] == pytest.approx(1 / shared.interval[1])
    assert all("(95 % interval" in line or "; 95 % interval" in line for line in both.verdicts[:2])


def test_points_that_all_groups_have_are_pairs_and_their_repeats_are_folded():
    points = [({**kind, "lr": lr}, [scale * lr, scale * lr * 1.01]) for kind, scale in ((SLOW, 2.0), (FAST, 1.0)) for lr in (0.1, 0.2, 0.4)]
    made = compare_configurations([swept(points)], BY)
    assert made.unit == "points"
    leader, other = rows_of(made)
    assert (leader["seeds"], other["seeds"], other["lead"]) == (3, 3, pytest.approx(0.5))
    assert leader["value"] == pytest.approx(1.005 * 0.7 / 3)


def test_points_that_differ_in_more_are_not_paired_and_that_is_said():
    points = [({**SLOW, "lr": 0.1}, [1.0]), ({**SLOW, "lr": 0.2}, [2.0]), ({**FAST, "lr": 0.3}, [1.0]), ({**FAST, "lr": 0.4}, [1.5])]
    found = document([swept(points)], BY)
    assert found.verdicts[0].startswith("ml.g5.xlarge and ml.g4dn.xlarge: not decided in loss")
    assert found.verdicts[1].startswith("nothing pairs them: they were measured at different lr")


def test_seeds_of_one_configuration_are_points_of_their_own():
    runs = [swept([(SLOW, [2.0 + 0.1 * n]), (FAST, [1.0 + 0.05 * n])], number=n) for n in range(6)]
    leader, other = rows(*runs)
    assert (leader["seeds"], other["verdict"], other["p"]) == (6, "worse", 0.03125)


def test_settings_under_tags_of_their_own_are_compared_by_tag_and_by_key():
    runs = [
        swept([(kind, [scale + 0.01 * n])], number=n, tag=tag)
        for tag, kind, scale in (("a", SLOW, 2.0), ("b", FAST, 1.0))
        for n in range(6)
    ]
    assert rows(*runs)[1]["p"] == 0.03125
    both = rows(*runs, question=ComparisonQuestion(by=("tag", "instance_type")))
    assert [row["method"] for row in both] == ["tag=b ml.g5.xlarge", "tag=a ml.g4dn.xlarge"]


def test_a_baseline_is_named_by_its_value():
    run = swept([({"workers_n": 0}, [2.0, 2.1]), ({"workers_n": 2}, [1.0, 1.1]), ({"workers_n": 4}, [3.0, 3.1])])
    found = rows(run, question=ComparisonQuestion(by=("workers_n",), baseline="0"))
    assert [(row["method"], row["verdict"]) for row in found] == [
        ("workers_n=0", "baseline"),
        ("workers_n=2", "better"),
        ("workers_n=4", "worse"),
    ]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (ComparisonQuestion(by=("instance",)), "--by instance: b has no such key"),
        (ComparisonQuestion(by=("instance_type",), baseline="ml.p3"), "--baseline ml.p3: nothing of this was measured"),
        (ComparisonQuestion(by=("instance_type",), facet_by=("lr",)), "--facet_by lr: b has no such key"),
    ],
)
def test_wrong_keys_are_refused_by_name(question, said):
    with pytest.raises(UserError, match="^" + said):
        document([swept([(SLOW, TWICE), (FAST, ONCE)])], question)


def test_a_facet_is_a_comparison_of_its_own():
    points = [
        ({**kind, "ingestion": way}, [scale, scale * 1.02]) for kind, scale in ((SLOW, 2.0), (FAST, 1.0)) for way in ("File", "FastFile")
    ]
    found = document([swept(points)], ComparisonQuestion(by=("instance_type",), facet_by=("ingestion",)))
    assert [row["benchmark"] for row in found.rows] == ["b, ingestion=FastFile"] * 2 + ["b, ingestion=File"] * 2
    assert found.across == ()


def test_nothing_completed_and_zeros_and_negative_values():
    assert document([swept([])], ComparisonQuestion(by=("method",))).rows[0]["value"] is None
    found = rows(swept([(SLOW, [0.0, -1.0, 0.5]), (FAST, [-9.0, -9.5, -8.7])]))
    assert found[1]["lead"] == pytest.approx(-8.9, abs=0.01)
    constant = rows(swept([(SLOW, [0.0] * 3), (FAST, [0.0] * 3)]))
    assert constant[1]["verdict"] == "tie"


EMULATIONS = StandIns(("file", "fastfile"), {"ingestion": {"local": "FSx"}})
FAR_APART = [({"ingestion": name}, [value, value * 1.001, value * 1.002, value * 1.003, value * 1.004, value * 1.005])
             for name, value in (("fastfile", 1.0), ("file", 5.0), ("local", 9.0), ("boto3", 20.0), ("s3_map", 40.0))]  # fmt: skip


def test_an_emulation_decides_nothing_in_time_or_money_and_is_called_so():
    run = swept(FAR_APART, objective="duration_s", stood_in=EMULATIONS)
    found = document([run], ComparisonQuestion(by=("ingestion",), baseline="boto3"))
    words = {row["method"]: row["verdict"] for row in found.rows}
    assert words == {
        "ingestion=boto3": "baseline",
        "ingestion=fastfile (emulated)": "not decided: emulated",
        "ingestion=file (emulated)": "not decided: emulated",
        "ingestion=local (for FSx)": "not decided: emulated",
        "ingestion=s3_map": "worse",
    }
    assert any("ingestion=file (emulated) and ingestion=boto3: not decided: emulated, in duration_s" in line for line in found.verdicts)
    assert "ingestion=local stands for FSx: its speed and cost are not those of what it stands for" in found.notes
    assert "ingestion=local stands for FSx" in as_text(found)
    assert document([run], ComparisonQuestion(by=("ingestion",), baseline="local")).rows[0]["method"] == "ingestion=local (for FSx)"


def test_what_takes_no_time_is_decided_through_an_emulation():
    run = swept(FAR_APART, objective="loss", stood_in=EMULATIONS)
    assert {row["verdict"] for row in document([run], ComparisonQuestion(by=("ingestion",))).rows} == {"leader", "worse"}


def test_an_emulated_platform_decides_nothing_against_a_real_one():
    runs = [swept([({"x": 1}, [value, value * 1.01])], number=seed, method=method, objective="duration_s", stood_in=stood_in)
            for method, value, stood_in in (("A", 1.0, NO_STAND_INS), ("B", 9.0, StandIns(platform="emulated")))
            for seed in range(3)]  # fmt: skip
    found = document(runs, ComparisonQuestion(by=("method",)))
    assert [row["verdict"] for row in found.rows] == ["baseline", "not decided: emulated"]
