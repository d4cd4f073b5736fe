"""One place makes clients of AWS: what it is told arrives, and nothing else makes any."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from backends.common.aws_client import boto3_missing, is_loopback, make_client

ROOT = Path(__file__).parents[3]
KEYS = {"access_key": "key", "secret_key": "secret"}


def test_what_is_given_arrives():
    client = make_client("sagemaker", region="eu-west-1", attempts=3, connections=7, **KEYS)
    assert client.meta.region_name == "eu-west-1"
    assert client.meta.endpoint_url == "https://api.sagemaker.eu-west-1.amazonaws.com"
    assert (client.meta.config.retries["mode"], client.meta.config.retries["total_max_attempts"]) == ("standard", 3)
    assert (client.meta.config.max_pool_connections, client.meta.config.proxies) == (7, None)


def test_what_describes_a_service_is_read_once_by_all_clients(monkeypatch):
    import botocore.loaders
    import botocore.session

    # Tests have their own way to read it once.
    monkeypatch.setattr(botocore.session, "create_loader", botocore.loaders.create_loader)
    make_client("ecr", region="eu-west-1", **KEYS)
    read, load = [], botocore.loaders.JSONFileLoader.load_file
    monkeypatch.setattr(botocore.loaders.JSONFileLoader, "load_file", lambda self, path: read.append(path) or load(self, path))
    make_client("ecr", region="eu-west-1", **KEYS)
    assert read == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_no_proxy_stands_before_this_machine(host):
    client = make_client("logs", region="eu-west-1", endpoint_url=f"http://{host}:1", **KEYS)
    assert client.meta.config.proxies == {}


def test_buckets_of_other_servers_are_in_the_path_and_aws_has_them_in_the_host():
    other = make_client("s3", region="eu-west-1", endpoint_url="http://storage.example", **KEYS)
    assert other.generate_presigned_url("get_object", {"Bucket": "photos", "Key": "k"}).startswith("http://storage.example/photos/k")
    aws = make_client("s3", region="eu-west-1", **KEYS)
    assert "//photos.s3" in aws.generate_presigned_url("get_object", {"Bucket": "photos", "Key": "k"})


def test_only_this_machine_is_a_loopback():
    assert not any(is_loopback(url) for url in (None, "", "http://127.0.0.1.example", "https://sts.amazonaws.com"))


def test_nothing_else_makes_clients():
    """A workload's readers and its checkpoints do, as they run in containers that have nothing of ours."""
    found = set()
    for package in ("definitions", "backends", "benchmarking", "launch"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import) and any(alias.name == "boto3" for alias in node.names):
                    found.add(path.relative_to(ROOT).as_posix())
    in_jobs = {"checkpointing/stores/torch_object.py", "ingestion/stores/boto3_store.py"}
    assert found == {"backends/common/aws_client.py", *(f"benchmarking/workloads/{path}" for path in in_jobs)}


def test_a_missing_boto3_is_advised_in_one_form_whoever_needs_it():
    assert str(boto3_missing("upload of s3://b/k")).splitlines() == [
        "upload of s3://b/k",
        "  the package boto3 is not installed",
        "  in Outrider's folder: pip install '.[sagemaker]'",
    ]
    root = Path(__file__).parents[3]
    sources = [path for name in ("definitions", "backends", "benchmarking", "launch") for path in (root / name).rglob("*.py")]
    assert [path.name for path in sources if "pip install boto3" in path.read_text(encoding="utf-8")] == []
