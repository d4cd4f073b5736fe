"""The source that a launched run measured is kept with its collected results, as one that ran here keeps its own."""

from __future__ import annotations

import contextlib
import dataclasses
import io

import pytest

from backends.sagemaker.code.packing import pack
from benchmarking.archive.code_version import code_version
from benchmarking.archive.folder import prepare_folder
from benchmarking.archive.kept_source import source_folder
from benchmarking.archive.stored import load
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.methods.registry import experiment_spec
from benchmarking.remote.launch_record import LaunchRecord, SentPackage
from definitions.resolve import Resolved
from launch.remote.collected_sources import bring_sources
from tests.backends.memory_store import MemoryStore
from tests.benchmarking.experiments import definition


@pytest.fixture
def laptop(tmp_path, monkeypatch):
    """A source on the launcher's machine, what was sent of it, and the experiment as its controller left it in S3."""
    monkeypatch.setattr("benchmarking.archive.environment._git", lambda folder: None)  # which would start a process
    source = tmp_path / "laptop"
    source.mkdir()
    (source / "fake.py").write_text("print(1)\n", encoding="utf-8")
    package = pack(source, [])
    content = io.BytesIO()
    package.write(content)
    shared = MemoryStore("s3://bucket/outrider")
    shared.put(f"code/{package.hash}/source.tar.gz", content.getvalue())
    record = LaunchRecord("t", "n", "now", "0", SentPackage("code/1/", "1"), {"fake": SentPackage(f"code/{package.hash}/", package.hash)})
    record.sources["fake"] = dataclasses.replace(record.sources["fake"], source_dir=str(source))
    resolved = Resolved(definition(source_dir=str(source), local={}), {}, "local")
    spec = experiment_spec(resolved, "RS", 0, "t", tmp_path / "results", {})
    prepare_folder(spec, {})
    with contextlib.closing(SqliteJournal(spec.folder / "journal.sqlite")) as journal:
        journal.append(1.0, "code", dataclasses.asdict(code_version(spec)))
        journal.commit()
    path = spec.folder / "definition.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(str(source), "/opt/ml/controller/sources/demo-1"), encoding="utf-8")
    return record, shared, spec, source


def test_it_is_kept_once_and_the_definition_names_it_by_where_it_was_launched(laptop):
    record, shared, spec, source = laptop
    said = []
    bring_sources(record, shared, spec.folder.parent.parent, said.append)
    kept = source_folder(spec.folder, code_version(spec).code)
    assert [path.name for path in kept.iterdir()] == ["fake.py"]
    assert load(spec.folder).spec.definition.source_dir == str(source)
    before = shared.calls.total()
    bring_sources(record, shared, spec.folder.parent.parent, said.append)
    assert shared.calls.total() == before
    assert said == []


def test_a_source_that_is_here_is_where_somebody_goes_on_with_it(laptop, tmp_path):
    record, shared, spec, _ = laptop
    here = tmp_path / "results" / ".launched" / "demo-1"
    here.mkdir(parents=True)
    path = spec.folder / "definition.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("/opt/ml/controller/sources/demo-1", f'"{here}"'), encoding="utf-8")
    bring_sources(record, shared, spec.folder.parent.parent, print)
    assert load(spec.folder).spec.definition.source_dir == str(here)


def test_another_source_than_was_measured_is_not_kept_as_if_it_were(laptop):
    record, shared, spec, _ = laptop
    with contextlib.closing(SqliteJournal(spec.folder / "journal.sqlite")) as journal:
        journal.append(2.0, "code", {"code": "01234567", "files": {}})
        journal.commit()
    bring_sources(record, shared, spec.folder.parent.parent, print)
    assert not (spec.folder / "source").exists()


def test_that_a_package_is_gone_is_said_and_ends_nothing(laptop):
    record, _, spec, source = laptop
    said = []
    bring_sources(record, MemoryStore("s3://bucket/outrider"), spec.folder.parent.parent, said.append)
    assert len(said) == 1
    assert said[0].startswith("the source of fake is not kept with the results: ")
    assert load(spec.folder).spec.definition.source_dir == str(source)
