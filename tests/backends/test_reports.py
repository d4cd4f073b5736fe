"""The parser finds reports whatever else is in a log, and whatever the pieces it comes in."""

from __future__ import annotations

import json
import math
import random
import tracemalloc

import pytest

from backends.last_lines import TAIL_WIDTH
from backends.reports import MAX_LINE_BYTES, Counts, Report, ReportParser
from definitions.metrics import MetricSources

MARK = b"[tune-metric]: "


def line(sequence: int | None = None, rank: int = 0, incarnation: int = 0, **metrics: object) -> bytes:
    """Return a line as our reporter prints it; without a number, as a bare print does."""
    if sequence is not None:
        metrics |= {"outrider_sequence": sequence, "outrider_rank": rank, "outrider_incarnation": incarnation}
    return MARK + json.dumps(metrics).encode() + b"\n"


def parse(*pieces: bytes) -> tuple[list[Report], ReportParser]:
    parser = ReportParser()
    found = [report for piece in pieces for report in parser.feed(piece)]
    return found + parser.finish(), parser


def test_our_lines_are_reports_without_our_keys() -> None:
    ours = b'{"loss": 0.5, "st_worker_time": 2.5, "st_worker_timestamp": 10.0, "st_worker_iter": 4, "outrider_sequence": 4}'
    assert parse(MARK + ours + b"\n")[0] == [Report({"loss": 0.5}, 4, 0, 2.5, 10.0)]


def test_values_are_kept_exactly() -> None:
    (report,), _ = parse(
        MARK + b'{"a": NaN, "b": Infinity, "c": "1e-05", "d": null, "e": 12.34, "f": -Infinity, "g": 7, "h": [1, {"x": true}]}\n'
    )
    assert math.isnan(report.metrics["a"])
    rest = {key: value for key, value in report.metrics.items() if key != "a"}
    assert rest == {"b": math.inf, "c": "1e-05", "d": None, "e": 12.34, "f": -math.inf, "g": 7, "h": [1, {"x": True}]}
    assert isinstance(report.metrics["g"], int)


@pytest.mark.parametrize(
    "text",
    [
        MARK + b'{"loss": 0.5',
        MARK + b"[1, 2]",
        MARK + b"12",
        MARK,
        MARK + b"{'loss': 0.5}",
        MARK + b'{"loss": 0.5, "outrider_sequence": "x"}',
        MARK + b'{"loss": 0.5, "outrider_sequence": -1}',
        MARK + b'{"loss": 0.5, "outrider_sequence": true}',
        MARK + b'{"loss": 0.5, "outrider_rank": null}',
        MARK + b'{"loss": 0.5, "st_worker_iter": 1.5}',
        MARK + b'{"loss": ' + b"[" * 100_000,
        MARK + b'{"loss": ' + b"9" * 5000 + b"}",
        b"[outrider-summary]: nothing",
    ],
)
def test_what_looks_like_a_report_and_is_none_is_counted_and_ends_nothing(text: bytes) -> None:
    found, parser = parse(text + b"\n" + line(0, loss=1) + text)
    assert [report.metrics for report in found] == [{"loss": 1}]
    assert parser.counts.alien == 2


def test_a_report_is_found_anywhere_in_a_line() -> None:
    found, parser = parse(
        b" 10%|##   | 3/30 " + line(0, n=0).rstrip() + b" and more {}\n",
        line(1, n=1).rstrip() + line(2, n=2),
        MARK + b'{"n": 99' + line(3, n=3),
        b"\xff\xfe\x00" + line(4, n=4),
        b"50%\r" + line(5, n=5).rstrip() + b"\r\n",
        MARK + b'{"n": 6, "text": "[tune-metric]: {}"}\n',
        b"[tune-metric]:" + b'{"n": 7}\n',
        b"[other-metric]: {}\n[tune-metrics]: {}\n",
    )
    assert [report.metrics["n"] for report in found] == [*range(8)]
    assert parser.counts.alien == 1


def test_a_repeated_report_is_delivered_once() -> None:
    log = b"".join(line(n, n=n) for n in range(5)) + b"".join(line(n, n=n, incarnation=1) for n in range(2))
    found, parser = parse(log, log, log[:200])
    assert [(report.incarnation, report.sequence) for report in found] == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 0), (1, 1)]
    assert parser.counts.repeated >= 7


def test_reports_in_any_order_are_told_apart() -> None:
    numbers = random.Random(1).sample(range(200), 120)
    found, parser = parse(*(line(n, n=n) for n in numbers), *(line(n, n=n) for n in sorted(numbers)))
    assert [report.sequence for report in found] == numbers
    assert parser.counts.repeated == 120


def test_other_ranks_are_counted_and_not_delivered() -> None:
    found, parser = parse(line(0, rank=1, n=1), line(0, rank=0, n=0), line(0, rank=3, n=3))
    assert [report.metrics for report in found] == [{"n": 0}]
    assert parser.counts.other_ranks == 2


def test_lines_without_a_number_are_numbered_in_order() -> None:
    found, _ = parse(line(n="a"), line(n="b"), MARK + b'{"n": "c", "st_worker_iter": 5}\n', line(n="d"))
    assert [report.sequence for report in found] == [0, 1, 5, 6]


def test_a_restart_that_lines_do_not_tell_of_can_be_told_to_the_parser() -> None:
    parser = ReportParser()
    first = parser.feed(MARK + b'{"n": 1, "st_worker_iter": 0}\n')
    parser.incarnation = 1
    second = parser.feed(MARK + b'{"n": 1, "st_worker_iter": 0}\n')
    assert [(report.incarnation, report.sequence) for report in first + second] == [(0, 0), (1, 0)]


def test_times_that_are_none_are_left_out() -> None:
    (report,), _ = parse(MARK + b'{"n": 1, "st_worker_time": -3, "st_worker_timestamp": NaN}\n')
    assert (report.elapsed_s, report.sent_at) == (None, None)


def test_a_last_line_without_an_end_is_tried() -> None:
    assert [report.metrics for report in parse(line(0, n=0) + line(1, n=1).rstrip())[0]] == [{"n": 0}, {"n": 1}]
    found, parser = parse(line(0, n=0) + line(1, n=1).rstrip()[:-5])
    assert [report.metrics for report in found] == [{"n": 0}]
    assert parser.counts.alien == 1


def test_an_overlong_line_is_dropped_in_bounded_memory_whatever_its_size() -> None:
    parser = ReportParser()
    chunk = b"x" * 65536
    parser.feed(line(0, n=0))
    tracemalloc.start()
    for _ in range(800):
        parser.feed(chunk)
    found = parser.feed(line(1, n=1) + line(2, n=2))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [report.metrics["n"] for report in found] == [2]
    assert parser.counts.too_long == 1
    assert peak_bytes < 6 * MAX_LINE_BYTES
    assert len(parser.tail[-3]) <= TAIL_WIDTH + 4


@pytest.mark.parametrize(("extra", "dropped"), [(0, 0), (1, 1)])
def test_the_limit_of_a_line_is_exact(extra: int, dropped: int) -> None:
    report = line(0, n=0).rstrip()
    found, parser = parse(b" " * (MAX_LINE_BYTES - len(report) + extra) + report + b"\n")
    assert len(found) == 1 - dropped
    assert parser.counts.too_long == dropped


def test_a_line_is_cut_in_the_tail_where_it_is_wider_than_that() -> None:
    _, parser = parse(b"y" * TAIL_WIDTH + b"\n", b"z" * (TAIL_WIDTH + 1) + b"\n")
    assert parser.tail == ("y" * 1000, "z" * 1000 + " ...")


def test_the_tail_has_the_last_lines_and_of_a_progress_bar_its_last_state() -> None:
    log = b"".join(b"line %d\n" % n for n in range(100)) + b"10%\r20%\r30%\r\n\nwin\r\nlong " + b"y" * 5000 + b"\n\xff\n40%\r50%\r"
    _, parser = parse(log)
    assert len(parser.tail) == 40
    assert parser.tail[-6:-2] == ("line 99", "30%", "win", ("long " + "y" * 5000)[:TAIL_WIDTH] + " ...")
    assert parser.tail[-2:] == ("\ufffd", "50%")


def test_summaries_of_several_lives_add_up_and_of_one_life_the_last_counts() -> None:
    def summary(incarnation: int, load_s: object, steps: int, rank: int = 0) -> bytes:
        values = {"phases_s": {"load": load_s, "train": 1.0}, "steps": steps, "samples": 2 * steps, "elapsed_s": 4.0}
        return b"[outrider-summary]: " + json.dumps(values | {"outrider_incarnation": incarnation, "outrider_rank": rank}).encode() + b"\n"

    _, parser = parse(summary(0, 0.5, 1), summary(0, 1.5, 3), summary(1, 0.25, 2), summary(1, 9.0, 9, rank=1), summary(2, "bad", 0))
    assert parser.usage() == {"phases_s": {"load": 1.75, "train": 3.0}, "steps": 5, "samples": 10, "elapsed_s": 12.0}
    assert parse(line(0, n=0))[1].usage() == {}


LOG = (
    b"start\r\n" + line(0, n=0, text="a\nb") + b"10%\r20%\r" + line(1, n=1, loss=math.nan) + line(1, n=1) + b"\xc3\xa9\n\n"
    + MARK + b'{"n": \n' + line(7, rank=1, n=7) + b"[outrider-summary]: {\"steps\": 2}\n" + line(2, n=2).rstrip() + line(3, n=3) + b"end"
)  # fmt: skip


def outcome(pieces: list[bytes]) -> tuple[str, Counts, tuple[str, ...], dict[str, object]]:
    found, parser = parse(*pieces)
    return repr(found), parser.counts, parser.tail, parser.usage()


def test_every_chunking_gives_the_same() -> None:
    whole = outcome([LOG])
    assert whole[1].delivered == 4
    assert outcome([LOG[at : at + 1] for at in range(len(LOG))]) == whole
    for at in range(len(LOG) + 1):
        assert outcome([LOG[:at], LOG[at:]]) == whole
    chance = random.Random(7)
    for _ in range(300):
        cuts = sorted(chance.choices(range(len(LOG) + 1), k=chance.randrange(1, 30)))
        assert outcome([LOG[a:b] for a, b in zip([0, *cuts], [*cuts, len(LOG)], strict=True)]) == whole


def test_chance_bytes_never_raise() -> None:
    chance = random.Random(3)
    words = [MARK, b"{", b"}", b'"a":', b"1", b"\n", b"\r", b"\xff", b"[outrider-summary]:", b"NaN", b"[", b",", b" "]
    for _ in range(2000):
        parse(b"".join(chance.choices(words, k=12)), b"".join(chance.choices(words, k=5)))


def test_pieces_of_many_lines_say_the_same_as_line_by_line() -> None:
    draw = random.Random(1)
    kinds = [
        b"nothing", b"", b"Epoch %d", b"loss: 0.%d", b"\x1b[32mloss\x1b[0m: 1.%d", b'[tune-metric]: {"a": %d}', b"[rank1]: loss: 2.%d",
        b"Exception ignored in: <x>", b"Traceback (most recent call last):", b'  File "t.py", line %d, in main', b"ValueError: %d",
        b"terminate called without an active exception", b"50%%|##| loss: 0.%d", "größe %d".encode("latin-1"), b"LOSS: 3.%d",
        b"z" * 70 + b" loss:", b"0.%d and more",
    ]  # fmt: skip
    sources = MetricSources((("epoch", r"Epoch (\d+)"), ("loss", r"(?i)loss: ([\d.]+)")), (), "epoch", ("loss",))
    for plain in (MetricSources((("loss", r"loss: ([\d.]+)"),)), sources, MetricSources(), MetricSources((("any", r"(\d+)%"),))) * 60:
        lines = [
            (kind % draw.randrange(9) if b"%d" in kind else kind) + draw.choice([b"\n", b"\n", b"\r", b"\r\n"])
            for kind in draw.choices(kinds, k=80)
        ]
        # An empty line after a carriage return would be the same line's end.
        lines = [b"-\n" if line == b"\n" and before.endswith(b"\r") else line for before, line in zip([b"", *lines], lines, strict=False)]
        log = b"".join(lines)
        whole, single = ReportParser(sources=plain), ReportParser(sources=plain)
        cuts = [cut for cut in sorted(draw.sample(range(len(log)), 3)) if log[cut - 1 : cut + 1] != b"\r\n"]
        found = [report for start, end in zip([0, *cuts], [*cuts, None], strict=True) for report in whole.feed(log[start:end])]
        # A line that comes in two pieces is looked at whatever is in it.
        one_by_one = [report for line in lines for piece in (line[:1], line[1:]) for report in single.feed(piece)]
        assert found + whole.finish() == one_by_one + single.finish()
        assert whole.tail == single.tail
        assert whole.counts == single.counts
        assert whole.tracebacks.raised == single.tracebacks.raised


def test_lines_that_end_as_windows_has_it_are_told_at_once() -> None:
    parser = ReportParser(sources=MetricSources((("epoch", r"Epoch (\d+)"), ("loss", r"loss: ([\d.]+)")), (), "epoch", ("loss",)))
    assert [report.metrics for report in parser.feed(b"Epoch 1\r\nloss: 0.5\r\n")] == [{"epoch": 1, "loss": 0.5}]
    assert parser.feed(b"Epoch 2\r\nloss: 0.25\r") == []
    assert [report.metrics for report in parser.feed(b"\n")] == [{"epoch": 2, "loss": 0.25}]


def test_the_last_byte_that_a_line_may_have_is_taken_though_it_comes_by_itself() -> None:
    report = line(0, n=0).rstrip()
    whole = b" " * (MAX_LINE_BYTES - len(report)) + report
    parser = ReportParser()
    found = parser.feed(whole[:-1]) + parser.feed(whole[-1:]) + parser.feed(b"\n")
    assert [found_one.metrics["n"] for found_one in found] == [0]
    assert parser.counts.too_long == 0
