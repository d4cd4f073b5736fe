"""Wall time as processor time and load, on a machine shared with others."""

import math

import pytest

from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.machine_load import alone, delayed_share, under_load
from benchmarking.forecasting.model.phases import cpu_laws, time_laws
from benchmarking.forecasting.model.result import Status


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


def shared(fraction, load, full_s=40.0, repeat=0):
    """Return a run of a job of so many seconds, beside other programs that made it so many times longer."""
    wall = {"total_s": 1.0 + full_s * fraction, "startup_s": 1.0, "train_s": full_s * fraction}
    timed = {name: seconds * load for name, seconds in wall.items()}
    return Canary("c", fraction, repeat, **timed, about={"delayed_s": wall["total_s"] * (load - 1)})


def test_what_other_programs_had_is_no_part_of_a_job_that_tells_of_it():
    assert delayed_share(shared(0.1, 5.0)) == pytest.approx(0.8)
    assert delayed_share(Canary("c", 0.1, total_s=5.0)) is None
    one = alone(shared(0.1, 5.0))
    assert (one.total_s, one.startup_s, one.train_s) == pytest.approx((5.0, 1.0, 4.0))


def test_a_ladder_beside_other_programs_forecasts_the_time_without_them():
    # The load falls from one run to the next, so that wall time falls as the data grows.
    runs = (shared(0.01, 20.0), shared(0.01, 12.0, repeat=1), shared(0.05, 9.0), shared(0.15, 2.0), shared(0.15, 3.0, repeat=1))
    found = {one.metric: one for one in forecast(CanaryTable(runs), Question(Billing("us-east-1")))}
    assert found["quiet_s"].median == pytest.approx(41.0, rel=0.15)
    assert found["quiet_s"].status is not Status.NOT_DECIDED
    assert found["total_s"].status is Status.NOT_DECIDED


def test_a_machine_of_its_own_and_runs_that_do_not_tell_have_no_such_forecast():
    for runs in ((shared(0.01, 1.0), shared(0.1, 1.0)), (shared(0.01, 5.0), Canary("c", 0.1, total_s=5.0))):
        assert "quiet_s" not in {one.metric for one in forecast(CanaryTable(runs), Question(Billing("us-east-1")))}
