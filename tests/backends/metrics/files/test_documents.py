"""A JSON file that is written whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backends.metrics.files.documents import JsonReader

WRITTEN = Path(__file__).parent / "written"


def test_the_object_of_each_version_is_a_report(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    reader = JsonReader(str(path))
    assert reader.read() == ([], False)
    path.write_text('{"loss": 0.5, "test": {"acc": 0.9}}')
    assert reader.read()[0] == [{"loss": 0.5, "test.acc": 0.9}]
    assert reader.read()[0] == []
    path.write_text('{"loss": 0.25}')
    path.touch()
    assert reader.finish(is_whole=True) == [{"loss": 0.25}]
    assert reader.unreadable == 0


def test_a_half_written_one_is_awaited_and_at_the_end_counted(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    reader = JsonReader(str(path))
    path.write_text('{"loss": 0.5')
    assert reader.read()[0] == []
    assert reader.finish(is_whole=True) == []
    assert reader.unreadable == 1
    path.write_text('{"loss": 0.5}')
    assert reader.finish(is_whole=True) == [{"loss": 0.5}]


def test_one_that_was_there_before_is_not_the_jobs_unless_it_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    path.write_text('{"loss": 9}')
    reader = JsonReader(str(path))
    reader.begin()
    assert reader.finish(is_whole=True) == []
    (tmp_path / "new").write_text('{"loss": 9}')
    (tmp_path / "new").replace(path)
    assert reader.read()[0] == [{"loss": 9}]


def test_a_growing_list_tells_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    reader = JsonReader(str(path))
    history: list[dict[str, Any]] = []
    found = []
    for epoch in range(4):
        history.append({"epoch": epoch, "loss": 1.0})
        path.write_text(json.dumps(history))
        found += reader.read()[0]
    assert [row["epoch"] for row in found] == [0, 1, 2, 3]


def test_the_state_of_transformers_trainer(tmp_path: Path) -> None:
    found, _ = JsonReader(str(WRITTEN / "transformers" / "trainer_state.json")).read()
    assert found[1] == {"epoch": 1.0, "eval_accuracy": 0.7, "eval_loss": 0.6, "step": 10}
    assert len(found) == 4


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"loss": [3, 2], "acc": [0.1, 0.2]}, [{"loss": 3, "acc": 0.1}, {"loss": 2, "acc": 0.2}]),
        ({"loss": 1, "sizes": [3, 4]}, [{"loss": 1}]),
        ([1, 2], []),
        (5, []),
    ],
)
def test_forms(tmp_path: Path, content: Any, expected: list[Any]) -> None:
    (tmp_path / "m.json").write_text(json.dumps(content))
    reader = JsonReader(str(tmp_path / "m.json"))
    assert reader.read()[0] == expected
    assert reader.unreadable == (not expected)
