"""A running job's forecast in words."""

from backends.events import Progressed
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.running.words import running_text
from tests.benchmarking.forecasting.running.test_projection import curve


def test_share_end_interval_and_dollars():
    text = running_text(curve([0.1] * 500, 1000.0), now=1052.0, price=(18.0, 2))
    assert text.startswith("50% done, ends in 50 s (4")
    assert text.endswith("will have cost $1.02")


def test_what_has_gone_by_since_the_last_line_counts():
    assert running_text(curve([0.1] * 500, 1000.0), now=1072.0).startswith("50% done, ends in 30 s (")


def test_what_is_open_says_so():
    begun = ProgressCurve.begun(Progressed("j", 0.0, 5.0, None, 1.0))
    assert running_text(begun, 0.0) == "5 done; its end is not decided: the script does not say how much there is to do"
    begun = ProgressCurve.begun(Progressed("j", 0.0, 5.0, 50.0, 1.0))
    assert running_text(begun, 0.0) == "10% done"
    assert running_text(curve([0.1] * 20, 20.0), 0.0) == "100 % done"
