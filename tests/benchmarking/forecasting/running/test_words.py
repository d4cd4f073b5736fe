"""A running job's forecast in words."""

from backends.events import Progressed
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.running.outlook import outlook_of
from benchmarking.forecasting.running.tail import Tail
from benchmarking.forecasting.running.words import running_text
from tests.benchmarking.forecasting.running.test_projection import curve


def seen(told, tail=None):
    return outlook_of(told, tail)


def test_share_end_interval_and_dollars():
    text = running_text(seen(curve([0.1] * 500, 1000.0)), now=1052.0, price=(18.0, 2))
    assert text.startswith("50% done, its loop ends in 50 s (4")
    assert text.endswith("will have cost $1.02")


def test_what_has_gone_by_since_the_last_line_counts():
    assert running_text(seen(curve([0.1] * 500, 1000.0)), now=1072.0).startswith("50% done, its loop ends in 30 s (")


def test_what_is_open_says_so():
    begun = ProgressCurve.begun(Progressed("j", 0.0, 5.0, None, 1.0))
    assert running_text(seen(begun), 0.0) == "5 done; its end is not decided: the script does not say how much there is to do"
    begun = ProgressCurve.begun(Progressed("j", 0.0, 5.0, 50.0, 1.0))
    assert running_text(seen(begun), 0.0) == "10% done"
    assert running_text(seen(curve([0.1] * 20, 20.0)), 0.0) == "100% done; what comes after its loop is not known"


def test_what_comes_after_the_loop_is_part_of_the_end_where_it_is_known():
    tail = Tail(10.0, 2.0, 3)
    assert running_text(seen(curve([0.1] * 500, 1000.0), tail), now=1052.0).startswith("50% done, ends in 60 s (5")
    # The loop was through after 4 s, and it is 5 s old now.
    assert running_text(seen(curve([0.1] * 20, 20.0), tail), now=1005.0).startswith("100% done, ends in 9 s (6 s to 12 s)")
