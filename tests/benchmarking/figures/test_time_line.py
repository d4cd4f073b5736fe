"""Time lines of a few jobs, second by second."""

from __future__ import annotations

from benchmarking.figures.details import KeptDetail
from benchmarking.figures.time_line import IDLE, KINDS, RUN, START_UP, WARM, lanes_and_spans, time_line_figure
from tests.benchmarking.figures.made_details import experiment, job


def drawn(**given):
    lanes, spans = lanes_and_spans(experiment(**given))
    return lanes, [(span.lane, span.begin, span.end, span.kind) for span in spans]


def test_start_up_ends_with_the_phase_in_which_the_script_imports():
    lanes, spans = lanes_and_spans(experiment(jobs=[job(0, 1.0, 4.0, 10.0, phases_s={"startup": 2.0, "train": 3.0})], duration_s=12.0))
    assert lanes == 1
    assert [(span.begin, span.end, span.kind, span.text) for span in spans] == [
        (0.0, 1.0, IDLE, ""),
        (1.0, 6.0, START_UP, "trial 0, completed"),
        (6.0, 10.0, RUN, "trial 0, completed"),
        (10.0, 12.0, IDLE, ""),
    ]


def test_a_job_goes_to_the_worker_that_was_free_last_and_a_third_at_once_is_a_third_worker():
    jobs = [job(0, 0, 0, 4), job(1, 0, 0, 6), job(2, 5, 5, 8), job(3, 7, 7, 9), job(4, 7, 7, 8)]
    lanes, spans = drawn(jobs=jobs, duration_s=9.0)
    assert lanes == 3
    assert spans == [
        (0, 0, 4, RUN), (0, 4, 5, IDLE), (0, 5, 8, RUN), (0, 8, 9.0, IDLE),
        (1, 0, 6, RUN), (1, 6, 7, IDLE), (1, 7, 9, RUN),
        (2, 0.0, 7, IDLE), (2, 7, 8, RUN), (2, 8, 9.0, IDLE),
    ]  # fmt: skip


def test_kept_instances_are_warm_until_the_job_that_got_them_and_it_is_on_their_lane():
    jobs = [job(0, 0, 2, 5), job(1, 0, 2, 6), job(2, 9, 10, 12, is_warm=True)]
    kept = [KeptDetail("j0", "m", 5.0, 9.0, 0.01, "j2")]
    lanes, spans = drawn(jobs=jobs, kept=kept, duration_s=12.0)
    assert lanes == 2
    assert spans == [
        (0, 0, 2, START_UP), (0, 2, 5, RUN), (0, 5, 9, WARM), (0, 9, 10, START_UP), (0, 10, 12, RUN),
        (1, 0, 2, START_UP), (1, 2, 6, RUN), (1, 6, 12.0, IDLE),
    ]  # fmt: skip


def test_one_that_waits_for_instances_of_another_begins_when_these_are_free():
    jobs = [job(0, 0, 0, 5), job(1, 3, 6, 8, is_warm=True)]
    assert drawn(jobs=jobs, kept=[KeptDetail("j0", "m", 5.0, 5.0, 0.0, "j1")], duration_s=8.0) == (
        1,
        [(0, 0, 5, RUN), (0, 5, 6, START_UP), (0, 6, 8, RUN)],
    )


def test_kept_ones_that_nobody_got_are_warm_until_they_were_let_go_or_the_end():
    assert drawn(jobs=[job(0, 0, 0, 5)], kept=[KeptDetail("j0", "m", 5.0, 8.0, 0.01)], duration_s=10.0)[1] == [
        (0, 0, 5, RUN), (0, 5, 8.0, WARM), (0, 8.0, 10.0, IDLE),
    ]  # fmt: skip
    assert drawn(jobs=[job(0, 0, 0, 5)], kept=[KeptDetail("j0", "m", 5.0)], duration_s=10.0)[1] == [(0, 0, 5, RUN), (0, 5, 10.0, WARM)]


def test_a_job_that_never_ran_is_start_up_and_an_open_one_runs_to_the_end():
    jobs = [job(0, 0, None, 3, status="failed", cause="capacity"), job(1, 4, 5, None, status="")]
    lanes, spans = lanes_and_spans(experiment(jobs=jobs, duration_s=9.0))
    assert lanes == 1
    assert [(span.begin, span.end, span.kind, span.text) for span in spans] == [
        (0, 3, START_UP, "trial 0, failed (capacity), never ran"),
        (3, 4, IDLE, ""),
        (4, 5, START_UP, "trial 1"),
        (5, 9.0, RUN, "trial 1"),
    ]


def test_each_benchmark_and_method_has_the_panel_of_its_first_seed_that_has_jobs():
    jobs = [job(0, 0, 0, 4), job(1, 0, 0, 4)]
    made = [experiment(number=2, jobs=jobs[:1], duration_s=4.0), experiment(number=1, jobs=jobs, duration_s=4.0), experiment(number=0)]
    figure = time_line_figure([*made, experiment(method="TPE", number=3, jobs=jobs[:1], duration_s=4.0)])
    assert [(panel.title, panel.lanes, panel.kinds, panel.time.unit) for panel in figure.panels] == [
        ("b: RS seed 1", ("worker 1", "worker 2"), KINDS, "s"),
        ("b: TPE seed 3", ("worker 1",), KINDS, "s"),
    ]
