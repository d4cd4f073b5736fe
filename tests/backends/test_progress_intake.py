"""What is told of progress, and how often."""

from itertools import pairwise

from backends.progress_intake import ProgressIntake
from backends.reports import PROGRESS_MARK, ReportParser
from definitions.metrics import MetricSources, ProgressSources
from definitions.progress import expression_of

BATCHES = ProgressSources((expression_of("batch {step}/{steps}"),))


def intake_of(steps, seconds_each, sources=BATCHES):
    intake, told = ProgressIntake(sources), []
    for step in range(1, steps + 1):
        intake.look(f"batch {step}/{steps}", 0)
        told += intake.take(step * seconds_each)
    return told


def test_a_line_for_each_batch_is_told_rarely_and_the_last_for_certain():
    told = intake_of(100_000, 0.01)
    assert len(told) < 200
    assert (told[0].done, told[-1].done, told[-1].total) == (1.0, 100_000.0, 100_000.0)
    assert max(later.elapsed_s - earlier.elapsed_s for earlier, later in pairwise(told)) < 10.1
    assert [one.number for one in told] == list(range(len(told)))


def test_what_the_reporter_says_counts_more_than_what_is_found():
    intake = ProgressIntake(BATCHES)
    intake.say({"done": 5, "total": 10, "elapsed_s": 2.0}, 0)
    intake.look("batch 3/4", 0)
    assert [(one.done, one.total) for one in intake.take(9.0)] == [(5.0, 10.0)]


def test_steps_that_are_counted_for_throughput_do_not():
    intake = ProgressIntake(BATCHES)
    intake.say({"done": 5, "elapsed_s": 2.0, "by_step": True}, 0)
    intake.look("batch 3/4", 0)
    assert [(one.done, one.total, one.by_step) for one in intake.take(9.0)] == [(5.0, None, True), (3.0, 4.0, False)]


def test_another_life_counts_anew():
    intake = ProgressIntake(BATCHES)
    intake.look("batch 30/40", 0)
    first = intake.take(100.0)
    intake.look("batch 2/40", 1)
    assert [(one.done, one.incarnation, one.number) for one in (*first, *intake.take(3.0))] == [(30.0, 0, 0), (2.0, 1, 0)]


def test_a_log_fed_in_pieces_gives_metrics_reports_and_progress():
    sources = MetricSources(expressions=(("loss", r"loss (\S+)"),), progress=BATCHES)
    parser = ReportParser(sources=sources)
    text = "hello\nbatch 1/9 loss 0.5\nbatch 2/9\rbatch 3/9\n" + "noise\n" * 100
    reports = [one for at in range(0, len(text), 7) for one in parser.feed(text[at : at + 7].encode())]
    assert [one.metrics for one in reports] == [{"loss": 0.5}]
    assert [(one.done, one.total, one.elapsed_s) for one in parser.take_progress(4.5)] == [(3.0, 9.0, 4.5)]
    parser.feed(f'{PROGRESS_MARK} {{"done": 4, "elapsed_s": 5}}\n'.encode())
    assert [(one.done, one.total) for one in parser.take_progress(6.0)] == [(4.0, None)]


def test_progress_alone_looks_for_no_metrics():
    parser = ReportParser(sources=MetricSources(progress=BATCHES))
    assert parser.feed(b"batch 1/9\n") == []
    assert [one.done for one in parser.take_progress(1.0)] == [1.0]
