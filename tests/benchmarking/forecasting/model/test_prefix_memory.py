"""Peak memory from the beginning of the job: its own peak, what the loop still adds, and what comes after the loop."""

import numpy as np
import pytest

from benchmarking.forecasting.model.memory import peak_line
from benchmarking.forecasting.model.prefix_memory import peak_draws
from tests.benchmarking.forecasting.prefix_runs import prefix, small

GIB = 2.0**30


def drawn(begun, others=()):
    return peak_draws([begun], others, peak_line(others, 1.0) if others else None, 4000, np.random.default_rng(2))


def test_the_prefixs_own_peak_is_the_full_jobs():
    values = drawn(prefix([0.1] * 60, 1000.0, rss_bytes=GIB, peaks=lambda done: GIB))
    assert np.median(values) == pytest.approx(GIB, rel=0.01)
    assert np.quantile(values, 0.95) < 1.1 * GIB


def test_a_loop_that_gathers_memory_goes_on_with_it():
    values = drawn(prefix([0.1] * 100, 1000.0, rss_bytes=GIB, peaks=lambda done: GIB * (0.9 + done / 1000)))
    assert np.median(values) == pytest.approx(1.9 * GIB, rel=0.05)


def test_a_peak_after_the_loop_is_that_of_small_jobs_carried_on():
    begun = prefix([0.1] * 60, 1000.0, rss_bytes=GIB, peaks=lambda done: GIB)
    later = [small(f, [0.1] * 10, rss_bytes=0.2 * GIB + 3 * GIB * f, peaks=lambda done: 0.2 * GIB) for f in (0.01, 0.03)]
    values = drawn(begun, later)
    assert np.median(values) > 2.0 * GIB
    within = [
        small(f, [0.1] * 10, rss_bytes=0.2 * GIB + 3 * GIB * f, peaks=lambda done, f=f: 0.2 * GIB + 3 * GIB * f) for f in (0.01, 0.03)
    ]
    assert np.median(drawn(begun, within)) == pytest.approx(GIB, rel=0.01)


def test_a_phase_that_the_prefix_had_not_come_to_has_the_peak_of_small_jobs_carried_on():
    # Evaluation at an epoch's end: within the loop of small jobs, and later than the prefix.
    begun = prefix([0.1] * 60, 1000.0, rss_bytes=0.35 * GIB, peaks=lambda done: 0.35 * GIB, phases={"train": 1.0})

    def runs(phases):
        return [
            small(f, [0.1] * 10, rss_bytes=0.3 * GIB + 0.4 * GIB * f, peaks=lambda done, f=f: (0.3 + 0.4 * f) * GIB, phases=phases)
            for f in (0.01, 0.03)
        ]

    assert np.median(drawn(begun, runs({"train": 1.0}))) == pytest.approx(0.35 * GIB, rel=0.01)
    unseen = drawn(begun, runs({"train": 1.0, "evaluate": 0.1}))
    assert np.median(unseen) == pytest.approx(0.7 * GIB, rel=0.05)
    assert np.quantile(unseen, 0.95) > GIB


def test_other_processes_of_the_job_are_no_peak_after_its_loop():
    begun = prefix([0.1] * 60, 1000.0, rss_bytes=2 * GIB, peaks=lambda done: GIB)
    workers = [small(f, [0.1] * 10, rss_bytes=0.4 * GIB, peaks=lambda done: 0.2 * GIB) for f in (0.01, 0.03)]
    assert np.median(drawn(begun, workers)) == pytest.approx(2 * GIB, rel=0.01)


def test_nothing_is_said_of_memory_that_nobody_measured():
    assert peak_draws([prefix([0.1] * 60, 1000.0)], [], None, 10, np.random.default_rng(0)) is None
