"""The list of what a forked job has as a new interpreter gives it; each is asked in both."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from backends.failures import Outcome
from tests.backends.local_bench import LocalBench
from tests.backends.processes.warm import fresh_interpreter as asked

pytestmark = pytest.mark.slow

Answers = dict[str, dict[str, str]]

ALL = {**asked.FRESH, **{f"each time: {name}": text for name, text in asked.DIFFERENT_EACH_TIME.items()}, **asked.CANNOT_BE_FRESH}


def answers_of(bench: LocalBench, *names: str) -> Answers:
    imports = ", ".join(asked.MODULES_ASKED.split())
    (bench.folder / "noted.py").write_text(asked.NOTED.format(imports=imports))
    code = asked.SCRIPT.format(imports=imports, asked=json.dumps(ALL))
    fields: dict[str, Any] = {"environment": {"MINE": "a b\n", "TEST_CONTROLLER": str(os.getpid())}, "configuration": {"x": 1}}
    script = bench.job("script", code, "--a", "x  y", "", **fields)
    found = {}
    for name in names:
        assert bench.end_of(dataclasses.replace(script, name=name)).outcome is Outcome.COMPLETED
        text = (bench.folder / "experiment" / "jobs" / name / "answers.json").read_text()
        found[name] = json.loads(text.replace(str(bench.folder), "FOLDER").replace(name, "NAME"))
    return found


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """The answers of three jobs of one worker."""
    bench = LocalBench(tmp_path_factory.mktemp("warm"), preload=("noted",))
    try:
        found = answers_of(bench, "job-1", "job-2", "job-3")
        assert bench.backend._runner._starter._worker is not None
        return found
    finally:
        bench.backend.close()


@pytest.fixture(scope="module")
def anew(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The answers of a job of its own interpreter."""
    bench = LocalBench(tmp_path_factory.mktemp("cold"))
    try:
        return answers_of(bench, "job-1")["job-1"]
    finally:
        bench.backend.close()


@pytest.mark.parametrize("name", asked.FRESH)
def test_a_forked_job_has_it_as_a_new_interpreter_does(forked: Answers, anew: dict[str, str], name: str) -> None:
    assert [one[name] for one in forked.values()] == [anew[name]] * 3


@pytest.mark.parametrize("name", asked.DIFFERENT_EACH_TIME)
def test_what_is_drawn_by_chance_is_drawn_by_each_job(forked: Answers, name: str) -> None:
    found = [one[f"each time: {name}"] for one in forked.values()]
    assert len({*found}) == 3
    assert not any("Error" in one for one in found)


@pytest.mark.parametrize("name", asked.CANNOT_BE_FRESH)
def test_what_cannot_be_fresh_is_known_and_written_down(forked: Answers, anew: dict[str, str], name: str) -> None:
    expected = {"environ as others see it": ("False", "True"), "seed of hashes": ("True", "True")}.get(name, ("True", "False"))
    assert (forked["job-2"][name], anew[name]) == expected
    page = Path(__file__).parents[4].joinpath("docs", "calling.md").read_text(encoding="utf-8")
    assert name in page
