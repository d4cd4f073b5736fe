"""When a running job ends: known answers, changes on the way, and when it is open."""

import math

import numpy as np
import pytest

from backends.events import Progressed
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.running.projection import Openness, Projection, project


def curve(times, total, *, every=1, startup_s=2.0, cores=1.0):
    """Return the curve of a job whose steps take these seconds."""
    found, elapsed_s = None, startup_s
    for done in range(len(times) + 1):
        if done % every == 0:
            event = Progressed("j", 1000.0 + elapsed_s, float(done), total, elapsed_s, cores * elapsed_s, {}, 0, done)
            if found is None:
                found = ProgressCurve.begun(event)
            else:
                found.take(event)
        elapsed_s += times[done] if done < len(times) else 0.0
    return found


def projected(times, total, **more):
    found = project(curve(times, total, **more))
    assert isinstance(found, Projection), found
    return found


def test_equal_steps_end_when_they_must():
    found = projected([0.1] * 100, 1000.0, cores=2.0)
    assert found.median_s == pytest.approx(2.0 + 100.0)
    assert found.done == pytest.approx(0.1)
    assert found.unit_s == pytest.approx(0.1)
    assert found.cpu_s == pytest.approx(2 * 102.0)
    # 10 % of the job behind it: 0.15 of change over the whole, from a share of about 0.07 to 0.55, and 2 % of form.
    assert found.hi80_s == pytest.approx(12.0 + 90.0 * math.exp(1.372 * math.hypot(0.48 * 0.15, 0.02)), rel=0.02)
    assert found.lo90_s < found.lo80_s < found.median_s < found.hi80_s < found.hi90_s


def test_the_interval_narrows_as_the_job_goes_on():
    widths = [projected([0.1] * done, 1000.0).width for done in (50, 100, 300, 600, 900)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] < 0.15
    assert widths[-1] < 0.005


def test_steps_that_get_dearer_are_carried_on_once_they_show():
    times = [0.1 * (1 + 0.5 * number / 1000) for number in range(500)]
    true_s = 2.0 + math.fsum(0.1 * (1 + 0.5 * number / 1000) for number in range(1000))
    found = projected(times, 1000.0)
    assert found.median_s == pytest.approx(true_s, rel=0.01)


def test_a_first_step_of_90_percent_of_the_time_says_nothing_of_the_others():
    found = projected([60.0] + [0.1] * 60, 1000.0)
    assert found.median_s == pytest.approx(2.0 + 60.0 + 99.9, rel=0.02)


def test_steps_that_double_half_way_are_seen_after_it():
    true_s = 2.0 + 500 * 0.1 + 500 * 0.2
    found = projected([0.1] * 500 + [0.2] * 300, 1000.0)
    assert found.median_s == pytest.approx(true_s, rel=0.06)
    assert found.lo90_s <= true_s <= found.hi90_s


def test_eighty_percent_intervals_hold_in_eighty_percent_of_noisy_jobs():
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        change = rng.normal(0, 0.15)
        steps = [0.1 * math.exp(change * number / 400) * rng.lognormal(0, 0.3) for number in range(400)]
        found = projected(steps[:80], 400.0, every=2)
        held += found.lo80_s <= 2.0 + math.fsum(steps) <= found.hi80_s
    assert 0.75 <= held / 300 <= 0.95


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([(0, None), (100, None)], Openness.NO_TOTAL),
        ([(0, 10), (2, 20)], Openness.TOTAL_CHANGES),
        ([(0, 10), (5, 10), (3, 10)], Openness.WENT_BACK),
        ([(0, 10), (11, 10)], Openness.PAST_TOTAL),
        ([(0, 10), (1, 10)], Openness.TOO_EARLY),
        ([(0, 10)] * 50, Openness.TOO_EARLY),
    ],
)
def test_what_is_open_says_why(events, why):
    found = None
    for number, (done, total) in enumerate(events):
        event = Progressed("j", float(number), float(done), total, float(number), 0.0, {}, 0, number)
        if found is None:
            found = ProgressCurve.begun(event)
        else:
            found.take(event)
    assert project(found) is why


def test_a_job_whose_loop_is_through_took_what_it_took():
    found = projected([0.5] * 10, 10.0)
    assert (found.done, found.median_s, found.lo90_s, found.hi90_s) == (1.0, 7.0, 7.0, 7.0)


def test_of_a_job_that_stood_still_for_most_of_its_time_the_end_is_open():
    assert project(curve([0.1] * 200 + [60.0], 1000.0)) is Openness.TOO_EARLY
