"""Wall time as processor time and load, on a machine shared with others."""

import math

import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.machine_load import under_load
from benchmarking.forecasting.model.phases import cpu_laws, time_laws


def runs(*factors, fractions=(0.01, 0.01, 0.1, 0.1)):
    """Canaries that take 10 s of start-up and 100 s of fitting in full by the processor, and so many times that by the clock."""
    return [
        Canary("job", f, n, startup_s=10 * k, train_s=100 * f * k, total_s=(10 + 100 * f) * k, cpu_s=10 + 100 * f,
               about={"startup_cpu_s": 10.0, "train_cpu_s": 100 * f})
        for n, (f, k) in enumerate(zip(fractions, factors, strict=True))
    ]  # fmt: skip


def laws_of(canaries, least=0.08):
    wall, cpu = time_laws(canaries, 1.0), cpu_laws(canaries, 1.0)
    return under_load(canaries, wall, cpu, least)


def test_a_machine_whose_load_comes_and_goes_is_shared():
    found = laws_of(runs(1.0, 1.5, 1.5, 1.0))
    assert found.loaded
    # The load is what wall time is over processor time, a geometric mean of 1 and 1.5.
    load = found.parts["train"].load
    assert load.centre == pytest.approx(0.5 * math.log(1.5))


def test_a_ratio_that_changes_with_the_size_is_the_work_and_no_load():
    assert not laws_of(runs(1.0, 1.02, 1.6, 1.63)).loaded
    assert not laws_of(runs(1.6, 1.63, 1.0, 1.02)).loaded


@pytest.mark.parametrize("factors", [(0.8, 1.2, 1.2, 0.8), (2.5, 1.6, 2.5, 1.6), (1.0, 1.03, 1.02, 1.0)])
def test_several_threads_waiting_and_quiet_machines_are_no_load(factors):
    assert not laws_of(runs(*factors)).loaded
