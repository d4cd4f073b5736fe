"""What modules noted of their process, by modules made up."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from backends.processes.warm.noted_facts import NotedFacts


class _Odd(type):
    """A type whose module is no text, as types written in C may have it."""

    @property
    def __module__(cls) -> object:  # type: ignore[override]
        return object()


class _Thing(metaclass=_Odd):
    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise RuntimeError("looked at")


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.chdir(tmp_path)
    made = ModuleType("made_up")
    monkeypatch.setitem(sys.modules, "made_up", made)
    return made


def test_numbers_and_folders_are_renewed_and_what_is_equal_by_chance_is_not(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module.OWN_PID, module.BATCH, module.HERE, module.PLACE = os.getpid(), os.getpid(), str(tmp_path), tmp_path
    noted = NotedFacts()
    (tmp_path / "job").mkdir()
    monkeypatch.chdir(tmp_path / "job")
    monkeypatch.setattr(os, "getpid", lambda: 12345678)
    noted.renew()
    assert module.OWN_PID == 12345678
    assert module.BATCH != 12345678
    assert str(tmp_path / "job") == module.HERE
    assert tmp_path / "job" == module.PLACE


def test_objects_of_any_kind_are_passed_over(module: ModuleType) -> None:
    module.thing, module.kind = _Thing(), _Odd
    NotedFacts()
    assert isinstance(module.kind, type)
