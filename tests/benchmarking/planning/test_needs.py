import sys

import pytest

from benchmarking.planning.needs import WORKLOADS, here, missing_text, packages_of
from definitions.ingestion import ingestion
from tests.benchmarking.experiments import definition


def needed(name, layout="files", source_dir=str(WORKLOADS), emulated=False, **settings):
    return packages_of(definition(source_dir=source_dir), ingestion(name), layout, settings, is_emulated=emulated)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (needed("local"), ()),
        (needed("local", "table"), ("pyarrow",)),
        (needed("local", "table", source_dir="/elsewhere"), ()),  # who knows what it reads tables with
        (needed("fastfile", emulated=True), ("s3torchconnector",)),
        (needed("fastfile"), ()),
        (needed("webdataset", "shards", source_dir="/elsewhere"), ("webdataset", "s3torchconnector")),
        (needed("litdata", "chunks"), ("litdata", "boto3")),
        (needed("memory", "chunks"), ("litdata",)),
        (needed("local", loader="stateful"), ("torchdata",)),
        (needed("local", loader="torch"), ()),
        (needed("uri", source_dir="/elsewhere", loader="stateful"), ()),
    ],
)
def test_what_a_trial_takes_and_no_more(found, expected):
    assert found == expected


def test_what_is_missing_is_said_with_what_to_do():
    entry = ingestion("litdata")
    there = {"boto3"}.__contains__
    said = missing_text("litdata", entry, ("litdata", "boto3"), there, there)
    assert said == "ingestion 'litdata' needs what is not installed: pip install litdata"
    assert missing_text("litdata", entry, ("boto3",), there, there) is None
    assert "the program mount-s3" in missing_text("mountpoint", ingestion("mountpoint"), (), there, there)
    assert missing_text("mountpoint", ingestion("mountpoint"), (), there, {"mount-s3"}.__contains__) is None


def test_this_interpreter_is_looked_into():
    assert here(None)("pytest")
    assert not here(None)("none_such")
    assert here(sys.executable)("pytest")


@pytest.mark.slow
def test_the_interpreter_of_jobs_is_asked_where_it_is_another(tmp_path):
    """A script that answers like an interpreter which has one package alone."""
    other = tmp_path / "python"
    other.write_text('#!/bin/sh\n[ "$3" = "there" ]\n')
    other.chmod(0o755)
    assert here(str(other))("there")
    assert not here(str(other))("pytest")
    assert here(str(tmp_path / "missing"))("anything")  # that it does not start is told by who starts it
