"""Windows over late lines, and what the lines of one job amount to."""

from __future__ import annotations

import json
import math

import pytest

from backends.reports import FROM_MATCHES
from backends.sagemaker.logs.parser import END_MARK, JobLog, ScriptEnd, is_marked, message_of, stream_name
from definitions.metrics import MetricSources


def line(message, number=0, stream="x-1/algo-1-100", at_ms=1000, identity=None):
    return {
        "eventId": f"{stream}:{number}" if identity is None else identity,
        "logStreamName": stream,
        "timestamp": at_ms,
        "message": message,
    }


def report(sequence=None, **metrics):
    body = {**metrics, **({} if sequence is None else {"outrider_sequence": sequence})}
    return "[tune-metric]: " + json.dumps(body)


def fed(log, *events):
    return [found for event in events for found in log.feed(event)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x-1/algo-1-1700000000", ("x-1", 1, 1700000000)),
        ("x-11/algo-12-17", ("x-11", 12, 17)),
        ("x/algo-1", ("x", 1, 0)),
        ("somebody", None),
    ],
)
def test_stream_names(text, expected):
    found = stream_name(text)
    assert (None if found is None else (found.job, found.number, found.since)) == expected


def test_a_report_is_delivered_once_however_often_its_line_comes():
    log = JobLog()
    first, again = line(report(0, loss=0.5), 1), line(report(0, loss=0.5), identity="another id")
    assert [found.metrics for found in fed(log, first, first, again)] == [{"loss": 0.5}]
    assert log.delivered == 1


def test_reports_that_an_earlier_controller_has_are_not_delivered_again():
    log = JobLog(received={(0, 0): {}, (0, 1): {}})
    found = fed(log, *(line(report(n, epoch=n + 1), n) for n in range(4)))
    assert [one.metrics["epoch"] for one in found] == [3, 4]
    assert log.delivered == 4


def test_the_same_line_of_two_hosts_counts_once_and_only_the_first_host_s():
    log = JobLog()
    found = fed(log, line(report(loss=0.1), stream="j/algo-2-100"), line(report(loss=0.1), stream="j/algo-1-100"))
    assert [one.metrics for one in found] == [{"loss": 0.1}]
    assert fed(log, line(report(loss=0.2), stream="j/algo-11-100")) == []


def test_two_equal_lines_without_numbers_are_two_reports():
    log = JobLog()
    assert len(fed(log, line(report(loss=0.1), 1), line(report(loss=0.1), 2))) == 2


def test_each_stream_of_the_first_host_is_a_life():
    log = JobLog()
    found = fed(log, line(report(loss=1.0), 1, "j/algo-1-100"), line(report(loss=2.0), 1, "j/algo-1-200"))
    assert [(one.incarnation, one.sequence) for one in found] == [(0, 0), (1, 0)]


def test_what_is_no_number_arrives_exactly_as_it_was_reported():
    text = '[tune-metric]: {"a": 1.0, "b": NaN, "c": Infinity, "d": "1e-05", "e": 12.34, "f": null}'
    (found,) = fed(JobLog(), line(text))
    assert math.isnan(found.metrics.pop("b"))
    assert found.metrics == {"a": 1.0, "c": math.inf, "d": "1e-05", "e": 12.34, "f": None}


def end(code, number=9, stream="j/algo-1-100", at_ms=1000):
    return line(END_MARK + json.dumps({"exit_code": code}), number, stream, at_ms)


def test_the_end_of_the_last_life_is_told_by_its_last_line():
    log = JobLog()
    fed(log, line(report(loss=1.0), 1, "j/algo-1-100"))
    assert log.end() is None
    fed(log, end(3, at_ms=7500))
    assert log.end() == ScriptEnd(3, 7.5)
    fed(log, line(report(loss=1.0), 1, "j/algo-1-200"))
    assert log.end() is None
    fed(log, end(0, 2, "j/algo-1-200"))
    assert log.end().exit_code == 0


def test_an_interrupted_life_s_end_is_not_the_job_s():
    """A later life that printed no line yet is known by the service's description alone."""
    log = JobLog()
    fed(log, end(143))
    assert log.end(lives=1).exit_code == 143
    assert log.end(lives=2) is None


def test_a_last_line_without_an_end_stands_before_the_mark_and_counts():
    log = JobLog(sources=MetricSources((("loss", "loss ([0-9.]+)"),), (), None, ("loss",)))
    assert [found.metrics for found in fed(log, line("loss 0.5", 1), line('loss 0.25[outrider-end]: {"exit_code": 0}', 2))] == [
        {"loss": 0.5},
        {"loss": 0.25},
    ]
    assert log.tail[-1] == "loss 0.25"
    assert log.end() == ScriptEnd(0, 1.0)


@pytest.mark.parametrize(
    "text", [END_MARK, END_MARK + " {", END_MARK + ' {"exit": 1}', END_MARK + ' {"exit_code": null}', END_MARK + " []"]
)
def test_an_end_that_is_cut_off_is_none(text):
    log = JobLog()
    fed(log, line(text))
    assert log.end() is None


def test_numbers_tell_that_reports_are_missing():
    log = JobLog(received={(0, 0): {}})
    assert not log.has_gaps
    fed(log, line(report(2, loss=1.0), 2))
    assert log.has_gaps
    fed(log, line(report(1, loss=1.0), 1))
    assert not log.has_gaps


def test_a_garbled_line_explains_a_gap():
    log = JobLog()
    fed(log, line(report(0, loss=1.0), 0), line(report(2, loss=1.0), 2), line('[tune-metric]: {"loss": 0.', 1))
    assert not log.has_gaps


def test_metrics_by_expression():
    log = JobLog(sources=MetricSources((("loss", r"loss=(\S+)"), ("accuracy", r"acc=([\d.]+)"))))
    events = [line("epoch 1 loss=0.5 acc=0.8", 1), line("nothing", 2), line("loss=nan", 3), line("loss=low", 4)]
    found = fed(log, *events)
    assert found[0].metrics == {"loss": 0.5, "accuracy": 0.8}
    assert math.isnan(found[1].metrics["loss"])
    assert found[2].metrics == {"loss": "low"}
    assert [one.sequence - FROM_MATCHES for one in found] == [0, 1, 2]


def test_our_own_lines_are_known():
    assert is_marked(END_MARK + ' {"exit_code": 0}')
    assert is_marked(report(loss=1))
    assert not is_marked("ValueError: tune-metric")


LOSS = MetricSources((("loss", r"loss=(\S+)"),))
LEVELS = MetricSources((("epoch", r"Epoch (\d+)"), ("loss", r"loss=(\S+)")), (), "epoch", ("loss",))


def identities(found):
    return {(one.incarnation, one.sequence): one.metrics for one in found}


@pytest.mark.parametrize("seen", [[0, 1, 2, 3, 4], [0, 2, 4], [4, 2], []])
def test_what_an_earlier_controller_found_by_expression_comes_neither_twice_nor_never_whatever_the_order_it_saw(seen):
    events = [line(f"loss={value}", number, at_ms=1000 + number) for number, value in enumerate(("0.5", "0.4", "0.5", "nan", "0.3"))]
    before = fed(JobLog(sources=LOSS), *(events[place] for place in seen))
    again = JobLog(received=identities(before), sources=LOSS)
    after = fed(again, *events)
    assert sorted(str(one.metrics["loss"]) for one in [*before, *after]) == ["0.3", "0.4", "0.5", "0.5", "nan"]
    assert sorted(one.sequence for one in [*before, *after]) == [FROM_MATCHES + number for number in range(5)]
    assert (again.delivered, again.has_gaps) == (5, False)


def test_reports_by_expression_are_known_by_their_life_too():
    first = fed(JobLog(sources=LOSS), line("loss=0.5", 0))
    again = JobLog(received=identities(first), sources=LOSS)
    assert [one.incarnation for one in fed(again, line("loss=0.5", 0), line("loss=0.5", 1, "x-1/algo-1-200"))] == [1]


def late(message, number, at_ms, lag_ms):
    return {**line(message, number, at_ms=at_ms), "ingestionTime": at_ms + lag_ms}


def test_lines_of_levels_that_overtake_each_other_are_put_in_order():
    log = JobLog(sources=LEVELS)
    events = [
        (10.0, late("Epoch 1", 0, 8_000, 2000)),
        (10.5, late("loss=0.5", 1, 8_100, 500)),
        (11.0, late("loss=0.4", 3, 9_100, 500)),
        (12.0, late("Epoch 2", 2, 9_000, 3000)),
    ]
    found = [one for now, event in events for one in log.feed(event, now)]
    assert found == []
    assert list(log.due(12.9)) == []
    assert list(log.due(13.0)) == []
    assert [one.metrics for one in log.due(15.0)] == [{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.4}]


def test_what_is_held_back_at_the_end_comes_with_the_end():
    log = JobLog(sources=LEVELS)
    list(log.feed(late("loss=0.5", 1, 8_100, 5000), 10.0))
    list(log.feed(late("Epoch 1", 0, 8_000, 5000), 10.0))
    list(log.feed(late(END_MARK + ' {"exit_code": 0}', 2, 9_000, 5000), 10.0))
    assert log.end() == ScriptEnd(0, 9.0)
    assert [(one.metrics, one.elapsed_s) for one in log.finish()] == [({"epoch": 1, "loss": 0.5}, 0.1)]


def test_lines_that_are_never_late_are_awaited_for_two_seconds():
    log = JobLog(sources=LEVELS)
    assert [*log.feed(late("Epoch 1", 0, 8_000, 0), 10.0), *log.feed(late("loss=0.5", 1, 8_100, 0), 10.1)] == []
    assert [one.metrics for one in log.due(12.1)] == [{"epoch": 1, "loss": 0.5}]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("[0]#011rmse:0.25#015", "[0]\trmse:0.25\r"),
        ("#033[31mred#033[0m#000", "\x1b[31mred\x1b[0m\x00"),
        ("issue #012, #12, #999 and #0", "issue #012, #12, #999 and #0"),
        ("plain\n", "plain"),
    ],
)
def test_control_characters_are_read_back(message, text):
    assert message_of({"message": message}) == text


@pytest.mark.parametrize("expression", [r"\trmse:([0-9.]+)", r"#011rmse:([0-9.]+)"])
def test_expressions_find_a_tab_as_it_was_printed_and_as_the_service_shows_it(expression):
    log = JobLog(sources=MetricSources(expressions=(("rmse", expression),)))
    assert [found.metrics for found in fed(log, line("[0]#011rmse:0.25"))] == [{"rmse": 0.25}]


def test_the_host_that_failed_first_by_itself_is_found():
    log = JobLog()
    assert log.failed_host() is None
    ends = [(1, 143, 900), (3, 5, 800), (2, 7, 850), (4, 0, 100)]
    fed(log, *(end(code, number, f"j/algo-{number}-100", at_ms) for number, code, at_ms in ends))
    assert log.failed_host() == (3, ScriptEnd(5, 0.8))
    # What an earlier life of a host ended with is past.
    fed(log, end(0, 20, "j/algo-3-200", 1500))
    assert log.failed_host() == (2, ScriptEnd(7, 0.85))


def test_hosts_but_the_first_that_report_are_known():
    log = JobLog()
    assert fed(log, line(report(0, loss=1.0), 1, "x-1/algo-2-100"), line("epoch 1", 2, "x-1/algo-3-100")) == []
    assert log.elsewhere == ["algo-2"]


def test_that_a_script_has_ended_is_seen_on_any_host():
    log = JobLog()
    assert not log.has_ended
    fed(log, end(0, 3, "j/algo-2-100"))
    assert log.has_ended
    first = JobLog()
    fed(first, end(1))
    assert first.has_ended
