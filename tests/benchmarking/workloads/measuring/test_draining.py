import http.server
import math
import threading

import pytest

from benchmarking.workloads.measuring import draining
from benchmarking.workloads.measuring.draining import Drained, as_ceilings, drained, of_files, of_urls


def test_more_at_once_are_tried_until_two_steps_did_not_help(monkeypatch):
    rates = {1: 100.0, 2: 200.0, 4: 210.0, 8: 205.0, 16: 900.0}
    monkeypatch.setattr(draining, "_level", lambda fetch, objects, first, count, level_s: (Drained(rates[count], 0.0, 0.01), first))
    assert list(drained(lambda: len, 5)) == [1, 2, 4, 8]
    rates |= {4: 400.0, 8: 800.0, 16: 1600.0}
    assert list(drained(lambda: len, 5)) == [1, 2, 4, 8, 16]


def test_files_are_drained_in_turn(tmp_path):
    names = []
    for number in range(3):
        (tmp_path / str(number)).write_bytes(b"x" * 1000 * number)
        names.append(str(tmp_path / str(number)))
    seen = []

    def noting():
        fetch = of_files(names)()

        def one(number):
            seen.append(number)
            return fetch(number)

        return one

    found = drained(noting, len(names), at_once=(1, 2), level_s=0.02)
    assert set(seen) == {0, 1, 2}
    assert found[1].bytes_per_s > 0


def test_the_clients_own_time_is_taken_out():
    """Ten fetches in 2 s of one thread, of which it waited for 0.5 s: by itself the store would give twenty a second."""
    done = [(0.2 * number, 100) for number in range(1, 11)]
    found = draining.rate_of(done, 0.0, 1, [(2.0, 0.5)])
    assert (found.objects_per_s, found.bytes_per_s) == (pytest.approx(20.0), pytest.approx(500.0))
    assert found.error == pytest.approx(0.1)  # by their number, as they are few
    # Two threads that wait all the time.
    assert draining.rate_of(done, 0.0, 2, [(2.0, 2.0), (2.0, 2.0)]).objects_per_s == pytest.approx(5.0)
    # Files in memory: all of it is the client's.
    assert draining.rate_of(done, 0.0, 1, [(2.0, 0.1)]).objects_per_s == math.inf


def test_a_store_that_nobody_waits_for_is_tried_once(monkeypatch):
    monkeypatch.setattr(draining, "_level", lambda fetch, objects, first, count, level_s: (Drained(math.inf, 0.0, 0.01), first))
    assert list(drained(lambda: len, 5)) == [1]


def test_a_store_that_fails_is_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        drained(of_files([str(tmp_path / "gone")]), 1, at_once=(2,), level_s=0.01)


@pytest.fixture
def address():
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            found = self.path.startswith("/there")
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", "3")
            self.end_headers()
            self.wfile.write(b"abc")

        def log_message(self, *given):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_objects_are_got_over_connections_that_stay_open(address):
    fetch = of_urls([f"{address}/there?signed=1"])()
    assert [fetch(0), fetch(0)] == [3, 3]
    with pytest.raises(OSError, match="GET /gone: status 404"):
        of_urls([f"{address}/gone?signed=1"])()(0)


def test_rates_in_samples():
    found = as_ceilings({2: Drained(10.0, 1e6, 0.05)}, 20.0)
    assert (found[2].samples_per_s, found[2].error) == (200.0, 0.05)
