import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from benchmarking.workloads.load.max_models import ResidencySearch
from benchmarking.workloads.load.residency import residency_figures
from benchmarking.workloads.load.serving_status import ServingStatus, used_between
from tests.benchmarking.workloads.load.test_max_models import Lru


class Told:
    """A status that is made of a server with room for some copies; each load may leak."""

    def __init__(self, server, leak=0):
        self.server, self.leak = server, leak

    async def read(self):
        loaded = len(self.server.loaded)
        memory = 100_000_000 + 20_000_000 * loaded + self.leak * self.server.calls
        return {"resident": [str(one) for one in self.server.loaded], "memory_bytes": memory, "base_bytes": 100_000_000}


def figures(room, copies, cycles=0, leak=0):
    server = Lru(room)
    told = Told(server, leak)

    async def run():
        search = ResidencySearch(copies, server.call)
        before = await told.read()
        number = await search.run()
        return await residency_figures(number, search, told, before, server.call, cycles)

    return asyncio.run(run())


def test_a_copy_is_charged_without_the_base():
    """triton #4966: the seed's mean holds the base, so that few copies look dear."""
    found = figures(3, 8)
    assert (found["max_models"], found["all_copies_fit"]) == (3, False)
    assert (found["model_mb"], found["base_mb"]) == (20.0, 100.0)
    assert found["cold_p50_ms"] == 500.0


@pytest.mark.parametrize(("leak", "leaks"), [(0, False), (1_000_000, True)])
def test_a_leak_over_cycles_is_reported(leak, leaks):
    """triton #2023, #6117: load, unload, count."""
    found = figures(3, 8, cycles=20, leak=leak)
    assert found["cycles"] == 20
    assert found["leak_mb_per_cycle"] == leak / 1e6
    assert found["leaks"] is leaks


def test_where_nobody_tells_of_memory_there_are_no_figures_of_it():
    server = Lru(2)

    async def run():
        search = ResidencySearch(4, server.call)
        return await residency_figures(await search.run(), search, ServingStatus("", ""), None, server.call, 5)

    assert "model_mb" not in asyncio.run(run())


@pytest.mark.slow
def test_the_status_is_asked_with_its_key(monkeypatch):
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers["X-Outrider-Key"])
            body = json.dumps({"loads": 3, "server_cpu_s": 1.5}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    found = asyncio.run(ServingStatus(f"http://127.0.0.1:{server.server_port}/status", "k").read())
    thread.join()
    server.server_close()
    assert (found, seen) == ({"loads": 3, "server_cpu_s": 1.5}, ["k"])
    assert asyncio.run(ServingStatus(f"http://127.0.0.1:{server.server_port}/status", "k").read()) is None


def test_what_a_server_used_is_the_difference():
    before, after = (
        {"server_cpu_s": 1.0, "loads": 4, "evictions": 0},
        {"server_cpu_s": 3.5, "loads": 6, "evictions": 2, "server_rss_bytes": 7},
    )
    assert used_between(before, after) == {"server_cpu_s": 2.5, "loads": 2, "evictions": 2, "server_rss_bytes": 7}
    assert used_between(None, after) == {}
