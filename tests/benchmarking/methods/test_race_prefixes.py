"""RACE where jobs say how far they are: decided by beginnings, losers stopped early, nothing spent on what is out."""

import pytest

from backends.progress import ProgressLine
from backends.simulated.table import Run
from benchmarking.controller.method import MethodContext
from benchmarking.controller.method_arguments import read_arguments
from benchmarking.methods.race import Race
from tests.benchmarking.experiments import FakeJobs, MemoryJournal, definition, tuner
from tests.benchmarking.methods.method_experiments import kill_and_resume

PER_JOB = {"kind": "per_job", "argument": "fraction", "ladder": [0.01, 0.03, 0.1]}


class Jobs:
    """Jobs of 1000 steps of x seconds of the full data after 5 s of start-up; `jitter` makes every other step so much longer."""

    def __init__(self, jitter=0.0):
        self.jitter = jitter

    def run(self, configuration, level, repeat):
        steps = round(1000 * (1.0 if level is None else level))
        said, elapsed_s = [ProgressLine(0.0, float(steps), 5.0, 5.0)], 5.0
        for k in range(1, steps + 1):
            elapsed_s += configuration["x"] * (1 + self.jitter * (k % 2))
            said.append(ProgressLine(float(k), float(steps), elapsed_s, elapsed_s, number=k))
        return Run([(elapsed_s, {"loss": 1.0})], elapsed_s + 0.001, progress=said)


def run(xs, journal=None, table=None, fidelity=PER_JOB, objectives=None, **given):
    asked = definition(space={"x": {"choice": list(xs)}}, objectives=objectives or {"duration_s": "min"}, fidelity=fidelity)

    def make():
        arguments = read_arguments("RACE", Race.arguments, given)
        return Race(MethodContext(asked.search_space, (), asked.objectives, asked.fidelity, 0, arguments, region="us-east-1"))

    method = make()
    loop = tuner(asked, journal or MemoryJournal(), make_method=lambda: method, table=table or Jobs(), jobs=FakeJobs(max_run_s=9999))
    return method, loop


def ran(loop):
    return [(one.configuration["x"], one.level, one.spec.prefix_s is not None) for one in loop.state.trials.values()]


@pytest.mark.parametrize("fidelity", [PER_JOB, {"kind": "prefix"}, None])
def test_twice_the_work_is_plain_from_the_beginnings(fidelity):
    _, loop = run([0.2, 0.4, 0.8], fidelity=fidelity)
    ended = loop.run()
    assert "race decided: x=0.2" in ended.message
    prefixes = [x for x, _, is_prefix in ran(loop) if is_prefix]
    assert sorted(prefixes) == [0.2, 0.4, 0.8]
    full_s = sum(5 + 1000 * x for x in (0.2, 0.4, 0.8))
    assert sum(one.duration_s for one in loop.state.trials.values()) < 0.1 * full_s


def test_what_is_out_is_not_run_again_and_the_leaders_are():
    method, loop = run([0.2, 0.205, 0.9, 0.95])
    loop.run()
    counts = {x: [one[0] for one in ran(loop) if one[2]].count(x) for x in (0.2, 0.205, 0.9, 0.95)}
    assert counts[0.9] == counts[0.95] == 1
    assert max(counts[0.2], counts[0.205]) > 1
    assert method.status is not None


def test_a_longer_prefix_is_asked_for_with_half_the_width():
    _, loop = run([0.2, 0.205], full_runs=1e6)
    loop.run()
    first, second = (next(one for one in loop.state.trials.values() if one.spec.prefix_s and one.repeat == k) for k in (0, 1))
    assert second.spec.prefix_s == first.spec.prefix_s
    assert second.progress.points[-1].done > 1.5 * first.progress.points[-1].done


def test_a_loser_is_stopped_as_soon_as_its_interval_is_beyond_the_leaders():
    # Narrow enough it never is, so that each would run for a tenth of its time.
    fidelity = {**PER_JOB, "width": 0.001}
    _, loop = run([0.1, 5.0], table=Jobs(jitter=0.5), fidelity=fidelity)
    loop.run()
    slow = next(one for one in loop.state.trials.values() if one.configuration["x"] == 5.0 and one.spec.prefix_s)
    assert slow.duration_s < 0.02 * (5 + 1000 * 5.0 * 1.25)


def test_jobs_that_never_tell_their_total_are_raced_on_the_ladder_or_not_at_all():
    class Silent(Jobs):
        def run(self, configuration, level, repeat):
            found = super().run(configuration, level, repeat)
            return Run(found.reports, found.duration_s)

    _, loop = run([0.2, 0.8], table=Silent(), stretch_s=0)
    loop.run()
    assert not any(one[2] for one in ran(loop))
    _, loop = run([0.2, 0.8], table=Silent(), fidelity={"kind": "prefix", "prefix_s": 30.0})
    assert "no job told when it ends" in loop.run().message
    assert [one.duration_s for one in loop.state.trials.values()] == [30.0, 30.0]


def test_it_says_what_it_races_for():
    assert "races for time" in run([1])[0].about
    assert "races for cost" in run([1], objectives={"cost_usd": "min"})[0].about
    assert "Pareto set" in run([1], objectives={"cost_usd": "min", "duration_s": "min"})[0].about


def test_the_plan_holds_all_that_runs():
    method, loop = run([0.2, 0.205, 0.21])
    planned = len(method.plan())
    loop.run()
    assert len(loop.state.trials) <= planned


def test_killed_at_any_record_it_goes_on_as_if_it_had_not_been(tmp_path):
    kill_and_resume(lambda journal, folder: run([0.2, 0.205, 0.8], journal)[1], tmp_path, every=61)
