"""A verdict in words."""

from benchmarking.analysis.effects import Word
from benchmarking.analysis.verdict import Comparison, Measured, Ranking
from benchmarking.report.verdict_text import verdict_sentence


def configuration(number, *values):
    return Measured(number, {"x": number}, values)


def said(*comparisons, values=(0.5, 0.5), primary="loss", label=""):
    verdict = Ranking(configuration(3, *values), tuple(comparisons))
    return verdict_sentence(verdict, primary, ["x"], label)


def against(number, factor, interval, difference=0.1, word=None, more=None):
    decided = interval is not None and interval[0] > (1.0 if factor is not None else 0.0)
    return Comparison(
        configuration(number, 0.6), factor, difference, interval, word or (Word.BETTER if decided else Word.NOT_DECIDED), None, more
    )


def test_nothing_and_one():
    assert verdict_sentence(None, "loss", ["x"], "") == "No trial was completed, so there is no verdict on loss."
    assert said() == "Only configuration 3 (x=3) was completed: loss = 0.5000."


def test_prices_have_their_label_and_others_none():
    assert said(primary="cost_usd", label="nominal").endswith("cost_usd = 0.5000 (nominal price).")
    assert said(label="nominal").endswith("loss = 0.5000.")


def test_measured_once():
    text = said(against(1, 1.204, None))
    assert text.startswith("Best seen: configuration 3 (x=3): loss = 0.5000, 1.20x better than configuration 1. Each was measured once")


def test_decided_by_a_factor_or_by_a_difference():
    assert said(against(1, 1.204, (1.1, 1.3))) == (
        "Best: configuration 3 (x=3): loss = 0.5000, 1.20x better than the next, configuration 1 (95 % interval 1.10 to 1.30)."
    )
    assert said(against(1, None, (0.05, 0.15))).endswith("0.1000 better than the next, configuration 1 (95 % interval 0.05000 to 0.1500).")
    assert "123x better" in said(against(1, 123.4, (110.0, 130.0)))


def test_a_lead_of_less_than_half_a_percent_is_none():
    assert "no better than configuration 1 (95 % interval 0.90 to 1.10)" in said(against(1, 1.004, (0.9, 1.1)))
    assert "no better than" in said(against(1, 1.005, (0.9, 1.1)))  # what would be shown as 1.00
    assert "1.01x better" in said(against(1, 1.0051, (0.9, 1.1)))


def test_a_difference_of_nothing_is_no_lead():
    assert "accuracy = 0.5000, no better than configuration 1." in said(against(1, None, None, difference=0.0), primary="accuracy")
    assert "0.01000 better than configuration 1." in said(against(1, None, None, difference=0.01), primary="accuracy")


def test_tied_with_all_with_some_and_with_many():
    tie = [against(number, 1.1, (0.9, 1.3)) for number in range(1, 9)]
    assert said(*tie[:2]).startswith("Not decided: configuration 3 (x=3) leads with loss = 0.5000, but its lead over every other")
    mixed = said(*tie[:2], against(9, 2.0, (1.5, 2.5)))
    assert mixed == (
        "Configuration 3 (x=3) leads: loss = 0.5000. It is 2.00x better than configuration 9 (95 % interval 1.50 to 2.50); "
        "against 1, 2 it is not decided (nearest: 1.10x better (95 % interval 0.90 to 1.30))."
    )
    assert "against 1, 2, 4, 5, 6, 7, ... it" in said(
        *(against(number, 1.1, (0.9, 1.3)) for number in (1, 2, 4, 5, 6, 7, 8)), against(9, 2.0, (1.5, 2.5))
    )


def test_six_that_are_tied_are_all_named():
    tied = [against(number, 1.1, (0.9, 1.3)) for number in (1, 2, 4, 5, 6, 7)]
    assert "against 1, 2, 4, 5, 6, 7 it" in said(*tied, against(9, 2.0, (1.5, 2.5)))


def test_a_tie_is_no_lack_of_repeats_and_how_many_would_tell_is_said():
    assert said(against(1, 1.004, (0.995, 1.008), word=Word.TIE)) == (
        "A tie: configuration 3 (x=3) leads with loss = 0.5000, but none is worse by what would matter "
        "(no better than configuration 1 (95 % interval 0.99 to 1.01))."
    )
    assert said(against(1, 1.2, (0.9, 1.5), more=7)).endswith("About 7 repeats of each would tell these two apart.")
