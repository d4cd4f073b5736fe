"""Loads of a job that max_run would end: they end before, and what they measured is reported."""

import asyncio
import math

import pytest

from benchmarking.workloads.load.deadline import last_answers_s, load_ends_s
from benchmarking.workloads.load.max_models import ResidencySearch
from benchmarking.workloads.load.options import parse_options
from benchmarking.workloads.load.users import fitting, parse_ramp
from tests.benchmarking.workloads.load.fake_endpoint import FakeEndpoint, Reply, http, load, targets_document
from tests.benchmarking.workloads.load.test_max_models import Lru


@pytest.mark.parametrize(("left_s", "spare_s"), [(10, 2), (100, 5), (1000, 15)])
def test_what_follows_a_load_has_time_too(left_s, spare_s):
    assert load_ends_s(50.0 + left_s, 50.0) == 50.0 + left_s - spare_s
    assert load_ends_s(math.inf, 50.0) == math.inf


def test_the_last_answers_are_waited_for():
    assert last_answers_s(parse_options(["--slo_ms", "50"])) == 1.0
    assert last_answers_s(parse_options(["--slo_ms", "1000"])) == 5.0
    assert last_answers_s(parse_options(["--slo_ms", "60000", "--timeout_s", "30"])) == 30.0


def test_stages_that_are_whole_are_run():
    stages = parse_ramp("1@30,2@30,3@40")
    assert [fitting(stages, seconds) for seconds in (math.inf, 99, 60, 59, 29)] == [stages, stages[:2], stages[:2], stages[:1], ()]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_an_open_load_ends_before_its_job_and_says_after_how_long(tmp_path, processes):
    words = ("--load", "open", "--rate", 50, "--duration_s", 60, "--client_processes", processes)
    with FakeEndpoint(lambda asked: Reply()) as server:
        (found,) = load(server, tmp_path, *words, left_s=9 if processes == 2 else 5)
    assert 0 < found["requests"] < 60 * 50 / 2
    assert found["error_share"] == 0.0
    assert found["achieved_per_s"] == pytest.approx(50, rel=0.5)
    assert "ended before max_run, after " in found["why"]
    assert found["why"].endswith(" of 60 s")


@pytest.mark.slow
def test_what_an_endpoint_kept_from_being_sent_counts_too(tmp_path):
    """One connection, on which no answer comes: all that was due has none, not only what was sent."""
    first = []

    def behave(asked):
        first.append(asked)
        return Reply() if len(first) == 1 else Reply(((60.0, http()),))

    words = ("--load", "open", "--rate", 50, "--duration_s", 60, "--arrivals", "constant", "--connections", 1)
    with FakeEndpoint(behave) as server:
        (found,) = load(server, tmp_path, *words, left_s=5)
    assert found["error_share"] == 1.0
    assert found["requests"] > 50  # about 2 s of them
    assert found["errors_unanswered"] == found["requests"]
    assert found["latency_p50_ms"] == 10_000.0  # what a failure counts as


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_users_have_the_stages_that_end_before_the_job(tmp_path, processes):
    words = ("--load", "users", "--ramp", "4@1@40,8@1@40,16@60@40", "--client_processes", processes)
    with FakeEndpoint(lambda asked: Reply()) as server:
        found = load(server, tmp_path, *words, left_s=20)
    assert [one["stage"] for one in found] == [1, 2]
    assert "max_run" not in found[0].get("why", "")
    assert found[1]["why"].endswith("2 of 3 stages end before max_run does")


@pytest.mark.slow
@pytest.mark.parametrize("words", [("users", "--ramp", "4@30"), ("open", "--rate", 5), ("models",)])
def test_without_any_time_it_is_said_what_to_do(tmp_path, words):
    with FakeEndpoint(lambda asked: Reply()) as server, pytest.raises(SystemExit, match="raise max_run"):
        load(server, tmp_path, "--load", *words, left_s=2, targets=targets_document(2))


def test_copies_that_were_confirmed_in_time_are_a_lower_bound():
    server = Lru(100)
    search = ResidencySearch(64, server.call, lambda seconds: server.calls + seconds > 40)
    assert asyncio.run(search.run()) == 8  # 2 + 4 + 8 + 16 calls of up to 8 copies
    assert search.is_short


@pytest.mark.slow
def test_a_search_for_copies_ends_before_its_job(tmp_path):
    with FakeEndpoint(lambda asked: Reply(((0.05, http(X_Outrider_Cold=0)),))) as server:
        (found,) = load(server, tmp_path, "--load", "models", left_s=5, targets=targets_document(64))
    assert 1 <= found["max_models"] < 64
    assert found["at_least"]
    assert not found["all_copies_fit"]
    assert found["why"] == "the search ended before max_run: more copies may stay loaded"
