"""Which past configurations lie within a present space, and which of what was measured counts as a result of the full job."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarking.archive import past_results
from benchmarking.archive.past_results import within
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from tests.benchmarking.experiments import MemoryJournal, definition

PRESENT = {
    "space": {
        "lr": {"loguniform": [1e-4, 1.0]},
        "opt": {"choice": ["sgd", "adam"]},
        "momentum": {"uniform": [0.0, 1.0], "when": "opt == 'sgd'"},
        "depth": 2,
    },
    "valid": ["lr < 0.5"],
    "arguments": {"data": "a"},
}


@pytest.mark.parametrize(
    ("space", "arguments", "past", "expected"),
    [
        ({"lr": 1, "opt": 1}, {}, {"lr": 0.1, "opt": "adam"}, {"lr": 0.1, "opt": "adam", "depth": 2}),
        ({"lr": 1}, {"opt": "adam"}, {"lr": 0.1}, {"lr": 0.1, "opt": "adam", "depth": 2}),
        ({"lr": 1, "data": 1}, {"opt": "adam"}, {"lr": 0.1, "data": "a"}, {"lr": 0.1, "opt": "adam", "depth": 2}),
        ({"lr": 1, "opt": 1}, {}, {"lr": 0.1, "opt": "sgd"}, "they lack momentum"),
        ({"lr": 1, "opt": 1, "momentum": 1}, {}, {"lr": 0.1, "opt": "adam", "momentum": 0.9}, "momentum does not exist here beside their"),
        ({"lr": 1, "opt": 1}, {}, {"lr": 2.0, "opt": "adam"}, "lr lies outside of its domain"),
        ({"lr": 1, "opt": 1}, {}, {"lr": 0.7, "opt": "adam"}, "a rule of `valid` is against it"),
        ({"lr": 1, "opt": 1, "depth": 1}, {}, {"lr": 0.1, "opt": "adam", "depth": 3}, "depth lies outside of its domain"),
        ({"lr": 1, "data": 1}, {"opt": "adam"}, {"lr": 0.1, "data": "b"}, "data is 'a' here"),
    ],
)
def test_what_is_lacking_comes_from_fixed_arguments_or_single_values(space, arguments, past, expected):
    theirs = definition(space={key: {"choice": [past[key], "other"]} for key in space}, arguments=arguments)
    found, reason = within(definition(**PRESENT), theirs, past)
    if isinstance(expected, dict):
        assert (found, reason) == (expected, "")
    else:
        assert (found, reason[: len(expected)]) == ({}, expected)


def stored(theirs, trials):
    """Return an experiment as it was left.

    Args:
        theirs: its definition.
        trials: of each its level, status, and the metrics of its reports.
    """
    journal = MemoryJournal()
    for trial, (level, status, reports) in enumerate(trials):
        job = f"job-{trial}"
        suggested = {"evaluation": trial, "configuration": {"x": trial + 1}, "level": level, "repeat": 0, "block_of": 1}
        journal.append(1.0, "suggest", suggested)
        start = {"trial": trial, "evaluation": trial, "repeat": 0, "attempt": 1, "job": job, "restore_from": None, "worst_usd": None}
        journal.append(2.0, "start", start)
        for number, metrics in enumerate(reports):
            journal.append(3.0, "reported", {"job": job, "sequence": number, "metrics": metrics, "elapsed_s": 1.0})
        closed = {"outcome": "completed", "cause": None, "message": "", "started_at": 2.0, "ended_at": 4.0, "billable_s": 2.0}
        journal.append(4.0, "closed", {"job": job, **closed, "usage": {}, "log_tail": []})
        settled = {"status": status, "cause": None, "message": "", "counts": False, "retry_at": None, "cost_usd": 0.0}
        journal.append(5.0, "settle", {"job": job, "trial": trial, **settled})

    def state(given):
        found = ExperimentState(StateSetup({"loss": "min"}))
        for record in given.records():
            found.apply(record)
        return found

    return SimpleNamespace(
        spec=SimpleNamespace(definition=theirs), is_started=True, journal=lambda: contextlib.nullcontext(journal), state=state
    )


def progressive(full, name="epoch"):
    return {"kind": "progressive", "argument": "epochs", "reported_as": name, "full": full}


def losses(*values, name="epoch"):
    return [{name: number, "loss": value} for number, value in enumerate(values, 1)]


@pytest.mark.parametrize(
    ("ours", "theirs", "trial", "finals"),
    [
        # Of one length: what it came to at its end, and nothing of one that was stopped.
        (progressive(3), progressive(3), (None, "completed", losses(3.0, 2.0, 1.0)), [{"loss": 1.0}]),
        (progressive(3), progressive(3), (None, "stopped", losses(3.0, 2.0)), [None]),
        # A longer job passed our full level on its way, also where it was stopped later; what came later is not ours.
        (progressive(2), progressive(3), (None, "completed", losses(3.0, 2.0, 1.0)), [{"epoch": 2.0, "loss": 2.0}]),
        (progressive(2), progressive(4, "step"), (None, "stopped", losses(3.0, 2.0, 1.0, name="step")), [{"epoch": 2.0, "loss": 2.0}]),
        (progressive(2, "round"), progressive(3), (None, "completed", losses(3.0, 2.0, 1.0)), [{"round": 2.0, "loss": 2.0}]),
        (progressive(2), progressive(9), (None, "stopped", losses(3.0)), [None]),
        # A shorter one never came there, though it was completed.
        (progressive(4), progressive(3), (None, "completed", losses(3.0, 2.0, 1.0)), [None]),
        # Without levels there, the end is the end.
        (None, None, (None, "completed", [{"loss": 4.0}]), [{"loss": 4.0}]),
        # Canaries are no full jobs.
        (
            {"kind": "per_job", "argument": "share", "full": 1.0},
            {"kind": "per_job", "argument": "share", "full": 1.0},
            (0.1, "completed", [{"loss": 4.0}]),
            [],
        ),
        (
            {"kind": "per_job", "argument": "share", "full": 1.0},
            {"kind": "per_job", "argument": "share", "full": 0.5},
            (None, "completed", [{"loss": 4.0}]),
            [],
        ),
    ],
)
def test_what_is_a_result_of_the_full_job(monkeypatch, ours, theirs, trial, finals):
    space = {"x": {"choice": [1, 2]}}
    found = stored(definition(space=space, **({"fidelity": theirs} if theirs else {})), [trial])
    monkeypatch.setattr(past_results, "folders_of_tags", lambda spec, tags: [Path("there")])
    monkeypatch.setattr(past_results, "load", lambda folder: found)
    spec = SimpleNamespace(definition=definition(space=space, **({"fidelity": ours} if ours else {})))
    results, _ = past_results.past_results(spec, ["t"], levels=True)
    assert [one["final"] for one in results] == finals
    assert [one["configuration"] for one in results] == [{"x": 1}] * len(finals)
