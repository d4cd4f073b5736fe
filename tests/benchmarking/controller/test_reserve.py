"""Room on the disk that is kept for what is measured last."""

from benchmarking.controller.reserve import Reserve


def test_it_takes_room_until_it_is_used(tmp_path):
    path = tmp_path / "reserve"
    reserve = Reserve(path, 100_000)
    assert path.stat().st_blocks * 512 >= 100_000
    assert not reserve.is_used
    assert reserve.use()
    assert reserve.is_used
    assert not path.exists()
    assert not reserve.use()


def test_one_that_an_earlier_process_left_is_taken_over_and_deleted_at_the_end(tmp_path):
    path = tmp_path / "reserve"
    path.write_bytes(b"x")
    Reserve(path, 8192).close()
    assert not path.exists()


def test_where_there_is_no_room_for_it_there_is_none(tmp_path):
    assert not Reserve(tmp_path / "nowhere" / "reserve").use()
