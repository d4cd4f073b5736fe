"""Folders of experiments, whole and damaged: what can be read is used, and the rest said."""

from __future__ import annotations

import pytest

from benchmarking.archive.stored import load
from benchmarking.comparison.from_csv import run_from_csv
from benchmarking.comparison.loading import load_experiments
from benchmarking.comparison.reading import read_run
from benchmarking.comparison.runs import Axis
from definitions import strict_json
from tests.benchmarking.archive.stored_folders import copied


def load_runs(folders):
    return load_experiments(folders, read_run, run_from_csv)


@pytest.fixture
def folders(tmp_path):
    return [copied(tmp_path / name, "repeated") for name in ("whole", "broken")]


def test_whole_folders_have_no_warning_and_say_which_dollars(folders):
    loaded = load_runs(folders)
    assert (len(loaded.found), loaded.warnings, loaded.error) == (2, [], None)
    assert {run.facts["dollars"] for run in loaded.found} == {"nominal"}


@pytest.mark.parametrize("left", [0, 7, 0.3, 0.6, 0.95])
def test_an_empty_or_half_copied_journal_is_said_and_the_csv_read_instead(folders, left):
    """Of the file its first bytes, as a number or a share."""
    broken = folders[1]
    (broken / "exported_trials.csv").rename(broken / "trials.csv")
    path = broken / "journal.sqlite"
    content = path.read_bytes()
    path.write_bytes(content[: left if isinstance(left, int) else int(len(content) * left)])
    for beside in broken.glob("journal.sqlite-*"):
        beside.unlink()
    loaded = load_runs(folders)
    assert loaded.found[0].measurements
    assert len(loaded.found) == 2
    assert len(loaded.warnings) == 1
    assert loaded.warnings[0].startswith("read from its CSV files, without pauses: ")
    assert "journal" in loaded.warnings[0]
    # Without CSV files it is left out, and the other is used.
    (broken / "trials.csv").unlink()
    without = load_runs(folders)
    assert (len(without.found), len(without.warnings)) == (1, 1)
    assert without.warnings[0].startswith("left out: ")


def test_the_csv_says_what_the_journal_does(folders):
    stored = load(folders[0])
    wanted = read_run(stored)
    (folders[0] / "journal.sqlite").unlink()
    for beside in folders[0].glob("journal.sqlite-*"):
        beside.unlink()
    (folders[0] / "exported_trials.csv").rename(folders[0] / "trials.csv")
    (found,) = load_runs(folders[:1]).found
    objective = next(iter(found.objectives))
    full = [one.values[objective] for one in wanted.measurements if one.full]
    assert [one.values[objective] for one in found.measurements] == pytest.approx(full)
    assert [one.wallclock for one in found.measurements] == pytest.approx(
        [one.wallclock for one in wanted.measurements if one.full], abs=1e-3
    )
    assert found.ends[Axis.TRIALS] == wanted.ends[Axis.TRIALS]
    assert found.ends[Axis.COST] == pytest.approx(wanted.ends[Axis.COST])
    assert sorted(one.repeat for one in found.trials) == [one.repeat for one in wanted.trials]
    assert found.trials[0].configuration == wanted.trials[0].configuration


def test_damaged_identities_leave_the_others(folders):
    (folders[1] / "experiment.json").write_text("{", encoding="utf-8")
    loaded = load_runs(folders)
    assert len(loaded.found) == 1
    assert loaded.warnings[0].startswith("left out: ")
    (folders[0] / "experiment.json").unlink()
    assert load_runs(folders).found == []
    assert load_runs(folders).error is not None


def test_real_dollars_are_told_from_others(folders):
    path = folders[0] / "experiment.json"
    path.write_text(strict_json.dumps({**strict_json.loads(path.read_text(encoding="utf-8")), "real_money": True}), encoding="utf-8")
    assert sorted(run.facts["dollars"] for run in load_runs(folders).found) == ["nominal", "real"]
