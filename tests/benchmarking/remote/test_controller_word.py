from __future__ import annotations

from benchmarking.remote.controller_word import ControllerState, ControllerWord, Restart, WordWriter, as_bytes, from_bytes, read_word
from tests.backends.memory_store import MemoryStore


def word(generation: int, at: float, state: ControllerState = ControllerState.RUNNING, **more) -> ControllerWord:
    return ControllerWord(1, generation, f"ctl-0-0-g{generation}", at, state, **more)


def writer(store: MemoryStore, generation: int, warnings: list[str] | None = None) -> WordWriter:
    return WordWriter(store, 1, generation, ([] if warnings is None else warnings).append)


def test_a_word_comes_back_as_it_was_said_and_damage_is_no_word():
    said = word(3, 12.5, ControllerState.WAITING, why="killed", restarts=(Restart(11.0, "killed"),), seconds_left=300.0, started_at=1.0)
    assert from_bytes(as_bytes(said)) == said
    assert from_bytes(as_bytes(said).replace(b'"generation"', b'"later_key":1,"generation"')) == said
    assert [from_bytes(body) for body in (b"", b"[]", b"{}", b'{"state": "flying"}')] == [None] * 4


def test_each_word_replaces_the_one_before():
    store = MemoryStore()
    mine = writer(store, 1)
    for at in (1.0, 2.0, 3.0):
        mine.say(word(1, at))
    assert read_word(store, 1).at == 3.0
    assert read_word(store, 2) is None
    assert store.calls["replace"] == 2


def test_a_later_generation_has_the_last_word_also_after_an_earlier_one_wakes_up():
    store = MemoryStore()
    frozen, successor = writer(store, 1), writer(store, 2)
    frozen.say(word(1, 1.0))
    assert successor.earlier().generation == 1
    successor.say(word(2, 2.0))
    frozen.say(word(1, 3.0))
    frozen.say(word(1, 4.0))
    assert frozen.is_silenced
    assert read_word(store, 1) == word(2, 2.0)


def test_a_successor_speaks_after_words_that_it_did_not_know_of():
    store = MemoryStore()
    early, successor = writer(store, 1), writer(store, 2)
    early.say(word(1, 1.0))
    successor.say(word(2, 2.0))
    assert read_word(store, 1) == word(2, 2.0)


def test_what_cannot_be_written_is_said_and_harms_nothing():
    store, warnings = MemoryStore(), []
    mine = writer(store, 1, warnings)
    mine.say(word(1, 1.0))
    store.failing = lambda operation, key: "refused"
    mine.say(word(1, 2.0))
    assert len(warnings) == 1
    store.failing = lambda operation, key: ""
    mine.say(word(1, 3.0))
    assert read_word(store, 1).at == 3.0


def test_only_ends_for_good_are_final():
    assert [state for state in ControllerState if state.is_final] == [
        ControllerState.ENDED,
        ControllerState.STOPPED,
        ControllerState.FAILED,
    ]
