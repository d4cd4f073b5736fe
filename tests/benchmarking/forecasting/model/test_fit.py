"""All configurations of one code together: what they learn of each other, and what one clock teaches the other."""

import dataclasses

import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.fit import fit_all
from tests.benchmarking.forecasting.canary_tables import canaries


def exponent(item, kind="time"):
    return getattr(item, kind).growth.exponent()


def test_what_was_measured_is_sorted_by_how_it_ended():
    runs = canaries(instance_type="ml.m5.large", instance_count=2, rss=lambda f: 1e9)
    dead = Canary("job", 0.3, status="out_of_memory", instance_type="ml.m5.large")
    item = fit_all({"job": [*runs, dead, Canary("job", 0.1, 7, status="failed")]}, 1.0)["job"]
    assert (item.name, item.instance_type, item.instance_count) == ("job", "ml.m5.large", 2)
    assert (len(item.canaries), item.used, item.out_of_memory) == (7, tuple(runs), (0.3,))
    assert (item.cpu, item.gpu) == (None, None)
    assert item.rss is not None


def test_a_configuration_without_a_completed_run_has_no_laws():
    item = fit_all({"job": [Canary("job", 0.1, total_s=3.0, status="failed")]}, 1.0)["job"]
    assert (item.time, item.cpu, item.rss, item.gpu, item.used) == (None, None, None, None, ())


def test_configurations_of_one_code_share_their_exponent_and_those_of_another_do_not():
    few = {0.01: 1, 0.03: 1}
    others = {f"c{k}": canaries(f"c{k}", exponent=1.15, noise=0.01) for k in range(6)}
    alone = fit_all({"job": canaries(ladder=few, exponent=1.15, noise=0.01)}, 1.0)["job"]
    together = fit_all({"job": canaries(ladder=few, exponent=1.15, noise=0.01), **others}, 1.0)["job"]
    assert abs(exponent(together)[0] - 1.15) < abs(exponent(alone)[0] - 1.15)
    assert exponent(together)[1] < 0.7 * exponent(alone)[1]
    of_another = {name: [dataclasses.replace(one, family="iterative") for one in group] for name, group in others.items()}
    apart = fit_all({"job": canaries(ladder=few, exponent=1.15, noise=0.01), **of_another}, 1.0)["job"]
    assert exponent(together)[1] < 0.5 * exponent(apart)[1]  # of which only the noise was learnt


def test_noise_is_learnt_from_the_repeats_of_others():
    def job(other_noise):
        groups = {"job": canaries(ladder={0.01: 1, 0.1: 1}, noise=0.0), "other": canaries("other", {0.01: 6, 0.1: 6}, noise=other_noise)}
        return fit_all(groups, 1.0)["job"].time.growth.noise_sd()

    assert job(0.3) > 3 * job(0.01)


def clocks(wall_noise, cpu_noise, *, timed_cpu=True, factor=1.0):
    """Canaries whose wall time and processor time scatter apart; `factor` of wall over processor time."""
    wall, cpu = canaries(noise=wall_noise, exponent=1.1, startup_s=5.0), canaries(noise=cpu_noise, seed=9, exponent=1.1, startup_s=5.0)
    return [
        dataclasses.replace(
            one,
            train_s=one.train_s * factor,
            total_s=one.startup_s + one.train_s * factor,
            cpu_s=other.total_s,
            about={"startup_cpu_s": other.startup_s, "train_cpu_s": other.train_s} if timed_cpu else {},
        )
        for one, other in zip(wall, cpu, strict=True)
    ]


def test_a_timed_wall_clock_teaches_processor_time_that_is_known_in_total_only():
    runs = clocks(0.01, 0.01, timed_cpu=False)
    item = fit_all({"job": runs}, 1.0)["job"]
    without = fit_all({"job": [dataclasses.replace(one, startup_s=None, train_s=None) for one in runs]}, 1.0)["job"]
    assert exponent(item, "cpu")[1] < exponent(without, "cpu")[1]


def test_a_quiet_processor_clock_teaches_a_noisy_wall_clock():
    runs = clocks(0.3, 0.005, factor=3.0)  # three times the processor time: waiting, not load
    item = fit_all({"job": runs}, 1.0)["job"]
    bare = fit_all({"job": [dataclasses.replace(one, cpu_s=None, about={}) for one in runs]}, 1.0)["job"]
    assert not item.time.loaded
    # Processor time says 1.1; the wall clock alone would say 0.98.
    assert exponent(bare)[0] + 0.01 < exponent(item)[0] < exponent(item, "cpu")[0] == pytest.approx(1.1, abs=0.01)
    untimed = fit_all({"job": clocks(0.3, 0.005, timed_cpu=False, factor=3.0)}, 1.0)["job"]
    assert exponent(untimed) == exponent(bare)


def test_a_shared_machine_is_forecast_as_processor_time_and_load():
    factors = (1.0, 1.5, 1.5, 1.0)
    runs = [
        Canary(
            "job", f, n, startup_s=10 * k, train_s=100 * f * k, total_s=(10 + 100 * f) * k, cpu_s=10 + 100 * f,
            about={"startup_cpu_s": 10.0, "train_cpu_s": 100 * f},
        )
        for n, (f, k) in enumerate(zip((0.01, 0.01, 0.1, 0.1), factors, strict=True))
    ]  # fmt: skip
    assert fit_all({"job": runs}, 1.0)["job"].time.loaded
