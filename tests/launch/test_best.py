"""`outrider best`: the exact winner, and running it again."""

from __future__ import annotations

import csv
import re

import pytest

from definitions.errors import EXIT_USAGE
from launch.__main__ import main

pytestmark = pytest.mark.slow


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_winner_is_exact_and_its_definition_runs_again(toy, run, capfd):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "b", "--num_seeds", "2")[0] == 0
    found = [row for seed in (0, 1) for row in rows(toy.experiment("b", seed=seed) / "trials.csv")]
    best = min(found, key=lambda row: float(row["last_loss"]))
    assert main(["best", "b"]) == 0
    out = capfd.readouterr().out
    assert f"  x: {float(best['x'])!r}\n" in out
    assert f"\nloss: {float(best['last_loss'])!r}\n" in out
    words = re.search(r"run it again: .*? run (.*)", out)[1].split()
    assert words == ["--benchmark", "results/b/best.yaml", "--backend", "local"]
    assert run(*words, "--experiment_tag", "again")[0] == 0
    again = rows(toy.experiment("again", "LISTED") / "trials.csv")
    assert [(row["x"], row["last_loss"]) for row in again] == [(best["x"], best["last_loss"])]


def test_rerun_measures_it_so_often(toy, run, capfd):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "b", "--max_num_trials", "2")[0] == 0
    assert main(["best", "b", "--rerun", "--repeats", "3", "--experiment_tag", "again"]) == 0
    assert [row["repeat"] for row in rows(toy.experiment("again", "LISTED") / "trials.csv")] == ["0", "1", "2"]


def test_no_winner_is_said_and_flags_of_run_need_rerun(toy, run, capfd):
    run("--benchmark", "toy.yaml", "--experiment_tag", "f", "--set", "arguments.fail_above=-1")
    capfd.readouterr()
    assert main(["best", "f"]) == EXIT_USAGE
    assert "nothing wins" in capfd.readouterr().err
    assert main(["best", "f", "--repeats", "3"]) == EXIT_USAGE
    assert not (toy.results / "f" / "best.yaml").exists()


def test_a_winner_whose_source_changed_runs_from_what_was_kept(toy, run, capfd):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "b")[0] == 0
    best = min(rows(toy.experiment("b") / "trials.csv"), key=lambda row: float(row["last_loss"]))
    script = toy.folder / "toy.py"
    script.write_text(script.read_text(encoding="utf-8").replace("1 / epoch)", "1 / epoch + 100)"), encoding="utf-8")
    assert main(["best", "b", "--rerun", "--experiment_tag", "again"]) == 0
    assert f"what was measured is kept in {toy.experiment('b').relative_to(toy.folder)}/source/" in capfd.readouterr().out
    assert rows(toy.experiment("again", "LISTED") / "trials.csv")[0]["last_loss"] == best["last_loss"]
    assert main(["best", "b", "--rerun", "--experiment_tag", "now", "--present_source"]) == 0
    assert float(rows(toy.experiment("now", "LISTED") / "trials.csv")[0]["last_loss"]) > 100
    script.unlink()
    assert main(["best", "b", "--rerun", "--experiment_tag", "gone"]) == 0
    assert "there is no source in" in capfd.readouterr().out
    assert rows(toy.experiment("gone", "LISTED") / "trials.csv")[0]["last_loss"] == best["last_loss"]


def test_a_winner_with_lists_and_mappings_runs_again_as_it_was_written(tmp_path, run, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUTRIDER_LEASES", str(tmp_path / "leases"))
    (tmp_path / "train.py").write_text(
        "import sys\nprint(sys.argv[1:])\nprint('loss:', len(sys.argv))\n",
        encoding="utf-8",
    )
    (tmp_path / "d.yaml").write_text(
        "name: d\nscript: train.py\nmethod: GRID\nmetrics: {loss: 'loss: (.+)'}\nobjectives: {loss: max}\n"
        "space: {hidden: {choice: [[64, 32], [8]]}, betas: {choice: [{b: [1e3, 2], a: null}]}, lr: {choice: [1e3]}}\n",
        encoding="utf-8",
    )
    assert run("--benchmark", "d.yaml", "--experiment_tag", "b")[0] == 0
    assert main(["best", "b", "--rerun", "--experiment_tag", "again"]) == 0
    out = capfd.readouterr().out
    assert "  hidden: [64, 32]\n  betas: {b: [1e3, 2], a: null}\n  lr: 1e3\n" in out
    lines = [path.read_text(encoding="utf-8").splitlines()[0] for path in sorted(tmp_path.glob("results/*/d/*/logs/*t0-a1.log"))]
    assert lines == ["""['--hidden', '64', '32', '--betas={"b":[1e3,2],"a":null}', '--lr=1e3']"""] * 2
