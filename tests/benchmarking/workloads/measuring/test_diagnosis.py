import math

import pytest

from benchmarking.workloads.measuring import diagnosis
from benchmarking.workloads.measuring.bound import Ceiling
from benchmarking.workloads.measuring.ceiling_file import CeilingFiles
from benchmarking.workloads.measuring.ceilings import MeasuredCeiling
from benchmarking.workloads.measuring.diagnosis import NEEDED, Trial, diagnosed
from benchmarking.workloads.measuring.draining import Drained


@pytest.fixture
def measured(monkeypatch):
    """What measuring gives, and what was measured how often."""
    gives = {
        "compute": MeasuredCeiling(1000.0, 0.01, 0.1),
        "memory": MeasuredCeiling(400.0, 0.01, 0.1, decode_s=0.004, decode_error=0.01),
        "handover": MeasuredCeiling(5000.0, 0.01, 0.1),
        "reader": MeasuredCeiling(3000.0, 0.01, 0.1, fetch_s=0.0003),
    }
    calls = []

    def loader_ceiling(loader, workers, prefetch):
        calls.append(loader)
        return gives[loader]

    monkeypatch.setattr(diagnosis, "loader_ceiling", loader_ceiling)
    monkeypatch.setattr(diagnosis, "model_ceiling", lambda train, batch, wait: (calls.append("compute"), gives["compute"])[1])
    monkeypatch.setattr(diagnosis, "some_samples", lambda dataset: ["sample"])
    monkeypatch.setattr(diagnosis, "from_memory", lambda samples, load, *, decoded: "handover" if decoded else "memory")
    return gives, calls


def trial(workers=2, **given):
    facts = dict.fromkeys(NEEDED, "") | {"cores": 4, "loader_workers": workers} | given.pop("facts", {})
    return Trial(facts, workers, 2, 1, 0.0, 1.0, [], len, print, None, lambda dataset: dataset, lambda load: "reader", **given)


def test_the_figures_that_a_bound_rests_on_are_reported(measured):
    found = diagnosed(trial(), CeilingFiles(None), 1.0, 10.0)
    assert found["bound_by"] == "decode"
    # Two workers decode 2 / 0.004 = 500 a second; the model takes 1,000.
    assert found["ceiling_decode"] == pytest.approx(500.0)
    assert (found["bound_headroom"], found["bound_next"]) == (pytest.approx(2.0), "compute")
    assert (found["ceiling_compute"], found["ceiling_memory"], found["ceiling_reader"]) == (1000.0, 400.0, 3000.0)
    assert found["ceiling_compute_error"] == 0.01
    assert all(math.isfinite(value) for value in found.values() if isinstance(value, float))


def test_what_trials_share_is_measured_once(measured, tmp_path):
    _, calls = measured
    diagnosed(trial(), CeilingFiles(tmp_path), 0.0, 1.0)
    diagnosed(trial(), CeilingFiles(tmp_path), 0.0, 1.0)
    assert sorted(calls) == ["compute", "handover", "memory", "reader"]
    # Another reader shares the model's ceiling and those from memory; another number of workers the model's alone.
    diagnosed(trial(facts={"reader": "s3_map"}), CeilingFiles(tmp_path), 0.0, 1.0)
    assert sorted(calls) == ["compute", "handover", "memory", "reader", "reader"]
    diagnosed(trial(workers=1), CeilingFiles(tmp_path), 0.0, 1.0)
    assert calls.count("compute") == 1
    assert calls.count("memory") == 2


def test_the_store_is_drained_where_it_can_be(measured):
    gives, _ = measured
    gives["reader"] = MeasuredCeiling(95.0, 0.01, 0.1)
    store = {1: Drained(50.0, 0.0, 0.01), 2: Drained(100.0, 0.0, 0.01), 8: Drained(400.0, 0.0, 0.01)}
    assert diagnosed(trial(drain=lambda: store), CeilingFiles(None), 0.0, 1.0)["bound_by"] == "store_latency"
    assert diagnosed(trial(), CeilingFiles(None), 0.0, 1.0)["bound_by"] == "client"


def test_without_workers_there_is_no_handing_over(measured):
    found = diagnosed(trial(workers=0), CeilingFiles(None), 0.0, 1.0)
    assert "ceiling_handover" not in found
    assert found["ceiling_decode"] == pytest.approx(250.0)


def test_a_ceiling_that_gave_too_little_decides_nothing(measured):
    gives, _ = measured
    gives["reader"] = None
    found = diagnosed(trial(), CeilingFiles(None), 0.0, 1.0)
    assert (found["bound_by"], found["bound_why"]) == ("not decided", "ceilings gave too little to tell: reader")
    assert found["ceiling_memory"] == 400.0


def test_what_fails_now_costs_nothing_that_was_measured(measured):
    def fails():
        raise OSError("connection refused")

    found = diagnosed(trial(drain=fails), CeilingFiles(None), 0.0, 1.0)
    assert found == {"bound_by": "not decided", "bound_why": "its ceilings could not be measured: OSError: connection refused"}


def test_what_to_change_is_advised_with_its_gain(measured):
    found = diagnosed(trial(), CeilingFiles(None), 0.0, 1.0)
    # Two workers fetch 3,000 and decode 500 a second by turns: 429; three 643, which the model (1,000) can take.
    assert found["loader_samples_per_s"] == found["predicted_samples_per_s"] == pytest.approx(1 / (1 / 3000 + 1 / 500))
    assert (found["advice_change"], found["advice_then"]) == ("loader_workers=3", "decode")
    assert found["advice_gain"] == pytest.approx(1.5)
    assert found["advice_gain_low"] < 1.5 < found["advice_gain_high"]


@pytest.mark.parametrize(("is_async", "change"), [(False, "checkpoint_async=true"), (True, None)])
def test_saves_are_advised_on_by_themselves(measured, is_async, change):
    """More workers would load faster what waits for saves anyway."""
    found = diagnosed(trial(facts={"checkpoint_async": is_async}), CeilingFiles(None), 0.0, 10.0, 8.0)
    assert (found["bound_by"], found["bound_headroom"]) == ("checkpoint", pytest.approx(5.0))
    assert found.get("advice_change") == change
    assert [one["change"] for one in found["advice_options"]] == ([] if is_async else [{"checkpoint_async": True}])
    assert found["advice"].startswith("saving binds: save more rarely" if is_async else "checkpoint_async=true: up to 5.00 times as fast")


def test_the_start_is_looked_at_first(measured):
    assert diagnosed(trial(), CeilingFiles(None), 8.0, 10.0)["bound_by"] == "start"
    assert Ceiling(1.0).high == pytest.approx(1.03)
