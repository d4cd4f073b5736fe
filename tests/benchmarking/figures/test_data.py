"""Figures hold finite numbers only, and become JSON with a version."""

from __future__ import annotations

import json
import math

import pytest

from benchmarking.figures.data import (
    SCHEMA_VERSION,
    BarStack,
    Curve,
    Figure,
    LinePanel,
    PlotAxis,
    PointGroup,
    TablePanel,
    as_json,
)


def test_what_cannot_be_drawn_is_refused_where_it_is_made():
    with pytest.raises(ValueError, match="nan cannot be drawn"):
        Curve("a", (1.0, 2.0), (1.0, math.nan))
    with pytest.raises(ValueError, match="inf cannot be drawn"):
        PointGroup("a", (1.0,), (1.0,), y_low=(-math.inf,))
    with pytest.raises(ValueError, match=r"2 places, but \{'y': 1\}"):
        Curve("a", (1.0, 2.0), (1.0,))
    with pytest.raises(ValueError, match=r"1 places, but \{'low': 2\}"):
        BarStack("a", (1.0,), low=(0.0, 1.0))


def test_a_document_names_its_version_and_the_kind_of_each_panel():
    panel = LinePanel("p", PlotAxis("time", "s"), PlotAxis("loss", better="min"), (Curve("RS", (1.0,), (2.0,)),))
    found = json.loads(as_json([Figure("k", "Title", (panel, TablePanel("t", ("a",), ((None,), ("ä</script>",)))), names={"x…": "xyz"})]))
    assert found["schema_version"] == SCHEMA_VERSION == 1
    (figure,) = found["figures"]
    assert [one["panel"] for one in figure["panels"]] == ["line", "table"]
    assert figure["panels"][0]["x"] == {"title": "time", "unit": "s", "log": False, "categories": [], "better": "", "shown": None}
    assert figure["panels"][0]["curves"][0]["y"] == [2.0]
    assert figure["panels"][1]["rows"] == [[None], ["ä</script>"]]
    assert figure["names"] == {"x…": "xyz"}
