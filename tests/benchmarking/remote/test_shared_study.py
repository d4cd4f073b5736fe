"""A study that grows here grows in the store, unless somebody else changed it there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.remote.shared_study import share_study
from benchmarking.studies.record import Look, PlannedExperiment, StudyFlags, StudyRecord, as_json, from_json
from definitions.errors import UserError
from tests.backends.memory_store import MemoryStore


def study(*numbers, source="/here", max_trials=4):
    text = f"name: demo\nsource_dir: {source}\nbudget: {{max_num_trials: {max_trials}}}\n"
    return StudyRecord(
        StudyFlags("sagemaker"), {"demo": text}, tuple(PlannedExperiment("demo", "RS", n, n, "h", False, 1) for n in numbers)
    )


def there(store):
    return from_json(store.get("study.json").body.decode(), "study.json")


def test_a_change_is_brought_and_the_same_again_writes_nothing():
    store = MemoryStore()
    share_study(store, None, study(0))
    assert there(store) == study(0)
    share_study(store, study(0), study(0, 1, max_trials=8))
    assert there(store) == study(0, 1, max_trials=8)
    store.calls.clear()
    share_study(store, study(0), study(0, 1, max_trials=8, source="/elsewhere"))
    share_study(store, None, replace(study(0, 1, max_trials=8), looks=(Look("x", 2),)))
    assert (store.calls["replace"], store.calls["create"]) == (0, 0)


def test_a_change_of_somebody_else_is_not_lost():
    store = MemoryStore()
    store.put("study.json", as_json(study(0, 1)).encode())
    for before in (study(0), None):
        with pytest.raises(UserError, match=r"it has 2 experiments, the one here had [01]\n.*collect the run"):
            share_study(store, before, study(0, 2))
    assert there(store) == study(0, 1)


def test_who_comes_in_between_is_seen():
    store = MemoryStore()
    store.put("study.json", as_json(study(0)).encode())

    def between(operation, key):
        if operation == "replace":
            store.failing = lambda operation, key: ""
            store.put("study.json", as_json(study(0, 5)).encode())
        return ""

    store.failing = between
    with pytest.raises(UserError, match="it has 2 experiments"):
        share_study(store, study(0), study(0, 1))
    assert there(store) == study(0, 5)


def test_others_who_write_again_and_again_end_it_and_lose_nothing():
    store, looks = MemoryStore(), []

    def between(operation, key):
        if operation == "replace" and key == "study.json":
            # The same study once more, looked at by another.
            looks.append(Look("x", 2 + len(looks)))
            body = as_json(replace(study(0), looks=tuple(looks))).encode()
            store.objects[key] = (body, f"etag-{len(looks)}", 0.0)
        return ""

    store.put("study.json", as_json(study(0)).encode())
    store.failing = between
    with pytest.raises(UserError, match="changed over and over by others"):
        share_study(store, study(0), study(0, 1))
    assert there(store).experiments == study(0).experiments
    assert len(looks) > 1
