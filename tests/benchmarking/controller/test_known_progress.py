"""How far a job is by steps and epochs together."""

import pytest

from backends.events import Progressed
from benchmarking.controller.known_progress import with_levels
from benchmarking.controller.progress_curve import ProgressCurve, with_progress
from benchmarking.forecasting.running.outlook import outlook_of
from benchmarking.forecasting.running.projection import Openness, Projection, project, project_latest
from benchmarking.forecasting.running.words import running_text


def steps(count, each_s=0.1, startup_s=2.0, **more):
    found = None
    for number in range(count + 1):
        found = with_progress(
            found, Progressed("j", number * each_s, float(number), None, startup_s + number * each_s, number=number, **more)
        )
    return found


def test_steps_and_epochs_together_say_what_there_is_to_do():
    curve = with_levels(steps(250, by_step=True), [(12.0, 1.0), (22.0, 2.0)], 10, 25.0)
    assert curve.total == 1000.0
    found = project(curve)
    assert isinstance(found, Projection)
    assert abs(found.median_s - 102.0) < 0.5


def test_a_level_that_was_reported_between_two_points_is_counted_between_them():
    assert with_levels(steps(10), [(2.45, 1.0)], 4, 0.0).total == pytest.approx(18.0)


def test_what_the_script_says_itself_is_left_as_it_is():
    curve = ProgressCurve.begun(Progressed("j", 0.0, 5.0, 50.0, 1.0))
    assert with_levels(curve, [(1.0, 1.0)], 3, 0.0) is curve


def test_without_the_last_epoch_nothing_is_known():
    curve = steps(10)
    assert with_levels(curve, [(2.5, 1.0)], None, 0.0) is curve
    assert with_levels(None, [], 27, 0.0) is None
    assert with_levels(curve, [], 27, 0.0) is curve


def test_epochs_alone_are_progress():
    curve = with_levels(None, [(5.0 + 3.0 * epoch, float(epoch)) for epoch in range(1, 11)], 27, 35.0)
    found = project(curve)
    assert isinstance(found, Projection)
    assert abs(found.median_s - (5 + 3 * 27)) < 0.5
    assert with_levels(None, [(1.0, 3.0), (2.0, 1.0)], 27, 0.0).went_back


def test_the_last_epoch_is_the_end_of_the_loop():
    assert project(with_levels(steps(100), [(12.0, 10.0)], 10, 0.0)).done == 1.0


def test_a_total_that_is_known_later_or_is_not_said_each_time_has_not_changed():
    curve = None
    for number, total in enumerate([None, None, 40.0, None, 40.0]):
        curve = with_progress(curve, Progressed("j", 0.0, float(number), total, float(number), number=number))
    assert (curve.total, curve.totals) == (40.0, 1)


def test_what_the_script_says_itself_takes_the_place_of_the_steps_that_it_counts():
    curve = with_progress(steps(5, by_step=True), Progressed("j", 9.0, 1.0, 10.0, 9.0))
    assert (curve.total, len(curve.points), curve.by_step) == (10.0, 1, False)
    assert len(with_progress(curve, Progressed("j", 10.0, 6.0, None, 10.0, by_step=True)).points) == 1


def test_of_what_may_stop_early_the_latest_end_is_told():
    curve = steps(100, at_most=1000.0)
    assert project(curve) is Openness.MAY_STOP
    assert abs(project_latest(curve).median_s - 102.0) < 0.5
    assert running_text(outlook_of(curve, None), 10.0).startswith("100 of at most 1000 done, its loop ends in 10")
    assert running_text(outlook_of(curve, None), 10.0).endswith("s at the latest (95 %)")
