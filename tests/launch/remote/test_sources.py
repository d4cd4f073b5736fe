"""Sources in place: what was packed is what is found, wherever it goes on, and nothing has to be uploaded anew."""

from __future__ import annotations

import dataclasses
import io
import json
import tarfile

import pytest

from backends.sagemaker.code.packing import pack
from benchmarking.archive.environment import describe_environment
from benchmarking.remote.launch_record import CommitState, LaunchRecord, SentPackage
from definitions.errors import UserError
from launch.remote.sources import place_sources, pointed
from tests.backends.memory_store import MemoryStore

TEXT = "name: mine\nscript: train.py\nsource_dir: /home/me/mine          # mine.yaml\nspace: {}\n"


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "laptop"
    (folder / "inner").mkdir(parents=True)
    (folder / "train.py").write_text("print(1)\n", encoding="utf-8")
    (folder / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (folder / "run.sh").chmod(0o755)
    (folder / "inner" / "link.py").symlink_to("../train.py")
    (folder / ".outriderignore").write_text("*.bin\n", encoding="utf-8")
    (folder / "large.bin").write_bytes(b"x" * 100)
    (folder / "secrets.yaml").write_text("key: 1\n", encoding="utf-8")
    return folder


@pytest.fixture
def sent(source):
    package = pack(source, ["secrets.yaml"])
    content = io.BytesIO()
    package.write(content)
    shared = MemoryStore("s3://bucket/outrider")
    shared.put(f"code/{package.hash}/source.tar.gz", content.getvalue())
    there = SentPackage(f"code/{package.hash}/", package.hash, str(source), CommitState("abc", True, "0123"))
    return shared, LaunchRecord("t", "n", "now", "0", SentPackage("code/1/", "1"), {"mine": there})


@pytest.fixture
def tag_folder(tmp_path):
    folder = tmp_path / "results" / "t"
    (folder / "mine" / "RS-sagemaker-0").mkdir(parents=True)
    (folder / "mine" / "RS-sagemaker-0" / "definition.yaml").write_text(TEXT, encoding="utf-8")
    (folder / "study.json").write_text(json.dumps({"schema_version": 1, "definitions": {"mine": TEXT, "other": TEXT}}), encoding="utf-8")
    return folder


def test_the_hash_inside_equals_the_one_outside(sent, tag_folder, tmp_path):
    shared, record = sent
    placed = place_sources(record, shared, tag_folder, tmp_path / "job")
    assert pack(placed["mine"], ["secrets.yaml"]).hash == record.sources["mine"].hash
    assert sorted(path.name for path in placed["mine"].iterdir()) == ["inner", "run.sh", "secrets.yaml", "train.py"]


def test_study_and_definitions_say_where_the_source_is(sent, tag_folder, tmp_path):
    shared, record = sent
    placed = place_sources(record, shared, tag_folder, tmp_path / "job")
    wanted = f"source_dir: {placed['mine']}\n"
    texts = json.loads((tag_folder / "study.json").read_text(encoding="utf-8"))["definitions"]
    assert wanted in texts["mine"]
    assert texts["other"] == TEXT
    assert wanted in (tag_folder / "mine" / "RS-sagemaker-0" / "definition.yaml").read_text(encoding="utf-8")


def test_what_git_said_on_the_launchers_machine_is_known(sent, tag_folder, tmp_path):
    shared, record = sent
    placed = place_sources(record, shared, tag_folder, tmp_path / "job")
    assert describe_environment(placed["mine"], {})["git"] == {"commit": "abc", "dirty": True, "diff": "0123"}


def test_again_it_asks_for_nothing(sent, tag_folder, tmp_path):
    shared, record = sent
    place_sources(record, shared, tag_folder, tmp_path / "job")
    before = shared.calls.total()
    place_sources(record, shared, tag_folder, tmp_path / "job")
    assert shared.calls.total() == before


def test_a_damaged_package_is_named_and_leaves_nothing(sent, tag_folder, tmp_path):
    shared, record = sent
    shared.put(f"{record.sources['mine'].key}source.tar.gz", b"no archive")
    with pytest.raises(UserError, match="the source of mine cannot be unpacked"):
        place_sources(record, shared, tag_folder, tmp_path / "job")
    assert not [path for path in (tmp_path / "job").iterdir() if "mine" in path.name]


def test_a_path_that_yaml_would_read_otherwise_is_quoted(tmp_path):
    assert pointed(TEXT, tmp_path / "a: b #c").splitlines()[2] == f"source_dir: '{tmp_path}/a: b #c'"


def test_data_lie_where_the_definition_says_where_nothing_is_there(sent, tag_folder, tmp_path):
    shared, record = sent
    folder, table = tmp_path / "gone" / "images", tmp_path / "gone" / "table.csv"
    for path, files in ((folder, {"a/1.jpg": b"1", "2.jpg": b"2"}), (table, {"table.csv": b"x,y\n"})):
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w:gz") as tar:
            for name, body in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(body)
                tar.addfile(info, io.BytesIO(body))
        shared.put(f"code/{path.name}/source.tar.gz", content.getvalue())
    data = {str(path): SentPackage(f"code/{path.name}/", path.name, str(path)) for path in (folder, table)}
    place_sources(dataclasses.replace(record, data=data), shared, tag_folder, tmp_path / "job")
    assert (folder / "a" / "1.jpg").read_bytes() == b"1"
    assert table.read_text(encoding="utf-8") == "x,y\n"
    # What is there already is left as it is.
    table.unlink()
    table.write_text("mine\n", encoding="utf-8")
    place_sources(dataclasses.replace(record, data=data), shared, tag_folder, tmp_path / "job")
    assert table.read_text(encoding="utf-8") == "mine\n"
