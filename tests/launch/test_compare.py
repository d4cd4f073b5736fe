"""`outrider compare` from the outside."""

from __future__ import annotations

import csv
import io
import json
import resource
import shutil
from collections import Counter
from pathlib import Path

import pytest

from definitions.errors import EXIT_BUDGET, UserError
from launch.verbs.compare import main
from launch.verbs.status import main as status
from tests.benchmarking.archive.stored_folders import change_identity, copied


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


@pytest.mark.slow
def test_two_definitions_under_one_tag_are_refused_and_where_they_lie_together_named(compared, run, capfd):
    code, _, err = run("--benchmark", "toy.yaml", "--method", "RS", "--num_seeds", "2", "--start_seed", "3", "--experiment_tag", "c",
                       "--set", "fidelity.full=1", "--yes")  # fmt: skip
    assert code == 2
    assert "toy by another definition" in err
    assert "fidelity.full" in err
    assert not compared.experiment("c", seed=3).exists()
    # Somebody copied an experiment of another tag beside them.
    run("--benchmark", "toy.yaml", "--method", "RS", "--start_seed", "3", "--experiment_tag", "d", "--set", "fidelity.full=1")
    shutil.copytree(compared.experiment("d", seed=3), compared.experiment("c", seed=3))
    assert main(["c", "--results_dir", str(compared.results)]) == 0
    assert "warning: toy: not all alike in definition" in capfd.readouterr().out


@pytest.mark.slow
def test_a_thousand_experiments_are_compared_and_shown_with_few_files_open(tmp_path, capfd):
    first = copied(tmp_path, "repeated")
    for number in range(1, 1000):
        shutil.copytree(first, other := first.with_name(f"GRID-simulated-{number}"))
        change_identity(other, number=number)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limits[1], len([*Path("/proc/self/fd").iterdir()]) + 64), limits[1]))
    try:
        for _ in range(2):
            assert main(["repeated", "--results_dir", str(tmp_path / "results"), "--format", "json", "--expect_seeds", "1000"]) == 0
            (row,) = json.loads(capfd.readouterr().out)["rows"]
            # They ran exactly the same.
            assert (row["method"], row["seeds"]) == ("GRID", 1)
        assert status(["repeated", "--results_dir", str(tmp_path / "results"), "--format", "json"]) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert Counter(one["standing"] for one in json.loads(capfd.readouterr().out)["experiments"]) == {"killed": 1000}
