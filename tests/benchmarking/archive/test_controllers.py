"""Generations of a run's controllers, kept with its results."""

from __future__ import annotations

import json

import pytest

from benchmarking.archive.controllers import CONTROLLERS_FILE, PastGeneration, read_generations, write_generations

ONE = PastGeneration(1, 1, "ctl-g1", 100.0, 160.0, 0.5, is_billed=True)
TWO = PastGeneration(1, 2, "ctl-g2", 170.0)


def test_what_is_written_is_read(tmp_path):
    write_generations(tmp_path, [ONE, TWO])
    assert read_generations(tmp_path) == (ONE, TWO)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"generations": [{"job": "x"}]}', '{"generations": 3}'])
def test_what_cannot_be_read_is_no_reason_to_fail(tmp_path, text):
    assert read_generations(tmp_path) == ()
    (tmp_path / CONTROLLERS_FILE).write_text(text)
    assert read_generations(tmp_path) == ()


def test_what_a_later_version_adds_is_passed_over(tmp_path):
    write_generations(tmp_path, [ONE])
    path = tmp_path / CONTROLLERS_FILE
    document = json.loads(path.read_text())
    document["generations"][0]["new"] = 1
    path.write_text(json.dumps(document))
    assert read_generations(tmp_path) == (ONE,)
