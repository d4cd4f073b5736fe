from __future__ import annotations

import json

import pytest

from benchmarking.remote.generations import claim_generation, generations, latest_generation
from definitions.errors import UserError
from tests.backends.memory_store import MemoryStore, StoreFaultError

JOB = "ctl-abcdef-01234567-g2"


def test_two_successors_are_one():
    here, there = MemoryStore(), MemoryStore()
    there.objects = here.objects
    first = claim_generation(here, "n", 1, 2, JOB, "100.0")
    second = claim_generation(there, "n", 1, 2, JOB, "200.0")
    assert second == first
    assert (first.job, first.at) == (JOB, "100.0")


def test_a_claim_that_was_not_answered_is_ones_own_when_it_is_repeated():
    store = MemoryStore()
    store.failing = lambda operation, key: "unanswered" if operation == "create" else ""
    with pytest.raises(StoreFaultError):
        claim_generation(store, "n", 1, 2, JOB, "100.0")
    store.failing = lambda operation, key: ""
    assert claim_generation(store, "n", 1, 2, JOB, "300.0").at == "100.0"


def test_a_claim_of_another_run_with_this_tag_is_refused():
    store = MemoryStore()
    claim_generation(store, "theirs", 1, 2, JOB, "100.0")
    with pytest.raises(UserError, match="of another run"):
        claim_generation(store, "mine", 1, 2, JOB, "100.0")


def test_the_last_generation_of_each_controller_counts_by_number_and_not_by_name():
    store = MemoryStore()
    for controller, last in ((1, 11), (2, 1)):
        for generation in range(1, last + 1):
            claim_generation(store, "n", controller, generation, JOB, "0.0")
    store.put(".controllers/1/live.json", b"{}")
    assert generations(store) == {1: 11, 2: 1}


def test_a_damaged_claim_is_named():
    store = MemoryStore()
    store.put(".controllers/1/g2.json", json.dumps({"controller": 1}).encode())
    with pytest.raises(UserError, match=r"g2\.json is damaged"):
        claim_generation(store, "n", 1, 2, JOB, "100.0")


def test_the_last_claim_of_a_controller_is_read_and_there_may_be_none():
    store = MemoryStore()
    for generation in (1, 2):
        claim_generation(store, "n", 1, generation, f"ctl-abcdef-01234567-g{generation}", "0.0")
    assert latest_generation(store, 1) == claim_generation(store, "n", 1, 2, JOB, "9.0")
    assert latest_generation(store, 2) is None
