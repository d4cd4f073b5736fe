"""What a killed server leaves."""

from __future__ import annotations

import os

from backends.serving.leftovers import prefix_of, sweep


def test_regions_of_starters_that_are_gone_are_deleted_and_no_others(tmp_path):
    mine = prefix_of(os.getpid())
    later = f"outrider-{os.getpid()}-1-a"  # a process of this number that started at another time
    for name in (f"{mine}a", later, "outrider-999999999-5-b", "torch_1", "outrider-notes"):
        (tmp_path / name).write_text("")
    (tmp_path / "outrider-999999999-5-folder").mkdir()
    (tmp_path / "outrider-999999999-5-folder" / "socket").write_text("")
    assert sorted(sweep(tmp_path)) == sorted([later, "outrider-999999999-5-b", "outrider-999999999-5-folder"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([f"{mine}a", "outrider-notes", "torch_1"])
    assert sweep(tmp_path, mine) == [f"{mine}a"]
    assert sweep(tmp_path / "none") == []
