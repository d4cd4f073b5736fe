"""A URI names a store, and the flag that says where a run's state is gets to every process of the run."""

from __future__ import annotations

import pickle
from base64 import b64decode
from unittest.mock import MagicMock

import pytest

from definitions.errors import UserError
from launch import crew_member
from launch.cli import parse_run
from launch.remote.stores import store_at
from launch.request import RunRequest

URI = "s3://bucket/outrider/runs/t"


def test_a_store_is_at_its_uri():
    assert store_at(URI + "/", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "eu-west-1").uri == URI
    with pytest.raises(UserError, match="s3://bucket/key"):
        store_at("bucket/runs", {})


def test_the_flag_is_part_of_what_is_asked_for():
    assert parse_run(["--benchmark", "demo"], {})[1].launched_remotely == ""
    assert parse_run(["--benchmark", "demo", "--launched_remotely", URI], {})[1].launched_remotely == URI


def test_a_crew_is_told(monkeypatch):
    told = {}
    monkeypatch.setattr(crew_member.subprocess, "Popen", MagicMock())
    for name in ("end_descriptor", "PipeLines"):
        monkeypatch.setattr(crew_member, name, MagicMock())
    monkeypatch.setattr(crew_member.CrewMember, "_send", lambda self, **order: told.update(order))
    crew_member.CrewMember(RunRequest(launched_remotely=URI), panel=False)
    assert pickle.loads(b64decode(told["request"])).launched_remotely == URI
