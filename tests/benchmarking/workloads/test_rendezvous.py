import contextlib
import socket

import pytest

from benchmarking.workloads.rendezvous import announced, candidate_ports, store_port

pytestmark = pytest.mark.slow


@pytest.fixture
def ports():
    """Three ports that nobody else on the machine was using a moment ago."""
    with contextlib.ExitStack() as held:
        taken = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        return tuple(one.getsockname()[1] for one in taken)


def test_a_jobs_ranks_look_at_the_same_ports_and_two_jobs_at_others():
    first, second = candidate_ports("ddp-t0-a1"), candidate_ports("ddp-t1-a1")
    assert first == candidate_ports("ddp-t0-a1")
    assert not {*first} & {*second}
    assert len({*first}) == 4
    assert all(20000 <= port < 32000 for port in first)


def test_the_store_is_found_behind_a_port_that_is_taken_by_one_who_says_nothing(ports):
    with socket.create_server(("127.0.0.1", ports[0])), announced("a", ports, 4711) as port:
        assert port == ports[1]
        assert store_port("a", "127.0.0.1", ports, 20.0, answer_s=0.05) == 4711


def test_another_jobs_store_is_passed_over(ports):
    with announced("a", ports, 4711), announced("b", ports, 4712):
        assert store_port("b", "127.0.0.1", ports, 20.0) == 4712
        assert store_port("a", "127.0.0.1", ports, 20.0) == 4711


@pytest.mark.parametrize("said", [b"", b"a", b"a\n47", b"a\nx\n", b"\xff\n4711\n", b"HTTP/1.1 400 Bad Request\n"])
def test_what_others_say_is_no_announcement(ports, said):
    import threading

    with socket.create_server(("127.0.0.1", ports[0])) as other:

        def speak():
            connection, _ = other.accept()
            with connection:
                connection.sendall(said)

        speaker = threading.Thread(target=speak)
        speaker.start()
        with pytest.raises(TimeoutError, match=f"rank 0 of a was not found on 127.0.0.1, ports {ports[0]}, in 0 s"):
            store_port("a", "127.0.0.1", ports[:1], 0.0)
        speaker.join()


def test_after_the_meeting_the_port_is_free_and_without_one_the_system_says_so(ports):
    with announced("a", ports[:1], 1), pytest.raises(OSError, match="in use"), announced("b", ports[:1], 2):
        pass
    with pytest.raises(TimeoutError):
        store_port("a", "127.0.0.1", ports[:1], 0.0)
    with announced("b", ports[:1], 2):
        assert store_port("b", "127.0.0.1", ports[:1], 20.0) == 2
