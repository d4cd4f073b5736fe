"""Requests to stop, through a pipe in an experiment's folder."""

import os
import queue

from benchmarking.archive.stop_requests import ask, is_listening, listening


def test_requests_arrive_in_their_order_while_somebody_listens(tmp_path):
    asked = queue.SimpleQueue()
    assert not is_listening(tmp_path)
    assert not ask(tmp_path, None)
    with listening(tmp_path, asked.put):
        assert is_listening(tmp_path)
        assert ask(tmp_path, 12)
        assert ask(tmp_path, None)
        assert [asked.get(timeout=90) for _ in range(2)] == [12, None]
    assert not is_listening(tmp_path)
    assert not (tmp_path / "stop").exists()


def test_what_is_no_request_is_passed_over(tmp_path):
    asked = queue.SimpleQueue()
    with listening(tmp_path, asked.put):
        pipe = os.open(tmp_path / "stop", os.O_WRONLY)
        os.write(pipe, b"nonsense\n-3\n\n4x\n" + b"y" * 3000 + b"\n7\n")
        os.close(pipe)
        assert asked.get(timeout=90) == 7
    assert asked.empty()


def test_only_its_owner_may_ask(tmp_path):
    with listening(tmp_path, lambda trial: None):
        assert (tmp_path / "stop").stat().st_mode & 0o777 == 0o600


def test_a_file_in_its_place_is_no_listener_and_is_replaced(tmp_path):
    (tmp_path / "stop").write_text("")
    assert not is_listening(tmp_path)
    assert not ask(tmp_path, 1)
    with listening(tmp_path, lambda trial: None):
        assert is_listening(tmp_path)


def test_where_there_can_be_no_pipe_nothing_can_be_asked(tmp_path):
    with listening(tmp_path / "nowhere", lambda trial: None):
        assert not ask(tmp_path / "nowhere", 1)
