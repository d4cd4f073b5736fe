"""Draws of each metric of the full job."""

import dataclasses

import numpy as np
import pytest

from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question, draw
from benchmarking.forecasting.model.fit import fit_all
from tests.benchmarking.forecasting.canary_tables import canaries

GIB = 1024**3


def drawn(runs, **billing):
    return draw(fit_all({"job": runs}, 1.0)["job"], Question(Billing("us-east-1", **billing)))


def median(values):
    return float(np.median(values))


def test_what_was_measured_is_drawn_and_nothing_else():
    assert set(drawn(canaries())) == {"total_s", "train_s"}
    assert set(drawn(canaries(timed=False))) == {"total_s"}
    full = drawn(canaries(instance_type="ml.m5.large", rss=lambda f: 1e9, gpu_bytes=3.0 * GIB, cpu_util=80.0, gpu_util=50.0, cpu_s=3.0))
    assert set(full) == {"total_s", "train_s", "cpu_s", "rss_bytes", "gpu_bytes", "cost_usd", "cpu_util", "gpu_util"}
    assert {len(values) for values in full.values()} == {3000}


def test_the_same_seed_gives_the_same_draws_whatever_else_is_forecast():
    item, other = canaries(), canaries("other")
    question = Question(Billing("us-east-1"), draws=50)
    first, again = (draw(fit_all({"job": item}, 1.0)["job"], question)["total_s"] for _ in range(2))
    assert first.tolist() == again.tolist()
    assert draw(fit_all({"job": item}, 1.0)["job"], dataclasses.replace(question, seed=1))["total_s"].tolist() != first.tolist()
    assert draw(fit_all({"other": other}, 1.0)["other"], question)["total_s"].tolist() != first.tolist()


def test_the_total_is_the_sum_of_the_phases():
    found = drawn(canaries(startup_s=500.0, noise=0.001))
    assert median(found["train_s"]) == pytest.approx(1000, rel=0.02)
    assert median(found["total_s"]) == pytest.approx(1500, rel=0.02)
    assert np.corrcoef(found["total_s"], found["train_s"])[0, 1] > 0.5


def test_cost_is_whole_seconds_at_the_price_of_all_instances():
    found = drawn(canaries(instance_type="ml.m5.large", instance_count=3))
    assert found["cost_usd"] == pytest.approx(np.ceil(found["total_s"]) / 3600 * 0.115 * 3)
    assert "billable_s" not in found
    assert "cost_usd" not in drawn(canaries(instance_type="ml.zz9.xlarge"))


def test_what_is_billed_has_a_row_of_its_own_where_it_differs():
    found = drawn(canaries(instance_type="ml.m5.large"), startup_s=90.0)
    assert found["billable_s"] == pytest.approx(np.ceil(found["total_s"] + 90))
    assert "billable_s" not in drawn(canaries(instance_type="local.1cpu"), startup_s=90.0)


def test_bills_of_the_canaries_tell_what_is_billed_beside_the_time():
    more = {0: 30.0, 1: 40.0, 2: 95.0, 3: 35.0, 4: 36.0}
    runs = [
        dataclasses.replace(one, about={"billable_s": one.total_s + more[n]}) for n, one in enumerate(canaries(instance_type="ml.m5.large"))
    ]
    found = drawn(runs)
    assert found["billable_s"] == pytest.approx(np.ceil(found["total_s"] + 36.0))  # the median
    less = [dataclasses.replace(one, about={"billable_s": one.total_s - 5}) for one in runs]
    assert drawn(less)["billable_s"] == pytest.approx(np.ceil(drawn(less)["total_s"]))


def test_a_fit_phase_too_short_to_show_its_growth_may_hide_a_square():
    short = drawn(canaries(full_s=2.0, startup_s=20.0))
    # Steps that go with the data are known to go on so.
    known = drawn([dataclasses.replace(one, steps=round(1e5 * one.fraction)) for one in canaries(full_s=2.0, startup_s=20.0)])
    # Four of ten have a hidden part, seven of ten of those grow by the square: 0.2 s at 10 % are up to 20 s in full.
    assert np.quantile(short["train_s"], 0.99) > 4 * np.quantile(known["train_s"], 0.99)
    assert (short["train_s"] > 4).mean() == pytest.approx(0.4 * 0.7 * np.log10(20 / 4) / 2, abs=0.03)


def test_processor_time_too_short_hides_growth_likewise():
    runs = [
        dataclasses.replace(one, cpu_s=one.total_s, about={"startup_cpu_s": one.startup_s, "train_cpu_s": one.train_s})
        for one in canaries(full_s=2.0, startup_s=20.0)
    ]
    cpu_s = drawn(runs)["cpu_s"]
    assert np.quantile(cpu_s, 0.99) > 1.3 * np.quantile(cpu_s, 0.5)
    # Who tells a family may be wrong.
    told = drawn([dataclasses.replace(one, family="epochs") for one in runs])["cpu_s"]
    assert np.quantile(told, 0.99) > 1.3 * np.quantile(told, 0.5)


def test_load_slows_all_phases_of_a_run_together():
    runs = [
        dataclasses.replace(
            one,
            startup_s=one.startup_s * k,
            train_s=one.train_s * k,
            total_s=one.total_s * k,
            cpu_s=one.total_s,
            about={"startup_cpu_s": one.startup_s, "train_cpu_s": one.train_s},
        )
        for one, k in zip(canaries(ladder={0.01: 2, 0.1: 2}, noise=0.001, startup_s=500.0), (1.0, 1.5, 1.5, 1.0), strict=True)
    ]
    item = fit_all({"job": runs}, 1.0)["job"]
    assert item.time.loaded
    found = draw(item, Question(Billing("us-east-1")))
    # Start-up is what is not fitting: its draws come in the order of those of the fit phase.
    startup = found["total_s"] - found["train_s"]
    assert np.corrcoef(np.argsort(np.argsort(startup)), np.argsort(np.argsort(found["train_s"])))[0, 1] > 0.99


def test_utilisation_leaves_start_up_out_by_its_share_of_the_full_job():
    found = drawn(canaries(startup_s=1000.0, cpu_util=80.0, noise=0.001))
    assert 0 < median(found["cpu_util"]) < 100
    assert drawn(canaries(cpu_util=None)).keys().isdisjoint({"cpu_util"})


def test_gpu_memory_comes_in_blocks():
    found = drawn(canaries(gpu_bytes=3.3 * GIB))["gpu_bytes"]
    assert set((found % (2 * 1024**2)).tolist()) == {0.0}
