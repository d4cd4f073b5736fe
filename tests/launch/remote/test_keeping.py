"""Where the state of a command's experiments is kept, by the URI that it is given."""

from __future__ import annotations

import pytest

from benchmarking.archive.keeper import FolderKeeper
from benchmarking.remote.keeping import StoreKeeper
from definitions.errors import UserError
from launch.remote.keeping import keeper_at


def test_without_a_uri_it_is_in_its_folders_alone():
    assert type(keeper_at("")) is FolderKeeper


def test_all_experiments_of_a_command_have_one_keeper_of_a_store(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    uri = "s3://bucket/outrider/runs/test-keeping"
    kept = keeper_at(uri)
    assert type(kept) is StoreKeeper
    assert keeper_at(uri) is kept


def test_what_is_no_uri_of_a_store_is_refused():
    with pytest.raises(UserError, match="somewhere"):
        keeper_at("somewhere")
