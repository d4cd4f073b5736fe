"""The open loop against a fake endpoint."""

from __future__ import annotations

import pytest

from tests.benchmarking.workloads.load.fake_endpoint import FakeEndpoint, Reply, http, load, targets_document

pytestmark = pytest.mark.slow
OPEN = ("--load", "open", "--rate", 50, "--duration_s", 2, "--arrivals", "constant")


def test_every_request_is_sent_and_read(tmp_path):
    with FakeEndpoint(lambda asked: Reply()) as server:
        (found,) = load(server, tmp_path, *OPEN)
    assert found["requests"] == 100 == len(server.asked) - 1  # and one that warmed
    assert found["error_share"] == 0.0
    assert found["latency_p50_ms"] <= found["latency_p99_ms"] <= found["latency_max_ms"]


def test_a_stall_counts_from_the_intended_start(tmp_path):
    """triton #3113, wrk2 #81, vegeta #520: who waits for the server sends less just when it is slow."""
    until = {}

    def behave(asked):
        if asked.number == 50:
            until["s"] = 1.0
        return Reply(((until.pop("s", 0.0), http()),))

    with FakeEndpoint(behave) as server:
        (found,) = load(server, tmp_path, *OPEN, "--connections", 1)
    # One connection: the 50 requests due while it stands still wait, and show how long, beside the time from sending.
    assert found["latency_p95_ms"] > 850
    assert found["service_p95_ms"] < 500
    assert found["requests"] == 100


def test_requests_go_to_their_targets(tmp_path):
    with FakeEndpoint(lambda asked: Reply()) as server:
        load(server, tmp_path, *OPEN, targets=targets_document(3))
    names = {asked.target for asked in server.asked}
    assert names == {"m-v0.tar.gz", "m-v1.tar.gz", "m-v2.tar.gz"}
    assert [asked.target for asked in server.asked[:3]] == sorted(names)
