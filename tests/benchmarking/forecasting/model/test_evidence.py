"""What speaks against a forecast: each refusal at the edge of its rule."""

import numpy as np
import pytest

from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.data.table import parse_table
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.evidence import falling, gravest, level_findings, misfit, short_findings, unsteady_rounds
from benchmarking.forecasting.model.growth_prior import GrowthPrior
from benchmarking.forecasting.model.power_law import fit
from benchmarking.forecasting.model.priors import exponents_of
from benchmarking.forecasting.model.result import Status
from tests.benchmarking.forecasting.canary_tables import metric

SIX = np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.1])


def grown(x, y, family=""):
    return fit(x, y, GrowthPrior(exponents_of(family)))


def test_the_smallest_third_is_compared_with_the_largest_quarter():
    # Without repeats the noise counts as 10 %: 2.5 standard errors of a mean of two against a mean of two are a quarter.
    assert falling(SIX, np.array([1.3, 1.3, 9.0, 9.0, 1.0, 1.0]), "total_s")
    assert not falling(SIX, np.array([1.27, 1.27, 9.0, 9.0, 1.0, 1.0]), "total_s")
    assert not falling(SIX, np.array([2.0, 0.5, 1.0, 1.0, 1.0, 1.0]), "total_s")


def test_quiet_repeats_show_a_smaller_fall_but_none_below_5_percent():
    x = np.array([0.01, 0.01, 0.01, 0.1, 0.1, 0.1])
    assert falling(x, np.array([1.079, 1.08, 1.081, 0.999, 1.0, 1.001]), "total_s")
    assert not falling(x, np.array([1.039, 1.04, 1.041, 0.999, 1.0, 1.001]), "total_s")


def test_one_size_is_a_refusal_unless_the_growth_is_known():
    growth = grown(np.array([0.02, 0.02]), np.array([1.0, 1.1]))
    assert [status for status, _ in level_findings(growth, "total_s", known=False)] == [Status.NOT_DECIDED]
    assert [status for status, _ in level_findings(growth, "total_s", known=True)] == [Status.WIDE]


@pytest.mark.parametrize(("top", "refused"), [(1 / 140, False), (1 / 160, True)])
def test_a_full_job_of_more_than_150_times_the_largest_canary_is_refused(top, refused):
    growth = grown(np.array([top / 3, top]), np.array([1.0, 3.0]))
    assert bool(level_findings(growth, "total_s", known=True)) is refused


@pytest.mark.parametrize(
    ("longest_s", "startup_s", "said"),
    [
        (0.4, None, "too short"),
        (0.4, 2.0, "too short"),  # a fifth of start-up
        (0.4, 1.0, ""),  # two fifths
        (0.6, 9.0, ""),
    ],
)
def test_too_short_is_below_half_a_second_and_a_quarter_of_start_up(longest_s, startup_s, said):
    x = np.array([0.01, 0.01, 0.1])
    y = longest_s * x / 0.1
    startup = None if startup_s is None else np.full(3, startup_s)
    texts = " ".join(text for _, text in short_findings(grown(x, y), y, startup, "the fit phase"))
    assert ("too short" in texts) is bool(said)


def test_a_law_that_scatters_far_more_than_repeats_does_not_fit():
    x = np.array([0.01, 0.01, 0.02, 0.02, 0.03, 0.03, 0.05, 0.05, 0.1, 0.1])
    bumps = np.exp(np.array([0.5, 0.5, -0.5, -0.5, 0.5, 0.5, -0.5, -0.5, 0.5, 0.5]))
    jumping, straight = 100 * x * bumps, 100 * x
    assert "no law fits" in misfit(grown(x, jumping), jumping, "train_s")[0][1]
    assert not misfit(grown(x, straight), straight, "train_s")


def test_the_gravest_counts():
    assert gravest([(Status.WIDE, ""), (Status.NOT_DECIDED, "")], Status.OK) is Status.NOT_DECIDED
    assert gravest([], Status.WIDE) is Status.WIDE


@pytest.mark.parametrize(("spread", "falls"), [(0.03, True), (0.2, False)])
def test_a_fall_is_judged_by_the_noise_of_its_repeats(spread, falls):
    # A fall by 20 % between means of two: 2.5 standard errors are 2.5 x sqrt(2) x spread / sqrt(2) x sqrt(1/2 + 1/2).
    x = np.array([0.01, 0.01, 0.1, 0.1])
    y = np.array([1.2 * np.exp(spread / 2), 1.2 * np.exp(-spread / 2), np.exp(spread / 2), np.exp(-spread / 2)])
    assert bool(falling(x, y, "total_s")) is falls


@pytest.mark.parametrize(("growth", "hardly"), [(1.35, True), (1.45, False), (2.0, False)])
def test_a_fit_phase_hardly_grows_below_four_tenths_over_three_times_the_data(growth, hardly):
    x = np.array([0.03, 0.03, 0.1])
    y = np.array([10.0, 10.0, 10.0 * growth])
    found = short_findings(grown(x, y, "epochs"), y, None, "the fit phase")
    assert any("hardly grows" in text for _, text in found) is hardly
    # Over less than three times the data nothing is said.
    near = np.array([0.04, 0.04, 0.1])
    assert not any("hardly grows" in text for _, text in short_findings(grown(near, y, "epochs"), y, None, "the fit phase"))


def test_totals_of_which_most_does_not_grow_decide_nothing():
    # Start-up of 95 s that nobody timed, beside work that stops growing: iterations that need not all be run.
    def total(work_s):
        text = "".join(f"job,{fraction},{95 + work_s(fraction)}\n" for fraction in (0.01, 0.01, 0.25, 0.25, 0.5, 0.5))
        return metric(forecast(parse_table("configuration,fraction,total_s\n" + text), Question(Billing("us-east-1"))), "total_s")

    hidden = total(lambda fraction: 150 * fraction)
    assert hidden.status is Status.NOT_DECIDED
    assert "does not grow with the data: start-up hides how the rest grows" in hidden.why
    assert total(lambda fraction: 4000 * fraction).status is Status.OK


def rounds(*steps):
    return [Canary("j", fraction, repeat, train_s=10 * fraction, steps=count) for repeat, (fraction, count) in enumerate(steps)]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([(0.01, 100), (0.03, 300), (0.1, 1000)], ""),
        ([(0.01, 250), (0.03, 250), (0.1, 250)], ""),
        ([(0.01, 3), (0.03, 8), (0.1, 25)], ""),
        ([(0.01, 10), (0.01, 14), (0.1, 12)], "repeats differ by 40% in their number of steps"),
        ([(0.01, 12), (0.25, 7)], "12 steps at 0.01 and 7 at 0.25 of the data"),
        ([(0.01, 100), (0.1, 300)], "100 steps at 0.01 and 300 at 0.1 of the data"),
        ([(0.01, 100)], ""),
        ([(0.01, None), (0.1, 12)], ""),
    ],
)
def test_numbers_of_steps_that_neither_stay_nor_go_with_the_data_are_not_decided(steps, said):
    found = unsteady_rounds(rounds(*steps))
    assert [text.startswith(said) for _, text in found] == ([True] if said else [])
    assert all(status is Status.NOT_DECIDED for status, _ in found)


SGD = {0.01: (94, 96, 96, 96, 98), 0.25: (136, 140, 140, 140, 142), 0.5: (170, 172, 172, 172, 178)}
"""Seconds of a public series whose rounds stop early: the full job takes 174."""


@pytest.mark.parametrize(("startup_s", "why"), [(None, "start-up hides how the rest grows"), (90.0, "grows by less than the data")])
def test_rounds_that_stop_early_are_not_ok_whether_start_up_was_timed_or_not(startup_s, why):
    timed = {} if startup_s is None else {"startup_s": startup_s}
    runs = [
        Canary("sgd", fraction, repeat, total_s=float(total_s), train_s=None if startup_s is None else total_s - startup_s, **timed)
        for fraction, group in SGD.items()
        for repeat, total_s in enumerate(group)
    ]
    total = metric(forecast(CanaryTable(tuple(runs)), Question(Billing("us-east-1"))), "total_s", "sgd")
    assert total.status is Status.NOT_DECIDED
    assert why in total.why


@pytest.mark.parametrize(("step_s", "hidden"), [(0.012, True), (0.03, True), (0.04, False)])
def test_steps_that_a_fit_phase_begins_by_hiding_are_not_decided_by_either_clock(step_s, hidden):
    # Ten steps at 1 % of the data and thirty at 3 %, behind 1.35 s that do not grow:
    # 1.65 against 2.25 s are too little, 1.75 against 2.55 are not.
    def run(fraction, repeat):
        train_s = 1.35 + step_s * 1000 * fraction
        return Canary("w", fraction, repeat, startup_s=1.4, train_s=train_s, total_s=1.4 + train_s, steps=1000 * fraction,
                      cpu_s=1.4 + train_s, about={"startup_cpu_s": 1.4, "train_cpu_s": train_s})  # fmt: skip

    runs = tuple(run(fraction, repeat) for fraction in (0.01, 0.03) for repeat in (0, 1))
    found = forecast(CanaryTable(runs), Question(Billing("us-east-1")))
    for name in ("total_s", "cpu_s"):
        assert ("hardly grows" in metric(found, name, "w").why) is hidden
    assert (metric(found, "total_s", "w").status is Status.NOT_DECIDED) is hidden
