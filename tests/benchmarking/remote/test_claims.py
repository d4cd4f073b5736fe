from __future__ import annotations

import threading

from benchmarking.remote.claims import Claims
from benchmarking.remote.layout import claim_key
from tests.backends.memory_store import MemoryStore

ONE = "digits/RS-sagemaker-0"


def claims(store: MemoryStore, controller: int, generation: int = 1, gone: tuple[int, ...] = ()) -> Claims:
    return Claims(store, controller, generation, lambda: 100.0, lambda which: which in gone)


def test_whoever_claims_first_has_it_and_the_other_is_told_who():
    store = MemoryStore()
    assert claims(store, 1).holder(ONE) is None
    assert claims(store, 1).holder(ONE) is None  # a restart of the same generation
    assert claims(store, 2).holder(ONE).words == "controller 1, generation 1"
    assert claims(store, 2).holder("digits/RS-sagemaker-1") is None


def test_a_generation_goes_on_with_what_earlier_ones_of_its_controller_had():
    store = MemoryStore()
    claims(store, 1, 1).holder(ONE)
    assert claims(store, 1, 2).holder(ONE) is None
    # The first one, which was frozen, finds that it was succeeded.
    assert claims(store, 1, 1).holder(ONE).generation == 2


def test_what_a_controller_had_that_is_over_for_good_goes_to_one_of_those_who_ask():
    store = MemoryStore()
    claims(store, 1).holder(ONE)
    assert claims(store, 2, gone=(1,)).holder(ONE) is None
    assert claims(store, 3, gone=(1,)).holder(ONE).controller == 2


def test_a_damaged_claim_is_replaced():
    store = MemoryStore()
    store.put(claim_key(ONE), b"{")
    assert claims(store, 2).holder(ONE) is None
    assert claims(store, 3).holder(ONE).controller == 2


def test_of_many_at_once_one_gets_each():
    store, got, start = MemoryStore(), [], threading.Barrier(8)

    def claim(controller: int) -> None:
        mine = claims(store, controller)
        start.wait()
        got.extend((number, controller) for number in range(20) if mine.holder(f"digits/RS-sagemaker-{number}") is None)

    threads = [threading.Thread(target=claim, args=(controller,)) for controller in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for number, _ in got) == list(range(20))
