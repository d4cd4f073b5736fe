import pytest

from benchmarking.workloads.load.calls import CallEnd
from benchmarking.workloads.load.client_check import ClientLoad, check_all_allowed, check_allowed, client_problem
from benchmarking.workloads.load.tally import LoadTally


def lagging(lag_s, errors=()):
    made = LoadTally(0.1, 5.0)
    for _ in range(100):
        made.sends(0, lag_s)
    for kind in errors:
        made.sends(0, 0.0)
        made.fails(0, 0, kind, 0.1)
    return made


@pytest.mark.parametrize(
    ("lag_s", "client", "said"),
    [
        (0.009, ClientLoad(1.0, 10, 1000), ""),
        (0.011, ClientLoad(0.97, 10, 1000), "busy to 97 %"),
        (0.011, ClientLoad(0.3, 10, 1000), "something else"),
        (0.011, ClientLoad(), "something else"),
        (0.011, ClientLoad(0.3, 4, 4), "raise --connections"),
        (0.011, ClientLoad(0.3, 1000, 1000), ""),  # the server has them all: 100/s at 100 ms need ten
    ],
)
def test_who_was_the_limit(lag_s, client, said):
    found = client_problem(lagging(lag_s), client, 100.0)
    assert (said in found) if said else not found


def test_sockets_that_the_system_refuses_are_the_clients():
    assert "no socket for 2" in client_problem(lagging(0.0, ["no_sockets"] * 2), ClientLoad(), 100.0)


def test_no_figure_rests_on_requests_that_were_denied():
    check_all_allowed(lagging(0.0, ["late"]), "at 100/s")
    check_allowed(CallEnd("late", 0.0), "without load")
    with pytest.raises(SystemExit, match="at 100/s 2 requests were denied: "):
        check_all_allowed(lagging(0.0, ["denied", "late", "denied"]), "at 100/s")
    with pytest.raises(SystemExit, match="a call without load was denied: expired"):
        check_allowed(CallEnd("denied", 0.0, text="expired"), "without load")
