import pytest

from backends.emulator.http.transfer import SharedRate, Transfer


class Clock:
    now_s = 100.0

    def __call__(self):
        return self.now_s


def test_a_whole_body_goes_at_once_where_nothing_limits_it():
    assert list(Transfer().pieces(10_000_000)) == [(10_000_000, 0.0)]
    assert list(Transfer().pieces(0)) == []


def test_a_body_takes_as_long_as_its_rate_says():
    pieces = list(Transfer(bytes_per_s=1e6).pieces(250_000))
    assert sum(size for size, _ in pieces) == 250_000
    assert sum(seconds for _, seconds in pieces) == pytest.approx(0.25)
    assert max(size for size, _ in pieces) == 20_000  # 20 ms of it


def test_connections_take_turns_on_a_shared_rate():
    clock = Clock()
    shared = SharedRate(1000.0, clock)
    assert [shared.wait_s(100), shared.wait_s(100), shared.wait_s(300)] == pytest.approx([0.1, 0.2, 0.5])
    clock.now_s += 10  # a line that nobody uses saves nothing up
    assert shared.wait_s(100) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("cut", "length", "sent"), [(None, 100, 100), (0.5, 100, 50), (0.0, 100, 0), (0.999, 100, 99), (0.9999999, 3, 2), (0.5, 0, 0)]
)
def test_what_is_cut_never_goes_through_whole(cut, length, sent):
    assert Transfer(cut=cut).sent_bytes(length) == sent
