"""What a controller says of an experiment is what `outrider status` says of it here, and what is to come."""

from __future__ import annotations

from dataclasses import asdict

from benchmarking.archive.stored import load, state_setup
from benchmarking.controller.state import ExperimentState
from benchmarking.live_status import live_status
from benchmarking.status import StatusReader
from definitions import strict_json
from tests.benchmarking.archive.stored_folders import copied


def test_it_says_what_status_says(tmp_path):
    for name in ("canary", "repeated"):
        folder = copied(tmp_path, name)
        stored = load(folder)
        with stored.journal() as journal:
            state = stored.state(journal)
        is_run = state.ended is None
        (there,) = StatusReader(lambda: lambda folder: is_run, lambda: 1e9).look([folder.parent.parent])  # noqa: B023 (used at once)
        found = live_status(lambda: 1e9)(stored.spec, state)
        assert strict_json.loads(strict_json.dumps(found)) == found
        assert {key: found[key] for key in asdict(there)} == {**asdict(there), "standing": str(there.standing)}
        assert found["in_flight"] == len(state.jobs)
        assert is_run == bool(state.jobs)
        assert found["ended"] == (None if is_run else state.ended["reason"])


def test_of_one_that_runs_it_says_what_is_in_flight_and_what_comes_next(tmp_path):
    folder = copied(tmp_path, "repeated")
    stored = load(folder)
    say = live_status(lambda: 1e9)
    with stored.journal() as journal:
        records = [*journal.records()]
    state = ExperimentState(state_setup(stored.spec))
    seen = set()
    for record in records:
        state.apply(record)
        found = say(stored.spec, state)
        assert found["in_flight"] == len(state.jobs)
        assert sum(found["trials"].values()) == len(state.trials)
        assert found["next"]["queued"] == len(state.queue)
        seen.add((found["standing"], found["in_flight"] > 0, found["next"]["queued"] > 0))
    assert {("running", True, True), ("running", True, False)} <= seen
