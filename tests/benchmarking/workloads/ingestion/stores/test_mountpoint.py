import json
import os
from pathlib import Path

import pytest

from benchmarking.datasets import EmbeddedS3
from benchmarking.workloads.ingestion.stores.mountpoint import Mountpoint, command_of
from tests.benchmarking.workloads.ingestion.fake_mount import fake_mount

LOOPBACK = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_REGION": "eu-west-1"}


def test_the_command_mounts_a_prefix_read_only_until_its_end():
    assert command_of("s3://bucket/a/b", "/mnt", {}) == ["mount-s3", "bucket", "/mnt", "--read-only", "--foreground", "--prefix", "a/b/"]
    assert command_of("s3://bucket", "/mnt", {}) == ["mount-s3", "bucket", "/mnt", "--read-only", "--foreground"]
    found = command_of("s3://bucket/a/", "/mnt", LOOPBACK, "/cache")
    there = ["--endpoint-url", "http://127.0.0.1:9", "--force-path-style", "--region", "eu-west-1", "--cache", "/cache"]
    assert found[5:] == ["--prefix", "a/", *there]


def test_a_missing_program_is_said(tmp_path):
    with pytest.raises(SystemExit, match="needs the program mount-s3, which is not on the path"):
        Mountpoint("s3://bucket/a", {"PATH": str(tmp_path), "OUTRIDER_SCRATCH": str(tmp_path)})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_fake_mount_is_read_and_ended(tmp_path):
    with EmbeddedS3(tmp_path / "s3") as server:
        server.target.client().put_object(Bucket="outrider", Key="data/x/0.bin", Body=b"abc")
        environ = {**os.environ, **server.environment, **fake_mount(tmp_path / "fake"), "OUTRIDER_SCRATCH": str(tmp_path / "scratch")}
        mounted = Mountpoint("s3://outrider/data", environ, cached=True)
        assert (Path(mounted.folder) / "x" / "0.bin").read_bytes() == b"abc"
        given = json.loads((tmp_path / "fake" / "mount.json").read_text())
        assert given[:2] == ["outrider", mounted.folder]
        assert "--cache" in given
        mounted.close()
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.slow
def test_what_it_says_when_it_does_not_mount_is_said(tmp_path):
    program = tmp_path / "mount-s3"
    program.write_text("#!/bin/sh\necho 'Error: Failed to create S3 client: no credentials' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(SystemExit, match=r"mount-s3 does not mount s3://bucket/a: Error: Failed to create S3 client: no credentials"):
        Mountpoint("s3://bucket/a", {"PATH": f"{tmp_path}:/bin:/usr/bin", "OUTRIDER_SCRATCH": str(tmp_path / "scratch")})
    assert list((tmp_path / "scratch").iterdir()) == []
