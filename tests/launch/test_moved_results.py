"""Results that cannot be written, or are elsewhere by now."""

from __future__ import annotations

import csv
import os
import subprocess

import pytest

from launch.__main__ import main

pytestmark = pytest.mark.slow


def test_what_cannot_be_written_goes_elsewhere_and_is_read_all_the_same(toy, run, capfd, monkeypatch):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "t")[0] == 0
    folder = toy.experiment("t")
    (folder / "trials.csv").unlink()
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: real(path, mode) and not str(path).startswith("results"))
    assert main(["export", "t"]) == 2
    assert "--output DIR writes the files elsewhere" in capfd.readouterr().err
    assert main(["export", "t", "--output", "out"]) == 0
    with (toy.folder / "out" / "toy" / "RS-local-0" / "trials.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 4
    (toy.results / "t" / "best.yaml").mkdir()
    assert main(["best", "t"]) == 2
    said = capfd.readouterr()
    assert "loss: " in said.out
    assert "--output FILE writes it elsewhere" in said.err
    assert main(["best", "t", "--output", "best.yaml"]) == 0
    assert run("--benchmark", "best.yaml", "--experiment_tag", "again")[0] == 0


def test_a_source_that_was_moved_is_named_with_both_ways_on(toy, run, tmp_path):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "t")[0] == 0
    source = tmp_path / "source"
    source.mkdir()
    (toy.folder / "toy.py").rename(source / "toy.py")
    (toy.folder / "toy.yaml").write_text(
        (toy.folder / "toy.yaml").read_text(encoding="utf-8") + f"source_dir: {source}\n", encoding="utf-8"
    )
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "u")[0] == 0
    source.rename(tmp_path / "moved")
    code, _, err = run("--resume", "u", "--max_num_trials", "5")
    assert code == 2
    assert f"its source folder {source} is gone" in err
    kept = err.rpartition("--set source_dir=")[2].strip()
    # The same code by content, so that nothing has to be accepted.
    assert run("--resume", "u", "--max_num_trials", "5", "--set", f"source_dir={tmp_path / 'moved'}")[0] == 0
    assert run("--resume", "u", "--max_num_trials", "6", "--set", f"source_dir={kept}")[0] == 0


def test_a_script_that_is_gone_from_its_folder_is_named_with_both_ways_on(toy, run):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "t")[0] == 0
    (toy.folder / "toy.py").unlink()
    code, _, err = run("--resume", "t", "--max_num_trials", "5")
    assert code == 2
    assert f"its script toy.py is no longer in {toy.folder}" in err
    kept = err.rpartition("--set source_dir=")[2].strip()
    assert run("--resume", "t", "--max_num_trials", "5", "--set", f"source_dir={kept}")[0] == 0


def test_the_line_to_paste_of_a_trial_is_of_where_its_results_are_now(toy, run, capfd):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "t")[0] == 0
    toy.results.rename(toy.folder / "archive")
    assert main(["logs", "t", "--trial", "0", "--results_dir", "archive"]) == 0
    line = capfd.readouterr().err.rpartition("command: ")[2]
    assert str(toy.results) not in line
    assert line.startswith(f"cd {toy.folder / 'archive'}/t/toy/RS-local-0/jobs/")
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert "[tune-metric]" in done.stdout, done.stderr
