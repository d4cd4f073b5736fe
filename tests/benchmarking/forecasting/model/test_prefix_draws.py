"""The full job's time from its beginning: known answers, what comes after the loop, loops that bend, and load."""

import numpy as np
import pytest

from benchmarking.forecasting.model.prefix_draws import bend_of, time_draws, unseen_draws
from tests.benchmarking.forecasting.prefix_runs import prefix, small


def drawn(prefixes, others=(), clock="wall"):
    return time_draws(prefixes, others, 4000, np.random.default_rng(1), clock)


def test_a_steady_job_takes_its_beginning_and_its_steps():
    values = drawn([prefix([0.1] * 60, 1000.0, cores=2.0)], [small(0.01, [0.1] * 10, after_s=0.001)])
    assert np.median(values) == pytest.approx(102.0, rel=0.02)
    low, high = np.quantile(values, (0.05, 0.95))
    assert 0.75 * 102 < low < 102 < high < 1.35 * 102
    assert np.median(drawn([prefix([0.1] * 60, 1000.0, cores=2.0)], clock="cpu")) == pytest.approx(204.0, rel=0.05)


def test_what_comes_after_the_loop_grows_by_its_own_law():
    # 0.2 s at 1 % and 0.6 s at 3 % of the data: evaluation of 20 s after a loop of 100 s.
    others = [small(0.01, [0.1] * 10, after_s=0.2), small(0.01, [0.1] * 10, after_s=0.21, repeat=1), small(0.03, [0.1] * 30, after_s=0.6)]
    values = drawn([prefix([0.1] * 60, 1000.0)], others)
    assert np.median(values) == pytest.approx(122.0, rel=0.05)
    # The same 0.2 s whatever the data: nothing to speak of.
    constant = [small(0.01, [0.1] * 10, after_s=0.2), small(0.01, [0.1] * 10, after_s=0.2, repeat=1), small(0.03, [0.1] * 30, after_s=0.2)]
    assert np.median(drawn([prefix([0.1] * 60, 1000.0)], constant)) == pytest.approx(102.2, rel=0.03)


def test_phases_that_the_beginning_had_not_come_to_are_added():
    others = [small(f, [0.1] * n, after_s=0.0, phases={"train": 1.0, "evaluate": 10 * f}) for f, n in ((0.01, 10), (0.03, 30))]
    parts = unseen_draws([prefix([0.1] * 60, 1000.0, phases={"train": 6.0})], others, 2000, np.random.default_rng(0), "wall")
    assert set(parts) == {"after", "evaluate"}
    assert np.median(parts["evaluate"]) == pytest.approx(10.0, rel=0.25)


def test_where_no_small_job_ran_a_few_percent_may_come_after_the_loop():
    alone, known = drawn([prefix([0.1] * 60, 1000.0)]), drawn([prefix([0.1] * 60, 1000.0)], [small(0.01, [0.1] * 10)])
    assert np.quantile(alone, 0.95) > 1.015 * np.quantile(known, 0.95)


def test_what_comes_after_the_loop_is_the_codes_and_no_difference_between_configurations():
    # One configuration alone has a small job, whose end may be all start-up or all growth: as open as that is, it is so for both.
    begun, other, probe = prefix([0.1] * 60, 1000.0), prefix([0.1] * 60, 1000.0, name="d"), [small(0.01, [0.1] * 10, after_s=0.4)]
    mine = time_draws([begun], probe, 4000, np.random.default_rng(1), "wall")
    lent = time_draws([other], [], 4000, np.random.default_rng(2), "wall", lent=probe)
    alone = time_draws([other], [], 4000, np.random.default_rng(2), "wall")
    assert np.quantile(lent, 0.95) == pytest.approx(np.quantile(mine, 0.95), rel=0.05)
    assert np.quantile(alone, 0.95) < 0.9 * np.quantile(lent, 0.95)
    assert float(np.std(np.log(mine / lent))) < 0.8 * float(np.std(np.log(mine / lent[::-1])))


def test_steps_that_double_half_way_in_small_jobs_do_so_in_the_full_one():
    others = [small(0.01, [0.02] * 30 + [0.04] * 30), small(0.01, [0.02] * 30 + [0.04] * 30, repeat=1)]
    values = drawn([prefix([0.1] * 60, 1000.0)], others)
    assert np.median(values) == pytest.approx(152.0, rel=0.06)
    mean, sd = bend_of(others)
    assert mean == pytest.approx(np.log(1.5), abs=0.03)
    assert sd < mean / 2
    assert bend_of([small(0.01, [0.02] * 60)]) is None


def test_a_job_that_was_over_before_its_prefix_took_what_it_took():
    values = drawn([prefix([0.5] * 8, 8.0)])
    assert np.median(values) == pytest.approx(6.0, rel=0.01)
    assert np.quantile(values, 0.95) < 1.12 * 6.0


def test_a_loaded_machine_widens_wall_time_much_more_than_that_of_the_processor():
    quiet, loaded = prefix([0.1] * 60, 1000.0), prefix([0.1] * 60, 1000.0, cores=0.5)
    width = {one: np.ptp(np.quantile(np.log(drawn([run], clock=one[1])), (0.1, 0.9))) for one, run in
             {("quiet", "wall"): quiet, ("loaded", "wall"): loaded, ("loaded", "cpu"): loaded}.items()}  # fmt: skip
    assert width["loaded", "wall"] > 1.5 * width["quiet", "wall"]
    assert width["quiet", "wall"] < width["loaded", "cpu"] < 1.4 * width["quiet", "wall"]


def test_beside_other_programs_the_rest_of_a_job_may_be_cheaper_than_its_beginning():
    quiet, busy = drawn([prefix([0.1] * 60, 1000.0)], clock="cpu"), drawn([prefix([1.0] * 60, 1000.0, cores=0.1)], clock="cpu")
    low_quiet, low_busy = (np.quantile(values, 0.05) / np.median(values) for values in (quiet, busy))
    assert low_quiet > 0.8
    # The nearest neighbours of 80,000 rows took 11.8 s after a beginning that said 16.7 s.
    assert low_busy < 0.72
    assert np.quantile(busy, 0.95) / np.median(busy) == pytest.approx(np.quantile(quiet, 0.95) / np.median(quiet), rel=0.1)


def test_what_ends_later_beside_other_programs_is_not_taken_for_growth():
    # The end of a process took 0.7, 0.8 and 1 s, the last at three times the data: it grows on a quiet machine, and may not on a busy one
    def after(load, clock):
        runs = [
            small(f, [0.1 * load] * n, cores=1 / load, after_s=after_s * load, repeat=k)
            for f, n, after_s, k in ((0.01, 10, 0.7, 0), (0.01, 10, 0.8, 1), (0.03, 30, 1.0, 0))
        ]
        found = unseen_draws([prefix([0.1] * 60, 1000.0)], runs, 4000, np.random.default_rng(0), clock)["after"]
        return float(np.median(found)) / (load if clock == "wall" else 1.0)

    assert after(1.0, "cpu") > 1.5 * after(8.0, "cpu")
    assert after(8.0, "cpu") == pytest.approx(2.0, abs=1.0)
    assert after(8.0, "wall") < after(1.0, "wall")


def test_nothing_is_drawn_of_a_clock_that_was_not_read():
    assert drawn([prefix([0.1] * 60, 1000.0, cores=0.0)], clock="cpu") is None
