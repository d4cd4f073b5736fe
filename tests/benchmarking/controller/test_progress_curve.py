"""How far a job was when, in bounded length."""

from backends.events import Progressed
from benchmarking.controller.progress_curve import ProgressCurve


def said(number, *, done=None, total=1000.0):
    return Progressed(
        "j", 100.0 + number, float(number if done is None else done), total, float(number), number / 2, {"load": 1.0}, 0, number
    )


def test_a_long_curve_keeps_its_beginning_its_newer_half_and_its_order():
    curve = ProgressCurve.begun(said(0))
    for number in range(1, 5000):
        curve.take(said(number))
    assert len(curve.points) <= 256
    assert curve.points[0].done == 0.0
    assert [point.done for point in curve.points[-50:]] == [float(one) for one in range(4950, 5000)]
    assert [point.elapsed_s for point in curve.points] == sorted(point.elapsed_s for point in curve.points)
    assert (curve.total, curve.totals, curve.went_back, curve.at) == (1000.0, 1, False, 5099.0)


def test_a_moment_that_was_before_is_passed_over():
    curve = ProgressCurve.begun(said(5))
    curve.take(said(3))
    curve.take(said(5, done=9))
    assert len(curve.points) == 1


def test_what_makes_it_no_line_is_remembered():
    curve = ProgressCurve.begun(said(0))
    curve.take(said(1, done=8))
    curve.take(said(2, done=4))
    curve.take(said(3, total=2000.0))
    assert (curve.went_back, curve.totals, curve.total) == (True, 2, 2000.0)
