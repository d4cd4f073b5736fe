"""What people reported of load generators: each a small reproduction of its kind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import OrderedDict

import pytest

from tests.benchmarking.workloads.load.fake_endpoint import FakeEndpoint, Reply, http, load, targets_document

pytestmark = pytest.mark.slow


class Stalls:
    """Answers at once, but what comes within a stretch after the first request only at its end."""

    def __init__(self, begin_s, seconds):
        self.begin_s, self.seconds, self.first_s = begin_s, seconds, None

    def __call__(self, asked):
        now = time.monotonic()
        self.first_s = self.first_s or now
        left = self.first_s + self.begin_s + self.seconds - now
        return Reply(((left if 0 < left <= self.seconds else 0.0, http()),))


@pytest.mark.parametrize("connections", [1000, 1])
def test_coordinated_omission(tmp_path, connections):
    """triton server #3113, wrk2 #81, vegeta #520: a stall of a tenth of the time is seen by a tenth of the requests."""
    words = ("--load", "open", "--rate", 50, "--duration_s", 5, "--arrivals", "constant", "--connections", connections)
    with FakeEndpoint(Stalls(2.0, 0.5)) as server:
        (found,) = load(server, tmp_path, *words)
    assert found["requests"] == 250
    assert found["latency_p99_ms"] > 400
    assert found["latency_p95_ms"] > 200
    if connections == 1:
        assert found["service_p95_ms"] < 100  # what a generator says that waits for each answer


class Room:
    """An endpoint with room for some copies: others are loaded at 30 ms each, the least recently used one goes."""

    def __init__(self, room):
        self.room, self.loaded = room, OrderedDict()

    def __call__(self, asked):
        is_cold = asked.target not in self.loaded
        self.loaded[asked.target] = None
        self.loaded.move_to_end(asked.target)
        while len(self.loaded) > self.room:
            self.loaded.popitem(last=False)
        return Reply(((0.03 if is_cold else 0.0, http(X_Outrider_Cold=int(is_cold), X_Outrider_Load_Ms=30 if is_cold else 0)),))


def test_cold_answers_stand_apart(tmp_path):
    """sagemaker-inference-toolkit #113, #138: four models, room for two."""
    words = ("--load", "open", "--rate", 50, "--duration_s", 3)
    with FakeEndpoint(Room(2)) as server:
        (crowded,) = load(server, tmp_path, *words, targets=targets_document(4))
        assert len(server.asked) == 4 + crowded["requests"]  # none is asked twice
    with FakeEndpoint(Room(4)) as server:
        (roomy,) = load(server, tmp_path, *words, targets=targets_document(4))
    assert 0.3 < crowded["cold_share"] < 0.7
    assert crowded["cold_p50_ms"] >= 30
    assert crowded["load_p50_ms"] == pytest.approx(30, rel=0.01)
    assert crowded["service_p50_ms"] < crowded["cold_p50_ms"]
    assert roomy["cold_share"] == 0.0  # all were warmed before
    assert "cold_p95_ms" not in roomy


def test_a_search_does_not_pass_what_is_cold_by_halves(tmp_path):
    words = ("--slo_ms", 25, "--percentile", 80, "--probe_s", 2, "--rate", 40, "--search_s", 8)
    with FakeEndpoint(Room(2)) as server:
        found = load(server, tmp_path, *words, targets=targets_document(4))
    assert found[-1]["max_rate_per_s"] == 0.0


def test_failures_that_look_fast(tmp_path):
    """TechEmpower #117, wrk #28, #140, wrk2 #105: half of the calls answered by 500 at once."""

    def behave(asked):
        return Reply(((0.0, http(500 if asked.number % 2 else 200)),))

    with FakeEndpoint(behave) as server:
        (found,) = load(server, tmp_path, "--load", "open", "--rate", 100, "--duration_s", 2, "--timeout_s", 3)
        assert found["error_share"] == pytest.approx(0.5, abs=0.01)
        assert found["errors_status_500"] == round(found["requests"] * found["error_share"])
        assert found["latency_p95_ms"] == found["service_p99_ms"] == found["latency_max_ms"] == 3000.0
        searched = load(server, tmp_path, "--probe_s", 1, "--percentile", 90, "--rate", 50, "--search_s", 5)
    assert searched[-1]["max_rate_per_s"] == 0.0


def test_the_generator_is_the_limit(tmp_path):
    """triton #6637, #4711: a generator on a core that is kept busy sends late, in bursts."""
    cores = os.sched_getaffinity(0)
    core = min(cores)
    busy = [subprocess.Popen([sys.executable, "-c", f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"]) for _ in range(3)]
    try:
        with FakeEndpoint(lambda asked: Reply()) as server:
            os.sched_setaffinity(0, {core})  # of this thread, which sends
            (found,) = load(server, tmp_path, "--load", "open", "--rate", 400, "--duration_s", 2, "--slo_ms", 10)
    finally:
        os.sched_setaffinity(0, cores)
        for process in busy:
            process.kill()
            process.wait()
    assert found["client_bound"]
    assert found["lag_p99_ms"] > 1.0
    assert "sent late" in found["why"]


def test_a_wall_clock_that_is_stepped_changes_nothing(tmp_path, monkeypatch):
    """locust #38, #2300, #1563: rates and percentiles by a clock that somebody sets."""
    real, began = time.time, time.monotonic()
    monkeypatch.setattr(time, "time", lambda: real() + (240.0 if time.monotonic() > began + 0.8 else 0.0))
    with FakeEndpoint(lambda asked: Reply(((0.01, http()),))) as server:
        (found,) = load(server, tmp_path, "--load", "open", "--rate", 100, "--duration_s", 2, "--arrivals", "constant")
    assert found["achieved_per_s"] == pytest.approx(100, rel=0.05)
    assert 10 <= found["latency_p50_ms"] <= found["latency_p99_ms"] <= found["latency_max_ms"] < 2000
