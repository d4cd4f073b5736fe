"""Several processes share one schedule."""

import time

import pytest

from tests.benchmarking.workloads.load.fake_endpoint import FakeEndpoint, Reply, http, load, targets_document

pytestmark = pytest.mark.slow


def sent_by(tmp_path, processes):
    words = ("--load", "open", "--rate", 100, "--duration_s", 2, "--client_processes", processes)
    with FakeEndpoint(lambda asked: Reply()) as server:
        (found,) = load(server, tmp_path, *words, targets=targets_document(4))
        sent = [asked.target for asked in server.asked[4:]]
    assert found["requests"] == len(sent)
    assert found["error_share"] == 0.0
    # Those of warming too, by whatever process.
    assert found["calls"] == len(server.asked)
    assert found["call_mean_ms"] > 0
    return {target: sent.count(target) for target in sorted(set(sent))}


def test_together_they_send_the_one_schedule(tmp_path):
    alone = sent_by(tmp_path, 1)
    assert sent_by(tmp_path, 3) == alone
    assert sum(alone.values()) == 181  # by the seed
    assert len(alone) == 4


def test_a_search_is_decided_by_all_of_them(tmp_path):
    """Answers of 150 ms above 60/s, by any process."""
    times = []

    def behave(asked):
        times.append(time.monotonic())
        recent = sum(at > times[-1] - 0.5 for at in times)
        return Reply(((0.15 if recent > 0.5 * 75 else 0.0, http()),))

    words = ("--slo_ms", 100, "--percentile", 80, "--probe_s", 3, "--rate", 25, "--rungs", 1)
    with FakeEndpoint(behave) as server:
        found = load(server, tmp_path, *words, "--arrivals", "constant", "--client_processes", 2)
    assert found[-1]["rung"] == 1
    assert found[-1]["max_rate_per_s"] in (25, 50) or found[-1]["client_bound"]  # by a busy machine, which is said
    assert found[-1]["max_rate_per_s"] < 75
    assert found[-1]["not_passed_per_s"] <= 100
