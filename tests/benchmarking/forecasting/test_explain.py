"""What drives the width of a forecast, and what one more run would buy."""

import csv
import io
import json
import math

import pytest

from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.explain import causes_of, explained_lines, explanations, gain_per_cost
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.fit import fit_all
from benchmarking.forecasting.render import as_csv, as_json
from tests.benchmarking.forecasting.canary_tables import canaries
from tests.benchmarking.forecasting.prefix_runs import prefix, small

QUESTION = Question(draws=800, billing=Billing("us-east-1", prices={"t": 3600.0}))
RUNS = {"job": canaries(instance_type="t", startup_s=200.0)}


def test_shares_of_the_variance_add_up():
    shares = causes_of(fit_all(RUNS, 1.0)["job"], "total_s", QUESTION)
    assert set(shares) == {"noise of the runs", "growth of startup", "growth of train"}
    assert math.fsum(shares.values()) == pytest.approx(1.0)
    assert min(shares.values()) > 0
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_one_more_run_is_priced_and_the_best_width_per_dollar_comes_first():
    found = explanations(RUNS, "job", QUESTION)[0].runs
    assert sorted(run.fraction for run in found) == pytest.approx([0.01, 0.1, 1 / 3])
    assert [run.is_repeat for run in sorted(found, key=lambda run: run.fraction)] == [True, True, False]
    largest = max(found, key=lambda run: run.fraction)
    # A third of 1000 s and start-up, at a dollar a second.
    assert largest.usd == pytest.approx(largest.seconds)
    assert largest.seconds == pytest.approx(200 + 1000 / 3, rel=0.05)
    assert largest.after < largest.before
    assert [gain_per_cost(run) for run in found] == sorted((gain_per_cost(run) for run in found), reverse=True)


def lines(groups, *, timed=True):
    return explained_lines(explanations(groups, "job", QUESTION), "job", timed=timed)


def test_words_name_the_timer_that_is_missing():
    text = "\n".join(lines({"job": canaries(timed=False)}, timed=False))
    assert "the width of its time comes from" in text
    assert "a timer around the fit phase" in text
    assert "price unknown" in text


def test_a_timer_that_is_there_is_not_asked_for_and_nothing_measured_is_said():
    assert "a timer around the fit phase" not in "\n".join(lines(RUNS))
    assert lines({"job": [Canary("job", 0.1)]}) == ["job: nothing was measured, so nothing can be said of its width"]


def test_memory_says_what_must_still_grow_and_what_a_larger_run_buys():
    runs = [
        Canary("job", fraction, total_s=100 * fraction, train_s=100 * fraction, rss_bytes=1e8 + 4e9 * fraction) for fraction in (0.01, 0.03)
    ]
    found = {one.metric: one for one in explanations({"job": runs}, "job", QUESTION)}
    # 0.35 sqrt(ln(1 / 0.03)) of 3.88 GB beside 4 % of 4.1 GB.
    grows = 0.35 * math.sqrt(math.log(1 / 0.03)) * 3.88
    assert found["rss_bytes"].causes["memory that must still grow"] == pytest.approx(grows / (grows + 0.04 * 4.1), rel=1e-3)
    assert found["rss_bytes"].next_run.fraction == pytest.approx(0.1)
    assert found["rss_bytes"].next_run.after < 0.9 * found["rss_bytes"].next_run.before


def test_of_one_fraction_it_is_said_that_nobody_knows_how_memory_grows():
    found = explanations({"job": [Canary("job", 0.1, rss_bytes=1.0)]}, "job", QUESTION)
    assert [(one.metric, one.causes, one.runs) for one in found] == [("rss_bytes", {"memory was measured at one fraction only": 1.0}, ())]


def test_what_has_one_cause_alone_has_it_whole_and_what_was_not_measured_none():
    runs = [
        Canary("job", fraction, total_s=100 * fraction, cpu_util=80.0, gpu_bytes=1e9 + 1e9 * fraction) for fraction in (0.01, 0.03, 0.1)
    ]
    item = fit_all({"job": runs}, 1.0)["job"]
    assert causes_of(item, "gpu_bytes", QUESTION) == {"growth of GPU memory": 1.0}
    assert causes_of(item, "cpu_util", QUESTION) == {"scatter of the runs": 1.0}
    bare = fit_all(RUNS, 1.0)["job"]
    assert [causes_of(bare, metric, QUESTION) for metric in ("gpu_bytes", "rss_bytes", "cpu_s")] == [{}, {}, {}]


def begun():
    """The beginning of a job of 100 s, and a small one whose evaluation takes a second for 1 % of the data."""
    one = small(0.01, [0.1] * 10, after_s=1.0, name="job", instance_type="t")
    return {"job": [prefix([0.1] * 60, 1000.0, name="job", instance_type="t", rss_bytes=1e9, peaks=lambda done: 1e9), one]}


def test_of_a_beginning_it_is_said_what_it_did_not_see_and_what_a_longer_one_would_buy():
    found = {one.metric: one for one in explanations(begun(), "job", QUESTION)}
    assert set(found) == {"total_s", "cpu_s", "rss_bytes", "cost_usd"}
    time = found["total_s"]
    # Nothing of steps that change, of when it stops, or of load: there is none of these.
    assert set(time.causes) == {"rest of the loop", "what its beginning did not see", "another run of the same job"}
    assert math.fsum(time.causes.values()) == pytest.approx(1.0)
    assert (time.prefix_share, time.prefix_s) == (pytest.approx(0.06), pytest.approx(8.0))
    kinds = {(run.kind, round(run.fraction, 3)): run for run in time.runs}
    assert set(kinds) == {("prefix", 1.0), ("repeat", 0.01), ("canary", 0.033)}
    # Start-up of 2 s, and twice the 6 s of its loop, at a dollar a second.
    assert kinds["prefix", 1.0].usd == pytest.approx(14.0)
    assert kinds["prefix", 1.0].after < kinds["prefix", 1.0].before
    # Most is not known of what comes after the loop, which a larger small job shows best.
    assert time.next_run.kind == "canary"
    assert found["rss_bytes"].causes["a peak is never told better"] == pytest.approx(1.0)


def test_a_beginnings_explanation_is_in_the_words_and_in_all_forms():
    groups = begun()
    said, found = lines(groups), explanations(groups, "job", QUESTION)
    assert any(line.startswith("  its beginning for twice as long: about 14 s, $14") for line in said)
    assert not any("fit phase" in line for line in said)
    table = CanaryTable(tuple(groups["job"]))
    rows = list(csv.DictReader(io.StringIO(as_csv(forecast(table, QUESTION), found))))
    time = next(row for row in rows if row["metric"] == "total_s")
    assert float(time["prefix_share"]) == pytest.approx(0.06)
    assert time["next_kind"] == "canary"
    assert "what its beginning did not see" in time["width_from"]
    (told,) = [row for row in json.loads(as_json(forecast(table, QUESTION), found)) if row["metric"] == "total_s"]
    assert (told["prefix_s"], told["next_kind"]) == (pytest.approx(8.0), time["next_kind"])
    # A ladder has the columns too, and nothing of a beginning in them.
    ladder = list(
        csv.DictReader(io.StringIO(as_csv(forecast(CanaryTable(tuple(RUNS["job"])), QUESTION), explanations(RUNS, "job", QUESTION))))
    )
    assert {row["prefix_share"] for row in ladder} == {""}
    assert {row["next_kind"] for row in ladder} <= {"", "canary", "repeat"}


def test_what_small_jobs_alone_measured_is_no_row_beside_a_beginning():
    found = forecast(CanaryTable(tuple(begun()["job"])), QUESTION)
    assert {one.metric for one in found} == {"total_s", "cpu_s", "rss_bytes", "cost_usd"}
