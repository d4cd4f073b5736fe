"""The laws of a configuration's phases: which there are, and how each grows."""

import dataclasses

import numpy as np
import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.phases import Part, cpu_laws, time_laws
from tests.benchmarking.forecasting.canary_tables import canaries


def phased(rest_s=0.0, **changes):
    """Canaries of 20 s of start-up, 1,000 s of fitting, 200 s of loading and 3 s of checkpoints, and what is between them."""
    return [
        dataclasses.replace(
            one,
            load_s=200 * one.fraction,
            checkpoint_s=3.0,
            total_s=one.total_s + 200 * one.fraction + 3 + rest_s * one.fraction,
            **changes,
        )
        for one in canaries(noise=0.001)
    ]


def median(part, x=1.0):
    return float(np.median(part.sample(x, 4001, np.random.default_rng(0))))


def test_each_timed_phase_has_a_law_of_its_own():
    laws = time_laws(phased(), 1.0)
    assert set(laws.parts) == {"startup", "load", "train", "checkpoint"}
    assert (laws.main, laws.timed, laws.steady, laws.loaded) == ("train", True, False, False)
    full = {name: median(part) for name, part in laws.parts.items()}
    assert full == pytest.approx({"startup": 20, "load": 200, "train": 1000, "checkpoint": 3}, rel=0.02)


def test_listing_and_download_are_phases_too_the_one_by_samples_the_other_by_bytes():
    runs = [
        dataclasses.replace(
            one, list_s=5 + 40 * one.fraction, download_s=2000 * one.fraction**2, total_s=one.total_s + 5 + 2040 * one.fraction,
            rows=1e6 * one.fraction, bytes=1e9 * one.fraction**2,
        )
        for one in phased()
    ]  # fmt: skip
    laws = time_laws(runs, 1.0)
    assert list(laws.parts)[-6:] == ["startup", "list", "download", "load", "train", "checkpoint"]
    # Affine: what a first request takes is not made larger with the data.
    assert median(laws.parts["list"]) == pytest.approx(45, rel=0.15)
    assert laws.parts["download"].growth.exponent()[0] == pytest.approx(1.0, abs=0.03)


def test_time_between_the_phases_is_a_part_from_one_percent_of_the_total_on():
    # Of 133 s in the middle run 0.03 x 30 are left over: 0.7 %; of 134 s three times as much.
    assert "rest" not in time_laws(phased(rest_s=15.0), 1.0).parts
    laws = time_laws(phased(rest_s=60.0), 1.0)
    assert laws.main == "train"
    assert median(laws.parts["rest"]) == pytest.approx(60, rel=0.05)


def test_loading_goes_by_bytes_and_the_rest_by_rows():
    runs = [dataclasses.replace(one, bytes=1e9 * one.fraction**2, rows=1e6 * one.fraction) for one in phased()]
    laws = time_laws([dataclasses.replace(one, load_s=2000 * one.fraction**2) for one in runs], 1.0)
    assert laws.parts["load"].growth.exponent()[0] == pytest.approx(1.0, abs=0.03)
    assert laws.parts["train"].growth.exponent()[0] == pytest.approx(1.0, abs=0.03)


def test_without_phase_timers_the_total_is_the_main_part():
    laws = time_laws(canaries(timed=False, noise=0.001), 1.0)
    assert (list(laws.parts), laws.main, laws.timed) == (["total"], "total", False)
    assert median(laws.parts["total"]) == pytest.approx(1020, rel=0.1)


def test_start_up_alone_is_taken_out_of_the_total():
    runs = [dataclasses.replace(one, train_s=None) for one in canaries(noise=0.001)]
    laws = time_laws(runs, 1.0)
    assert (set(laws.parts), laws.main) == ({"total", "startup"}, "total")
    assert median(laws.parts["total"]) == pytest.approx(1000, rel=0.05)


def test_a_run_that_lacks_what_most_have_is_left_out():
    runs = [*phased(), Canary("job", 0.1, 9, total_s=9000.0)]
    assert len(time_laws(runs, 1.0).growth.x) == 5
    # One that half of the runs lack is not asked of the others: four of five tell the total alone.
    few = [*(dataclasses.replace(one, startup_s=None, train_s=None) for one in canaries()[:4]), canaries()[4]]
    laws = time_laws(few, 1.0)
    assert (list(laws.parts), len(laws.growth.x)) == (["total"], 5)


def test_no_time_at_all_has_no_law():
    assert time_laws([Canary("job", 0.1, rss_bytes=1.0)], 1.0) is None
    assert cpu_laws(canaries(), 1.0) is None
    assert len(time_laws([Canary("job", 0.01, total_s=2.0), Canary("job", 0.1)], 1.0).growth.x) == 1


def test_what_takes_no_time_counts_as_a_constant():
    laws = time_laws([dataclasses.replace(one, checkpoint_s=0.00005) for one in phased()], 1.0)
    assert laws.parts["checkpoint"] == Part(None, 0.00005)
    assert laws.parts["checkpoint"].sample(1.0, 3, np.random.default_rng(0)).tolist() == [0.00005] * 3
    assert laws.parts["checkpoint"].noise_sd() == 0.0


def test_steps_that_go_with_the_data_are_linear_and_do_not_drift():
    by_steps = time_laws([dataclasses.replace(one, steps=round(1e5 * one.fraction)) for one in canaries(full_s=1.0)], 1.0)
    bare = time_laws(canaries(full_s=1.0), 1.0)
    assert (by_steps.steady, bare.steady) == (True, False)
    # A fit phase of 0.1 s at the largest canary drifts by 0.015 + 0.2 x 0.25 / 0.35.
    assert by_steps.growth.drift == 0.015
    assert bare.growth.drift == pytest.approx(0.015 + 0.2 * 0.25 / 0.35, rel=0.02)
    assert by_steps.growth.exponent()[1] < 0.7 * bare.growth.exponent()[1]


def test_processor_time_by_phase_and_in_total():
    runs = [
        dataclasses.replace(one, cpu_s=one.total_s * 2, about={"startup_cpu_s": one.startup_s * 2, "train_cpu_s": one.train_s * 2})
        for one in canaries(noise=0.001)
    ]
    laws = cpu_laws(runs, 1.0)
    assert (set(laws.parts), laws.timed, laws.steady) == ({"startup", "train"}, True, False)
    assert median(laws.parts["train"]) == pytest.approx(2000, rel=0.02)
    whole = cpu_laws([dataclasses.replace(one, about={}) for one in runs], 1.0)
    assert (list(whole.parts), whole.timed) == (["total"], False)
    assert median(whole.parts["total"]) == pytest.approx(2040, rel=0.1)


def test_a_part_under_load_is_processor_time_times_the_load():
    work, load = time_laws(canaries(noise=0.001), 1.0).parts["train"].growth, time_laws(canaries(noise=0.001), 1.0).parts["startup"].growth
    part = Part(work, load=load)
    assert median(part) == pytest.approx(1000 * 20, rel=0.02)
    assert part.noise_sd() == pytest.approx((work.noise_sd() ** 2 + load.noise_sd() ** 2) ** 0.5)


def test_another_main_part_leaves_the_rest():
    laws = time_laws(phased(), 1.0)
    changed = laws.with_main(Part(None, 7.0))
    assert changed.parts == {**laws.parts, "train": Part(None, 7.0)}
    assert changed.growth is None
