"""A script that changes between the sessions of one tag."""

from __future__ import annotations

import csv
import re
import shutil

import pytest

from launch.__main__ import main


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_resume_with_another_script_is_refused_and_accepted_marks_the_rows(toy, run, tmp_path):
    assert run("--benchmark", "toy.yaml", "--experiment_tag", "e")[0] == 0
    table = toy.experiment("e") / "trials.csv"
    before = table.read_bytes()
    assert "code" not in rows(table)[0]
    script = toy.folder / "toy.py"
    script.write_text(script.read_text(encoding="utf-8").replace("1 / epoch)", "1 / epoch + 100)"), encoding="utf-8")
    resume = ("--resume", "e", "--max_num_trials", "6")
    code, _, err = run(*resume)
    assert code == 2
    assert "toy.py" in err
    assert "--accept_changes" in err
    assert table.read_bytes() == before
    code, out, err = run(*resume, "--accept_changes")
    assert code == 0
    assert "the code changed: trials from now on measure version" in err
    found = rows(table)
    codes = [row["code"] for row in found]
    assert codes == [codes[0]] * 4 + [codes[5]] * 2
    assert codes[0] != codes[5]
    assert [float(row["last_loss"]) > 100 for row in found] == [False] * 4 + [True] * 2
    assert out.startswith("The code changed on the way, so there is no winner across its versions. Best of ")
    best = [min(float(row["last_loss"]) for row in found if row["code"] == code) for code in (codes[0], codes[5])]
    told = re.findall(r"loss = (\d+\.\d+)", out.splitlines()[0])
    assert [float(value) for value in told] == pytest.approx(best, rel=1e-3)
    reports = rows(table.with_name("reports.csv"))
    assert {(row["trial"], row["code_version"]) for row in reports} == {(row["trial"], row["code"]) for row in found}
    # Once accepted it is the version that the next resume compares with.
    assert run("--resume", "e", "--max_num_trials", "7")[0] == 0
    # Elsewhere, with the script gone, the journal alone gives the same table.
    want = table.read_bytes()
    shutil.move(tmp_path / "results", tmp_path / "moved")
    script.unlink()
    moved = tmp_path / "moved" / "e" / "toy" / "RS-local-0" / "trials.csv"
    moved.unlink()
    assert main(["export", "e", "--results_dir", str(tmp_path / "moved")]) == 0
    assert moved.read_bytes() == want
