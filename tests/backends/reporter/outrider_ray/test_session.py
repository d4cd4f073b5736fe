"""Reports and checkpoints of a trainable, as Outrider has them; no Ray is needed."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from outrider_ray.session import Checkpoints, TrialContext, TuneSession


class FolderCheckpoint:
    """As Ray's own: something with a folder in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextlib.contextmanager
    def as_directory(self):
        yield str(self.folder)


def session(folder: Path, **more) -> tuple[TuneSession, list[dict]]:
    told: list[dict] = []
    return TuneSession(lambda **metrics: told.append(metrics), Checkpoints(folder / "kept"), **more), told


def test_reports_are_numbered_and_the_way_they_were_called_before_is_known(tmp_path):
    made, told = session(tmp_path)
    made.report({"loss": 0.5, "eval": {"acc": 1}})
    made.report(loss=0.25)
    made.report({"loss": 0.1, "training_iteration": 30}, checkpoint_dir_name="x")
    assert told == [
        {"loss": 0.5, "eval/acc": 1, "training_iteration": 1},
        {"loss": 0.25, "training_iteration": 2},
        {"loss": 0.1, "training_iteration": 30},
    ]


def test_what_is_no_number_is_left_out_and_said_once(tmp_path, capsys):
    made, told = session(tmp_path)
    for _ in range(2):
        made.report({"loss": 1.0, "all": [1, 2], "config": {"lr": 1}, "hostname": "here", "none": None})
    assert told[1] == {"loss": 1.0, "training_iteration": 2}
    assert capsys.readouterr().err == "outrider_ray: all is a list, and left out of what is reported\n"


@pytest.mark.parametrize("result", [{"loss": 1.0, "done": True}, {"loss": 1.0, "acc": 0.99}, {"training_iteration": 5}])
def test_a_trial_is_over_when_it_says_so_or_has_reached_what_it_is_for(tmp_path, result):
    made, told = session(tmp_path, stop={"acc": 0.98, "training_iteration": 5})
    made.report({"loss": 1.0, "acc": 0.5})
    with pytest.raises(SystemExit) as ended:
        made.report(result)
    assert (ended.value.code, len(told)) == (0, 2)


def test_a_checkpoint_is_kept_before_its_report_in_place_of_the_one_before_and_gone_on_from(tmp_path):
    made, told = session(tmp_path)
    for number in (1, 2):
        folder = tmp_path / f"written{number}"
        folder.mkdir()
        (folder / "state").write_text(str(number))
        made.report({"loss": 1.0}, checkpoint=FolderCheckpoint(folder))
    made.report({"loss": 0.5})
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["checkpoint_00000002"]
    again, told = session(tmp_path)
    assert Path(again.checkpoints.newest()[1], "state").read_text() == "2"
    again.report({"loss": 0.4})
    assert told == [{"loss": 0.4, "training_iteration": 3}]


def test_a_checkpoint_that_fails_leaves_the_one_before(tmp_path):
    kept = Checkpoints(tmp_path)
    kept.keep(1, lambda folder: (folder / "state").write_text("1"))

    def fails(folder: Path) -> None:
        (folder / "state").write_text("2")
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        kept.keep(2, fails)
    assert kept.newest() == (1, tmp_path / "checkpoint_00000001")


def test_a_trial_is_one_process(monkeypatch):
    monkeypatch.setenv("OUTRIDER_TRIAL", "7")
    context = TrialContext()
    assert (context.get_trial_id(), context.get_world_size(), context.get_world_rank()) == ("7", 1, 0)


def test_a_checkpoint_that_was_copied_in_part_is_none(tmp_path):
    kept = Checkpoints(tmp_path)
    kept.keep(9, lambda folder: (folder / "state").write_text("9"))
    (tmp_path / "checkpoint_00000010").mkdir()
    (tmp_path / "checkpoint_00000010" / "state").write_text("1")
    assert kept.newest() == (9, tmp_path / "checkpoint_00000009")
