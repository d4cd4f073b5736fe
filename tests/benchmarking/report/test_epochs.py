"""Which way of reading overtakes which, and in which words."""

from __future__ import annotations

from benchmarking.analysis.epoch_costs import EpochCosts
from benchmarking.analysis.stand_ins import NO_STAND_INS, StandIns
from benchmarking.report.epochs import ReadCosts, overtaking_lines

KEYS = ("ingestion", "dataset")


def read(evaluation, ingestion, *costs, dataset="large", measured=True):
    repeats = {repeat: EpochCosts(*one, measured) for repeat, one in enumerate(costs)}
    return ReadCosts(evaluation, {"ingestion": ingestion, "dataset": dataset}, repeats)


def lines(*given, stood_in=NO_STAND_INS):
    return overtaking_lines(given, KEYS, stood_in)


def test_what_is_dear_at_first_and_cheap_later_overtakes():
    found = lines(read(0, "file", (15.6, 4.6)), read(1, "fastfile", (9.4, 9.2)))
    assert found == ["From epoch 3 on file is cheaper than fastfile (dataset=large)."]


def test_what_overtakes_in_the_second_epoch_is_news_and_in_the_first_is_none():
    assert lines(read(0, "file", (3, 1)), read(1, "fastfile", (3, 2))) == ["From epoch 2 on file is cheaper than fastfile (dataset=large)."]
    assert lines(read(0, "file", (2, 1)), read(1, "fastfile", (3, 2))) == []


def test_the_order_in_which_they_were_measured_does_not_matter():
    found = lines(read(0, "fastfile", (9.4, 9.2)), read(1, "file", (15.6, 4.6)))
    assert found == ["From epoch 3 on file is cheaper than fastfile (dataset=large)."]


def test_what_is_cheaper_all_along_or_never_is_no_news():
    assert lines(read(0, "file", (2, 1)), read(1, "fastfile", (3, 2))) == []
    assert lines(read(0, "file", (3, 1)), read(1, "fastfile", (2, 1))) == []
    assert lines(read(0, "file", (5000, 1)), read(1, "fastfile", (1, 2))) == []  # in epoch 5,001, which nobody trains


def test_only_what_differs_in_the_way_of_reading_alone_is_a_pair():
    assert lines(read(0, "file", (15.6, 4.6)), read(1, "fastfile", (9.4, 9.2), dataset="small")) == []


def test_repeats_say_how_sure_it_is():
    late = read(0, "file", (4, 1), (5, 1), (9, 2))
    early = read(1, "fastfile", (2, 2), (2, 2), (2, 2))
    assert lines(late, early)[0] == "From epoch 8 on file is cheaper than fastfile (dataset=large); over 3 repeats 4 to 5, never in 1."


def test_what_was_not_measured_and_what_is_imitated_is_said():
    found = lines(
        read(0, "file", (15.6, 4.6), measured=False), read(1, "local", (9.4, 9.2)),
        stood_in=StandIns(("file", "fastfile"), {"ingestion": {"local": "FSx"}}),
    )  # fmt: skip
    assert found == [
        "From epoch 3 on file (emulated) is cheaper than local (for FSx) (dataset=large); a later epoch is the first without listing and "
        "download; not decided: emulated."
    ]


def test_of_very_many_pairs_the_first_are_said():
    many = [read(number, f"late{number}", (20 + number, 1)) for number in range(8)]
    found = lines(*many, read(9, "early", (1, 9)))
    assert len(found) == 7
    assert found[-1] == "... and 2 more pairs"
