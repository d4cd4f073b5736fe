"""CANARY where jobs say how far they are: prefixes first, small jobs for what they leave open, the same again from a journal."""

from dataclasses import replace

import pytest

from backends.progress import ProgressLine
from backends.simulated.table import Run
from benchmarking.controller.method import MethodContext
from benchmarking.controller.method_arguments import read_arguments
from benchmarking.forecasting.data.canary import by_configuration
from benchmarking.forecasting.data.experiment import canaries_of
from benchmarking.forecasting.explain import explanations
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.report import forecasts_of, report
from benchmarking.methods.canary import CanaryLadder
from tests.benchmarking.experiments import FakeJobs, MemoryJournal, definition, tuner
from tests.benchmarking.methods.method_experiments import kill_and_resume

STEPS = 1000
PER_JOB = {"kind": "per_job", "argument": "fraction", "ladder": [0.01, 0.03, 0.1]}
PREFIX = {"kind": "prefix"}


class Jobs:
    """Jobs of 1000 steps of 0.2 (1 + x) s of the full data after 5 s of start-up; steps go with the data, and so does what comes after.

    Args:
        after_s: seconds after the loop of the full job.
        total: whether they know how many steps there will be.
    """

    def __init__(self, after_s=0.0, total=True):
        self.after_s, self.total = after_s, total

    def run(self, configuration, level, repeat):
        share = 1.0 if level is None else min(level, 1.0)
        steps, each = round(STEPS * share), 0.2 * (1 + configuration["x"])
        said = [
            ProgressLine(float(k), float(steps) if self.total else None, 5.0 + each * k, 5.0 + each * k, number=k) for k in range(steps + 1)
        ]
        duration_s = 5.0 + each * steps + self.after_s * share + 0.001
        return Run([(duration_s, {"loss": 1.0})], duration_s, progress=said)


def run(table, fidelity, journal=None, **given):
    asked = definition(space={"x": {"choice": [0, 1, 4]}}, objectives={"duration_s": "min"}, fidelity=fidelity)

    def make():
        arguments = read_arguments("CANARY", CanaryLadder.arguments, given)
        return CanaryLadder(MethodContext(asked.search_space, (), asked.objectives, asked.fidelity, 0, arguments, region="us-east-1"))

    loop = tuner(asked, journal or MemoryJournal(), make_method=make, table=table, jobs=FakeJobs(max_run_s=9999), stop_delay_s=0.5)
    return asked, loop


def ran(loop):
    return [(one.configuration["x"], one.level, one.spec.prefix_s is not None) for one in loop.state.trials.values()]


def totals(asked, loop):
    found = forecasts_of(asked, loop.state, Question(Billing("us-east-1")))
    return {one.configuration: one for one in found if one.metric == "total_s"}


def test_a_first_small_job_that_says_how_far_it_is_leads_to_prefixes():
    asked, loop = run(Jobs(), PER_JOB)
    assert loop.run().exit_code == 0
    # Nothing comes after the loop, as the small job showed: no more of them.
    assert ran(loop) == [(0, 0.01, False), (0, 1.0, True), (1, 1.0, True), (4, 1.0, True)]
    found = totals(asked, loop)
    for x in (0, 1, 4):
        true_s = 5.0 + 200.0 * (1 + x)
        one = found[f"x={x}"]
        assert str(one.status) == "ok"
        assert one.median == pytest.approx(true_s, rel=0.03)
        assert one.lo90 <= true_s <= one.hi90
    spent = [one.duration_s for one in loop.state.trials.values()]
    assert sum(spent) < 0.15 * sum(205.0 + 200 * x for x in (0, 1, 4))
    assert [one.status for one in canaries_of(asked, loop.state).canaries] == ["completed", "prefix", "prefix", "prefix"]


def test_what_comes_after_the_loop_is_found_by_small_jobs():
    asked, loop = run(Jobs(after_s=60.0), PER_JOB)
    loop.run()
    assert ran(loop)[:4] == [(0, 0.01, False), (0, 1.0, True), (1, 1.0, True), (4, 1.0, True)]
    assert (0, 0.03, False) in ran(loop)
    first = totals(asked, loop)["x=0"]
    assert first.median == pytest.approx(265.0, rel=0.1)
    assert first.lo90 <= 265.0 <= first.hi90


def test_a_definition_that_says_so_needs_no_small_job_and_one_without_levels_has_none():
    for fidelity in (PREFIX, None, {"kind": "progressive", "reported_as": "epoch", "full": 3}):
        asked, loop = run(Jobs(), fidelity)
        loop.run()
        assert [one[2] for one in ran(loop)] == [True] * 3, fidelity
        one = totals(asked, loop)["x=1"]
        assert "what comes after the loop was not seen" in one.why
        assert one.lo90 <= 405.0 <= one.hi90


class Epochs:
    """Jobs of forty epochs of 10 steps of 0.2 s after 5 s of start-up, which count steps and report epochs, and know no total."""

    def run(self, configuration, level, repeat):
        each = 0.2 * (1 + configuration["x"])
        said = [ProgressLine(float(k), None, 5.0 + each * k, 5.0 + each * k, number=k, by_step=True) for k in range(401)]
        reports = [(5.0 + each * 10 * epoch, {"epoch": epoch, "loss": 1 / epoch}) for epoch in range(1, 41)]
        return Run(reports, 5.001 + each * 400, progress=said)


def test_steps_and_epochs_are_progress_too():
    fidelity = {"kind": "progressive", "reported_as": "epoch", "full": 40}
    asked, loop = run(Epochs(), fidelity)
    # As an experiment sets it up, whose method hears no levels.
    loop.state.setup = replace(loop.state.setup, level_name=None, reported_level="epoch", full_level=40)
    loop.run()
    assert [one.status for one in canaries_of(asked, loop.state).canaries] == ["prefix"] * 3
    # Scripts take a whole number of epochs.
    assert {repr(one.level) for one in loop.state.trials.values()} == {"40"}
    found = totals(asked, loop)
    for x in (0, 1, 4):
        assert found[f"x={x}"].median == pytest.approx(5.0 + 80.0 * (1 + x), rel=0.06)
        assert loop.state.trials[(0, 1, 4).index(x)].duration_s < 0.25 * (5.0 + 80.0 * (1 + x))


def test_with_an_argument_a_prefix_that_leaves_something_open_gets_small_jobs():
    asked, loop = run(Jobs(after_s=60.0), {"kind": "prefix", "argument": "fraction"})
    loop.run()
    assert ran(loop)[:4] == [(0, 1.0, True), (1, 1.0, True), (4, 1.0, True), (0, 0.01, False)]
    one = totals(asked, loop)["x=4"]
    assert one.lo90 <= 1065.0 <= one.hi90


def test_jobs_that_do_not_know_their_total_keep_the_ladder():
    asked, loop = run(Jobs(total=False), PER_JOB, stretch_s=0)
    loop.run()
    assert [one[1] for one in ran(loop)] == [0.01] * 6 + [0.03] * 3 + [0.1] * 3
    assert not any(one[2] for one in ran(loop))
    # Where the definition says that they do, the prefix is stopped as soon as it is seen, and the ladder follows.
    asked, loop = run(Jobs(total=False), {"kind": "prefix", "argument": "fraction"})
    loop.run()
    assert [one[2] for one in ran(loop)][:3] == [True] * 3
    assert all(one.duration_s < 12 for one in loop.state.trials.values() if one.spec.prefix_s)
    assert (0, 0.03, False) in ran(loop)
    _, loop = run(Jobs(total=False), PREFIX)
    loop.run()
    assert "its beginning told nothing" in totals(asked, loop)["x=0"].why


def test_prefixes_can_be_asked_for_and_forbidden():
    _, loop = run(Jobs(), PER_JOB, prefix=True)
    loop.run()
    assert ran(loop)[0] == (0, 1.0, True)
    _, loop = run(Jobs(), PER_JOB, prefix=False, stretch_s=0)
    loop.run()
    assert not any(one[2] for one in ran(loop))


def test_the_plan_holds_all_that_runs():
    for fidelity in (PER_JOB, PREFIX, {"kind": "prefix", "argument": "fraction"}):
        asked, loop = run(Jobs(after_s=60.0), fidelity)
        loop.run()
        arguments = read_arguments("CANARY", CanaryLadder.arguments, {})
        method = CanaryLadder(MethodContext(asked.search_space, (), asked.objectives, asked.fidelity, 0, arguments, region="us-east-1"))
        assert len(loop.state.trials) <= len(method.plan())


def test_the_report_has_a_row_for_a_prefix():
    asked, loop = run(Jobs(), PREFIX)
    loop.run()
    assert "prefix" in report(asked, loop.state, Question(Billing("us-east-1")))


def test_killed_at_any_record_it_goes_on_as_if_it_had_not_been(tmp_path):
    kill_and_resume(lambda journal, folder: run(Jobs(after_s=60.0), PER_JOB, journal)[1], tmp_path, every=53)


class Delayed(Jobs):
    """The same on a busy machine whose system tells that others had the processor for two thirds of the time."""

    def run(self, configuration, level, repeat):
        found = super().run(configuration, level, repeat)
        said = [replace(one, elapsed_s=3 * one.elapsed_s, delayed_s=2 * one.elapsed_s) for one in found.progress]
        return Run([(3 * at, values) for at, values in found.reports], 3 * found.duration_s, progress=said)


def test_a_run_on_a_busy_machine_ends_with_the_time_that_its_jobs_take_alone():
    # With small jobs beside the beginnings, with what comes after the loop, and down to the tables and the explanation.
    asked, loop = run(Delayed(after_s=60.0), PER_JOB)
    assert loop.run().exit_code == 0
    assert (0, 0.03, False) in ran(loop)
    question = Question(Billing("us-east-1"))
    alone = {one.configuration: one for one in forecasts_of(asked, loop.state, question) if one.metric == "quiet_s"}
    wall = totals(asked, loop)
    for x in (0, 1, 4):
        one, true_s = alone[f"x={x}"], 65.0 + 200.0 * (1 + x)
        assert one.lo90 <= true_s <= one.hi90
        assert wall[f"x={x}"].median == pytest.approx(3 * one.median, rel=0.07)
    groups = by_configuration(canaries_of(asked, loop.state).canaries)
    told = {one.metric: one for one in explanations(groups, "x=0", question)}
    assert told["quiet_s"].causes["what its beginning did not see"] > 0
    assert "Use x=0" in report(asked, loop.state, question)


class Converging:
    """Jobs of 1000 iterations of 0.2 s of the full data at most, after 5 s of start-up, which stop after about 400 of them."""

    def run(self, configuration, level, repeat):
        share = 1.0 if level is None else min(level, 1.0)
        steps, each = 400 + 5 * repeat + round(20 * share), 0.2 * share * (1 + configuration["x"])
        said = [ProgressLine(float(k), None, 5.0 + each * k, 5.0 + each * k, number=k, at_most=1000.0) for k in range(steps + 1)]
        duration_s = 5.001 + each * steps
        return Run([(duration_s, {"loss": 1.0})], duration_s, progress=said)


def test_of_jobs_that_may_stop_early_the_beginning_tells_the_steps_and_small_jobs_how_many():
    asked, loop = run(Converging(), PER_JOB)
    assert loop.run().exit_code == 0
    (first, *_), prefixes = ran(loop), [one for one in loop.state.trials.values() if one.spec.prefix_s is not None]
    assert first == (0, 0.01, False)
    assert [one.configuration["x"] for one in prefixes] == [0, 1, 4]
    # Neither at once nor for as long as a prefix may run: until a step's time is known.
    assert all(1.0 < one.duration_s - 5.0 < 25.0 for one in prefixes)
    found = totals(asked, loop)
    for x in (0, 1, 4):
        true_s = 5.0 + 0.2 * 420 * (1 + x)
        assert found[f"x={x}"].median == pytest.approx(true_s, rel=0.1)
        assert found[f"x={x}"].lo90 <= true_s <= found[f"x={x}"].hi90
        assert "it may stop early, as small jobs did" in found[f"x={x}"].why


def test_one_that_converges_within_its_prefix_took_what_it_took():
    asked, loop = run(Converging(), {"kind": "prefix", "width": 0.0001, "prefix_s": 5000.0})
    loop.run()
    one = totals(asked, loop)["x=0"]
    assert one.median == pytest.approx(89.0, rel=0.02)
    assert str(one.status) == "ok"
