"""The questions that only an account can answer: what a look costs, and that the documentation has them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.emulator.smoke import PROBES, Probe, billed_s, compare
from definitions.instances import price_of

DOCS = Path(__file__).resolve().parents[4] / "docs" / "sagemaker.md"


def test_a_look_by_all_questions_costs_less_than_a_dollar():
    price = price_of("ml.m5.large", "us-east-1")
    assert 0.01 < billed_s(PROBES) / 3600 * price.usd_per_hour < 1.0


def test_the_cost_of_one():
    assert Probe("x", "?", "", "", None, 1800).cost_usd(0.5) == pytest.approx(0.25)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_the_documentation_has_each_with_what_is_assumed_and_why(probe):
    how = f"`{probe.name}`, {probe.billed_s:.0f} s" if probe.run is not None else "not to be shown"
    assert f"| {probe.asks} | {probe.assumed} | {probe.source} | {how} |" in DOCS.read_text(encoding="utf-8")


def test_names_are_given_once_and_differences_are_those_of_either_side():
    assert len({probe.name for probe in PROBES}) == len(PROBES)
    found = compare({"a": 1, "b": 2, "c": [1]}, {"a": 1, "b": 3, "d": 4})
    assert [(one.what, one.first, one.second) for one in found] == [("b", 2, 3), ("c", [1], None), ("d", None, 4)]
