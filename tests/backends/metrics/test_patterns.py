"""Metrics in what programs print: bars, colours, ranks, encodings, and expressions that could take for ever."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import pytest

from backends.metrics.patterns import MetricMatcher, decoded
from backends.reports import FROM_MATCHES, ReportParser
from definitions.metrics import MetricSources

LOSS = (("loss", r"loss[:=] ?(nan|-?inf|[0-9.eE+-]+)"),)


def reports(log: bytes, *expressions: tuple[str, str], level: str | None = None, objectives: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return the metrics of all reports, which have to be the same byte by byte and in one piece."""
    sources = MetricSources(expressions or LOSS, (), level, objectives)

    def of(pieces: list[bytes]) -> list[dict[str, Any]]:
        parser = ReportParser(sources=sources)
        found = [report for piece in pieces for report in parser.feed(piece)] + parser.finish()
        assert [report.sequence for report in found] == [FROM_MATCHES + number for number in range(len(found))]
        return [dict(report.metrics) for report in found]

    whole = of([log])
    assert repr(of([log[at : at + 1] for at in range(len(log))])) == repr(whole)
    return whole


def test_one_report_a_line_and_exact_values() -> None:
    found = reports(b"start\nloss: 0.5\nloss: nan\nloss: -inf\r\nloss: 1e-05\nloss: 7", *LOSS)
    assert [found[0], *found[2:]] == [{"loss": 0.5}, {"loss": -math.inf}, {"loss": 1e-05}, {"loss": 7}]
    assert math.isnan(found[1]["loss"])


def test_levels_that_are_counted_from_0_are_reported_as_what_is_done() -> None:
    expressions = (("epoch", r"epoch (\d+)"), LOSS[0])
    sources = MetricSources(expressions, (), "epoch", ("loss",), from_zero="epoch")
    log = b"epoch 0\nloss: 2\nepoch 1 loss: 1\n"
    # One by its words, one without any.
    for one in (sources, MetricSources((("epoch", r"^\w{5} (\d+)"), LOSS[0]), (), "epoch", ("loss",), from_zero="epoch")):
        parser = ReportParser(sources=one)
        assert [dict(report.metrics) for report in [*parser.feed(log), *parser.finish()]] == [
            {"epoch": 1, "loss": 2}, {"epoch": 2, "loss": 1}
        ]  # fmt: skip


def test_what_a_library_prints_is_counted_once() -> None:
    sources = MetricSources(LOSS, ("xgboost",), "round", ("loss",), from_zero="round")
    parser = ReportParser(sources=sources)
    found = [*parser.feed(b"[0]\ttrain-rmse:0.5 loss: 2\n[1]\ttrain-rmse:0.4 loss: 1\n"), *parser.finish()]
    assert [report.metrics["round"] for report in found] == [1, 2]


def test_so_are_those_of_a_reporter_but_not_those_that_were_read_in_files() -> None:
    log = (
        b'[tune-metric]: {"epoch": 0, "loss": 2}\n[tune-metric]: {"epoch": 3, "loss": 1, "outrider_files": 0}\n[tune-metric]: {"loss": 1}\n'
    )
    found = ReportParser(sources=MetricSources(from_zero="epoch")).feed(log)
    assert [report.metrics.get("epoch") for report in found] == [1, 3, None]
    assert [report.metrics.get("epoch") for report in ReportParser().feed(log)] == [0, 3, None]


def test_a_bar_counts_once_for_each_distinct_state() -> None:
    bar = b"\r 10%|#   | loss=0.9\r 20%|##  | loss=0.9\r 50%|### | loss=0.4\r100%|####| loss=0.4\n"
    assert reports(bar + bar) == [{"loss": 0.9}, {"loss": 0.4}] * 2
    assert reports(b"loss=0.9\nloss=0.9\n") == [{"loss": 0.9}] * 2


def test_colours_and_backspaces_are_no_part_of_a_line() -> None:
    assert reports(b"\x1b[1mlo\x1b[0mss: \x1b[32m0.5\x1b[0m\n\x1b]0;title\x07loss: 0.25\x08\x08\x08\r\n") == [{"loss": 0.5}, {"loss": 0.25}]


def test_only_rank_0_counts_where_ranks_are_told() -> None:
    log = (
        b"[rank1]: loss: 9\n[rank0]: loss: 1\n[default0]:loss: 2[rank1]: loss: 9\n[1,0]<stdout>: loss: 3\n[1,2]<stdout>: loss: 9\nloss: 4\n"
    )
    assert reports(log) == [{"loss": 1}, {"loss": 2}, {"loss": 3}, {"loss": 4}]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16-le"])
def test_encodings(encoding: str) -> None:
    assert reports("précision: 0.5\nloss: 2\n".encode(encoding), ("p", r"précision: ([\d.]+)"), *LOSS) == [{"p": 0.5}, {"loss": 2}]


def test_lines_of_one_level_are_one_report_as_soon_as_the_objectives_are_there() -> None:
    log = b"Epoch 1\nloss: 0.5\nval: 0.1\nEpoch 2\nloss: 0.4\nval: 0.2\nEpoch 3\nloss: 0.3\n"
    expressions = (("epoch", r"Epoch (\d+)"), *LOSS, ("val", r"val: ([\d.]+)"))
    assert reports(log, *expressions, level="epoch", objectives=("val",)) == [
        {"epoch": 1, "loss": 0.5, "val": 0.1},
        {"epoch": 2, "loss": 0.4, "val": 0.2},
        {"epoch": 3, "loss": 0.3},
    ]


def test_of_a_bar_s_level_the_last_state_counts() -> None:
    log = b"\rEpoch 1: loss=9\rEpoch 1: loss=2\rEpoch 2: loss=8\rEpoch 2: loss=1"
    assert reports(log, ("epoch", r"Epoch (\d+)"), *LOSS, level="epoch", objectives=("loss",)) == [
        {"epoch": 1, "loss": 2},
        {"epoch": 2, "loss": 1},
    ]


EXPRESSIONS = [
    r"(\d+)",
    r"^\s*([0-9.eE+-]+|nan)\s*$",
    r"(\d+\.\d+)$",
    r"([0-9.]+)%",
    r"(?i)^[k-s] ?([0-9]+)",
    r"(?<!\.)\b(\d+)\b(?!\.)",
    r"\A[^:]*: *(\d)\Z",
    r"(?:(\d)|a),",
    r"^(\d*)$",
]
WORDS = b"1|23|.|,|%| |  |\t|nan|0.5|k|S|:|: |a|loss|loss=2|\r|\r\n|\n|\n\n".split(b"|")
STRANGE = [b"[rank1]: ", b"[rank0]: ", "é".encode(), b"\xff", "٣".encode(), b"[1,0]<stdout>: "]


@pytest.mark.parametrize("level", [None, "m"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_many_lines_at_once_say_the_same_as_each_by_itself(expression: str, level: str | None) -> None:
    draw = random.Random(expression)
    sources = MetricSources((("m", expression), *LOSS), (), level, ("loss",))
    count = 0
    for number in range(200):
        words = WORDS if number % 2 else draw.sample(WORDS + STRANGE, 10)
        body = b"".join(draw.choice(words) for _ in range(draw.choice((3, 30, 200)))) + b"\n"
        matcher, alone = MetricMatcher(sources), []
        for line in re.findall(rb"([^\r\n]*)(\r\n|\r|\n)", body):
            if line[0] or line[1] != b"\r":
                alone += matcher.take(decoded(line[0]), is_rewritten=line[1] == b"\r")
        alone += matcher.finish()
        parser = ReportParser(sources=sources)
        assert repr([report.metrics for report in parser.feed(body) + parser.finish()]) == repr(alone), body
        count += len(alone)
    assert count > 200


def test_a_number_in_each_line_is_a_report_of_each_and_says_that_the_script_went_on() -> None:
    parser = ReportParser(sources=MetricSources((("step", r"(\d+)"),)))
    parser.feed(b'Traceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: no\n')
    assert parser.tracebacks.raised is not None
    assert not parser.tracebacks.raised.is_survived
    assert [report.metrics for report in parser.feed(b"OSError: 7\n" * 3)] == [{"step": 7}] * 3
    assert not parser.tracebacks.raised.is_survived
    assert [report.metrics["step"] for report in parser.feed(b"step 1\nnone\nstep 2 of 3\n")] == [1, 2]
    assert parser.tracebacks.raised.is_survived


def test_a_script_s_own_reports_and_lines_that_match_both_count() -> None:
    parser = ReportParser(sources=MetricSources(LOSS))
    found = parser.feed(b'[tune-metric]: {"acc": 1, "outrider_sequence": 0}\nloss: 2\n[tune-metric]: {"acc": 3, "outrider_sequence": 1}\n')
    assert [dict(one.metrics) for one in found] == [{"acc": 1}, {"loss": 2}, {"acc": 3}]


FILLER = "2026-11-28 12:00:00 INFO trainer.py:1 epoch 3 of 10 is over, lr 0.1, "


@pytest.mark.parametrize(
    ("log", "expression", "found"),
    [
        (FILLER + "val_loss:\n0.5\n", r"val_loss: ([\d.]+)", [0.5]),
        (FILLER + "val_loss:   \n      0.5 acc\n", r"val_loss:\s*([\d.]+)", [0.5]),
        (FILLER + "best val\nloss: 0.5\n", r"best val loss: ([\d.]+)", [0.5]),
        (FILLER + "Val_Loss:\n0.5\n", r"(?i)val_loss[:=] ?([\d.]+)", [0.5]),
        (FILLER + "\x1b[1mval_loss\x1b[0m:\n0.5\nval_loss: 0.25\n", r"val_loss: ([\d.]+)", [0.5, 0.25]),
        # Where a line is wrapped at a width, that may be within a word, or before what a match must have.
        (FILLER + "val_lo\nss: 0.5\n", r"val_loss: ([\d.]+)", [0.5]),
        (FILLER + "v\nal_loss: 0.5\n", r"val_loss: ([\d.]+)", [0.5]),
        (FILLER + "best v\nal loss: 0.5\n", r"best val loss: ([\d.]+)", [0.5]),
        (FILLER + "best\nval loss: 0.5\n", r"best\s+val loss: ([\d.]+)", [0.5]),
        (FILLER + "VAL_L\nOSS: 0.5\n", r"(?i)val_loss: ([\d.]+)", [0.5]),
        # Lines that only follow each other are none.
        (FILLER + "val_lo\n\nss: 0.5\n", r"val_loss: ([\d.]+)", []),
        ("val_lo\nss: 0.5\n", r"val_loss: ([\d.]+)", []),
        # A short line is not wrapped, nor one that something else follows, nor a state of a bar.
        ("val_loss:\n0.5\n", r"val_loss: ([\d.]+)", []),
        (FILLER + "val_loss:\n\n0.5\n", r"val_loss: ([\d.]+)", []),
        (FILLER + "val_loss:\r0.5\n", r"val_loss: ([\d.]+)", []),
        (FILLER + "val_loss of what\n0.5\n", r"val_loss\D*([\d.]+)", []),
        (FILLER + "note: one\ntwo\n", r"note: (.*)", ["one"]),
    ],
)
def test_a_match_may_go_on_in_the_next_line_where_that_was_wrapped(log: str, expression: str, found: list[Any]) -> None:
    assert [report["m"] for report in reports(log.encode(), ("m", expression))] == found


def test_a_wrap_is_found_wherever_pieces_of_the_output_end() -> None:
    line = FILLER + "best val loss: 0.5 of all"
    for cut in range(len(FILLER) - 5, len(line) - 10):
        log = f"first\n{line[:cut]}\n{line[cut:]}\nlast\n".encode()
        for size in (1, 3, 50, len(FILLER) + 7, len(FILLER) + 8, len(log)):
            parser = ReportParser(sources=MetricSources((("m", r"best val loss: ([\d.]+)"),)))
            found = [one for at in range(0, len(log), size) for one in parser.feed(log[at : at + size])] + parser.finish()
            assert [one.metrics["m"] for one in found] == [0.5], (cut, size)
