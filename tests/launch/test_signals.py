"""What signals do: caught, unless the caller had ignored them; afterwards as before."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from launch.signals import winding_down

ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LEAVE = signal.SIGUSR1


@pytest.fixture(autouse=True)
def dispositions() -> Iterator[None]:
    earlier = {number: signal.signal(number, signal.SIG_DFL) for number in (*ALL, LEAVE)}
    yield
    for number, handler in earlier.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ALL)
def test_once_winds_down_and_twice_stops_at_once(number: signal.Signals) -> None:
    calls: list[str] = []
    with winding_down(lambda: calls.append("wound down"), calls.append, lambda: calls.append("left")):
        signal.raise_signal(number)
        assert calls == [f"{number.name}: winding down; once more stops at once", "wound down"]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert [signal.getsignal(one) for one in ALL] == [signal.SIG_DFL] * 3


@pytest.mark.parametrize("number", ALL)
def test_what_is_ignored_stays_so_inside_and_after(number: signal.Signals) -> None:
    signal.signal(number, signal.SIG_IGN)
    calls: list[str] = []
    with winding_down(lambda: calls.append("wound down"), calls.append, lambda: calls.append("left")):
        signal.raise_signal(number)
        signal.raise_signal(number)
        assert calls == []
        signal.raise_signal(next(other for other in ALL if other is not number))
        assert calls[1:] == ["wound down"]
    assert signal.getsignal(number) is signal.SIG_IGN


def test_the_signal_to_leave_is_another_and_however_often_it_comes_nothing_is_stopped() -> None:
    calls: list[str] = []
    with winding_down(lambda: calls.append("wound down"), calls.append, lambda: calls.append("left")):
        signal.raise_signal(LEAVE)
        signal.raise_signal(LEAVE)
        assert calls == ["SIGUSR1: ends; jobs that outlive this program run on, for whoever resumes", "left"] * 2
        signal.raise_signal(signal.SIGTERM)
        assert calls[-1] == "wound down"
    assert signal.getsignal(LEAVE) is signal.SIG_DFL
