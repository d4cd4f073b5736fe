"""The bill of a launched run: controllers of all generations and trials, apart and in total."""

from __future__ import annotations

import pytest

from backends.sagemaker.controllers.bill import GenerationCost
from backends.sagemaker.controllers.request import controller_name
from benchmarking.archive.controllers import PastGeneration
from benchmarking.remote.launch_record import LaunchRecord, SentPackage, as_json
from benchmarking.remote.layout import LAUNCH, tag_of
from benchmarking.remote.standing import SeenController, SeenExperiment, SeenRun
from launch.remote import run_bill
from launch.remote.run_bill import RunBill, bill_document, bill_of, bill_text, past_generations
from tests.backends.memory_store import MemoryStore

BILLED, RUNNING, UNKNOWN = GenerationCost("g1", 3600.0, 0.5, is_billed=True), GenerationCost("g2", 1800.0, 0.25), GenerationCost("g3")


def test_controllers_and_trials_are_named_apart_and_together_and_what_is_elapsed_is_marked():
    bill = RunBill((BILLED, RUNNING), 2.0, ("emulated",), emulated=True)
    assert bill_text(bill) == (
        "spent so far: controllers $0.75 (2 generations; $0.25 of it by elapsed time, not billed yet), trials $2.00, "
        "together $2.75 emulated"
    )
    assert bill_text(RunBill((BILLED,), 2.0, ("real",))) == "spent so far: controllers $0.50 (1 generation), trials $2.00, together $2.50"


def test_what_is_not_known_makes_the_total_a_bound():
    bill = RunBill((BILLED, UNKNOWN), 2.0)
    assert "what 1 of them cost is not known" in bill_text(bill)
    assert bill_text(bill).endswith("together at least $2.50")


@pytest.mark.parametrize("label", ["nominal", "simulated"])
def test_trials_inside_controllers_are_not_added(label):
    bill = RunBill((BILLED,), 2.0, (label,))
    assert bill.total_usd == 0.5
    assert bill_text(bill).endswith(f"trials $2.00 {label}, inside the controllers and not added, together $0.50")
    assert bill_document(bill)["trials_inside_controllers"]


def test_all_generations_of_all_controllers_are_asked_for(monkeypatch):
    store = MemoryStore()
    asked = []
    monkeypatch.setattr(run_bill, "costs_of", lambda clients, names: asked.extend(names) or [BILLED])
    controllers = (SeenController(1, 3, "running", is_alive=True), SeenController(2, 1, "ended", is_alive=False))
    said = [{"spent_usd": 0.5, "dollars": "emulated"}, {"spent_usd": 1.5, "dollars": "emulated"}, {}]
    run = SeenRun(controllers, tuple(SeenExperiment(f"toy/RS-sagemaker-{at}", "running", one) for at, one in enumerate(said)))
    clients = type("Emulated", (), {"emulated": True})()
    assert bill_of(store, run, clients) is None  # of a run that nobody launched nobody knows the names
    store.put(LAUNCH, as_json(LaunchRecord("t", "n0", "", "0.1", SentPackage("k", "h"))).encode())
    assert bill_of(store, run, clients) == RunBill((BILLED,), 2.0, ("emulated",), emulated=True)
    tag = tag_of(store.uri)
    assert asked == [controller_name(tag, "n0", *which) for which in ((1, 1), (1, 2), (1, 3), (2, 1))]
    assert bill_of(store, SeenRun((), run.experiments), clients) is None


def test_each_generation_is_told_with_its_times_and_cost_and_one_that_never_was_is_not():
    record = LaunchRecord("t", "n0", "", "0.1", SentPackage("k", "h"))
    one, two = (controller_name("t", "n0", 1, generation) for generation in (1, 2))
    bill = RunBill((GenerationCost(one, 60.0, 0.5, True, 100.0, 160.0), GenerationCost(two, 9.0, 0.25, began_at=170.0)), 2.0, emulated=True)
    run = SeenRun((SeenController(1, 3, "running", is_alive=True),), ())
    assert past_generations(record, run, bill) == [
        PastGeneration(1, 1, one, 100.0, 160.0, 0.5, is_billed=True, is_emulated=True),
        PastGeneration(1, 2, two, 170.0, None, 0.25, is_billed=False, is_emulated=True),
    ]
