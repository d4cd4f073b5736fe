"""Folders of a test's own for what Syne Tune and Outrider keep."""

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNETUNE_FOLDER", str(tmp_path / "syne-tune"))
    monkeypatch.setenv("OUTRIDER_CACHE", str(tmp_path / "cache"))
