"""`outrider compare` from the outside."""

from __future__ import annotations

import csv
import io
import json

import pytest

from definitions.errors import EXIT_BUDGET, UserError
from launch.verbs.compare import main


@pytest.fixture
def compared(toy, run):
    """Two methods, two seeds each, under one tag."""
    # GRID has more to try than its budget lets it.
    assert run("--benchmark", "toy.yaml", "--method", "RS", "GRID", "--num_seeds", "2", "--experiment_tag", "c", "--yes")[0] == EXIT_BUDGET
    return toy


@pytest.mark.slow
def test_methods_are_compared_by_tag_and_by_folder(compared, capfd):
    def said(*words: str) -> str:
        assert main([*words, "--results_dir", str(compared.results)]) == 0
        return capfd.readouterr().out

    out = said("c")
    assert "GRID and RS: " in out
    assert said(str(compared.results)) == out
    rows = list(csv.DictReader(io.StringIO(said("c", "--format", "csv"))))
    known = json.loads(said("c", "--format", "json", "--x", "wallclock"))
    assert [row["method"] for row in rows] == [row["method"] for row in known["rows"]] == ["RS", "GRID"]
    assert known["rows"][0]["budget"].startswith("after ")
    assert "| toy | GRID |" in said("c", "--format", "md")


@pytest.mark.slow
def test_what_cannot_be_read_is_said_and_the_rest_compared(compared, capfd):
    (compared.experiment("c", method="GRID") / "experiment.json").write_text("{", encoding="utf-8")
    assert main(["c", "--results_dir", str(compared.results)]) == 0
    out, err = capfd.readouterr()
    assert "warning: left out: " in err
    assert "GRID" in out


def test_an_unknown_tag_is_named(tmp_path):
    with pytest.raises(UserError, match="compare x: there is nothing of this tag"):
        main(["x", "--results_dir", str(tmp_path)])
