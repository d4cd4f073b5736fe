"""When a prefix has told enough: by its width, by its time, never before its first steps, and at once where it will tell nothing."""

from dataclasses import replace

import pytest

from backends.events import Progressed
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.prefix.stopping import PrefixRule, is_enough
from definitions.schema import PerJob, Prefix, Progressive
from tests.benchmarking.forecasting.prefix_runs import curve

RULE = PrefixRule()


def stopped_at(times, total, rule=RULE, *, startup_s=2.0, said=None, cores=1.0):
    """Return (steps, seconds) at which a job is stopped whose steps take these seconds; None where it is not."""
    found, elapsed_s = None, startup_s
    for done in range(len(times) + 1):
        event = Progressed(
            "j", 1000.0 + elapsed_s, *(said or (lambda k: (float(k), total)))(done), elapsed_s, cores * elapsed_s, {}, 0, done
        )
        if found is None:
            found = ProgressCurve.begun(event)
        else:
            found.take(event)
        if is_enough(found, rule):
            return done, pytest.approx(elapsed_s)
        elapsed_s += times[done] if done < len(times) else 0.0
    return None


def test_a_steady_job_is_stopped_soon_after_its_first_steps():
    steps, seconds = stopped_at([0.1] * 1000, 1000.0)
    assert 8 <= steps <= 30
    assert seconds.expected < 6.0


def test_on_a_busy_machine_a_second_of_the_processor_is_waited_for():
    assert stopped_at([0.1] * 1000, 2000.0, cores=0.1)[1].expected == pytest.approx(12.0, abs=0.3)
    assert stopped_at([0.1] * 1000, 2000.0, cores=0.5)[1].expected == pytest.approx(4.0, abs=0.3)


def test_a_tenth_of_the_forecast_is_enough_however_wide_it_is():
    uneven = [0.02, 0.4] * 500
    assert stopped_at(uneven, 1000.0, PrefixRule(width=0.001)) == (pytest.approx(95, abs=6), pytest.approx(21.2, abs=1.0))
    assert stopped_at(uneven, 1000.0, PrefixRule(width=0.001, prefix_s=8.0))[1].expected == pytest.approx(8.2, abs=0.4)


def test_loading_that_takes_more_than_a_tenth_is_waited_for():
    steps, seconds = stopped_at([0.1] * 1000, 1000.0, startup_s=50.0)
    assert steps >= 8
    assert seconds.expected > 50.5


def test_start_up_of_more_than_a_tenth_leaves_the_loop_its_second_on_a_busy_machine():
    # 64 s until the first step and 300 s to go: a tenth is over at once, when the loop has had next to nothing of a processor.
    steps, seconds = stopped_at([0.02] * 20000, 15000.0, startup_s=64.0, cores=0.05)
    assert seconds.expected == pytest.approx(74.0, abs=0.1)
    assert steps == pytest.approx(500, abs=5)
    # What somebody asked for is the limit, whatever the loop had.
    assert stopped_at([0.02] * 20000, 15000.0, PrefixRule(prefix_s=66.0), startup_s=64.0, cores=0.05)[1].expected == pytest.approx(
        66.0, abs=0.03
    )


def test_a_first_step_of_90_percent_of_the_time_is_waited_for():
    steps, _ = stopped_at([900.0] + [0.1] * 1000, 1001.0)
    assert steps >= 8


def test_more_steps_can_be_asked_for():
    assert stopped_at([1.0] * 1000, 1000.0, PrefixRule(steps=40))[0] == 40


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        (lambda k: (float(k), None), 3),
        (lambda k: (float(k), 1000.0 + k), 3),
        (lambda k: (float(k if k < 5 else k - 5), 1000.0), 8),
    ],
)
def test_what_will_tell_nothing_is_stopped_at_once(said, steps):
    assert stopped_at([0.5] * 1000, None, said=said)[0] == pytest.approx(steps, abs=1)


def test_what_may_stop_early_is_stopped_when_a_steps_time_is_known_and_not_at_once():
    run = curve([0.1] * 60, None, at_most=1000.0)
    points = run.points
    enough = [is_enough(replace(run, points=points[: k + 1]), RULE) for k in range(1, 61)]
    assert enough.index(True) == pytest.approx(11, abs=8)
    assert enough[-1]
    # As one whose total is known.
    known = curve([0.1] * 60, 1000.0)
    assert enough == [is_enough(replace(known, points=points[: k + 1]), RULE) for k in range(1, 61)]


def test_steps_without_a_total_are_waited_for_where_levels_will_tell_it():
    rule = PrefixRule(has_levels=True)
    assert stopped_at([0.5] * 100, None, rule, said=lambda k: (float(k), None)) is None


def test_a_job_that_is_over_before_is_left_to_its_end():
    assert stopped_at([0.1] * 6, 6.0) is None


def test_progress_that_stands_still_is_no_reason_to_stop():
    assert stopped_at([0.1] * 1000, 1000.0, said=lambda k: (float(min(k, 2)), 1000.0)) is None


def test_progress_that_jumps_is_no_certainty():
    # Nine tenths of the work in one step: too wide to stop by, so it goes on until a tenth of the time or its end.
    found = stopped_at([0.1] * 50, 1000.0, said=lambda k: (float(k if k < 20 else 900 + k), 1000.0))
    assert found is None or found[0] < 20


def test_the_rule_is_the_definitions():
    assert PrefixRule.of(None) == PrefixRule(0.15, None, 3)
    assert PrefixRule.of(Progressive(kind="progressive", reported_as="epoch", full=3)).has_levels
    assert PrefixRule.of(PerJob(kind="per_job", argument="fraction", width=0.1)).width == 0.1
    made = PrefixRule.of(Prefix(kind="prefix", prefix_s=40.0, steps=5))
    assert (made.prefix_s, made.steps, made.most_s) == (40.0, 5, 40.0)
    assert PrefixRule().most_s == 300.0
