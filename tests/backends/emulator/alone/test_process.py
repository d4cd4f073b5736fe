"""The store's faults and counts, through the server of local runs."""

import http.client
import threading
import time

import pytest
from botocore.config import Config

from benchmarking.datasets import EmbeddedS3
from benchmarking.workloads.ingestion.served import served
from definitions.errors import UserError

pytestmark = pytest.mark.slow
BODY = bytes(range(256)) * 400  # 100 KiB


def client(server, attempts=1):
    import boto3

    keys = server.target
    config = Config(retries={"total_max_attempts": attempts, "mode": "standard"})
    return boto3.session.Session().client(
        "s3", endpoint_url=keys.endpoint_url, aws_access_key_id=keys.access_key, aws_secret_access_key=keys.secret_key,
        region_name="us-east-1", config=config,
    )  # fmt: skip


def got(server, key="a", attempts=1):
    return client(server, attempts).get_object(Bucket="outrider", Key=key)["Body"].read()


def with_object(server):
    client(server).put_object(Bucket="outrider", Key="a", Body=BODY)
    return server


def counted(server, requests):
    """Return the counts once so many requests are in them: each is counted when its answer has been sent."""
    deadline = time.monotonic() + 90
    while server.served()["requests"] < requests and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    return server.served()


def test_without_faults_all_is_as_fast_and_whole_as_ever(tmp_path):
    with EmbeddedS3(tmp_path) as server:
        assert got(with_object(server)) == BODY


def test_a_slow_store_takes_its_latency_and_its_rate(tmp_path):
    slow = {"kind": "slow", "operation": "GetObject", "latency_s": 0.2, "connection_bytes_per_s": 500_000}
    with EmbeddedS3(tmp_path, faults=[slow]) as server:
        with_object(server)
        began_s = time.monotonic()
        assert got(server) == BODY
        assert time.monotonic() - began_s >= 0.2 + len(BODY) / 500_000


@pytest.mark.parametrize("kind", ["truncate", "reset"])
def test_a_body_that_breaks_off_is_an_error_and_another_try_gets_it(tmp_path, kind):
    with EmbeddedS3(tmp_path, faults=[{"kind": kind, "operation": "GetObject", "times": 1, "share": 0.3}]) as server:
        with_object(server)
        with pytest.raises(Exception, match=r"IncompleteRead|reset|Connection broken|ended prematurely"):
            got(server)
        assert got(server) == BODY


def test_a_reset_is_no_orderly_end(tmp_path):
    with EmbeddedS3(tmp_path, faults=[{"kind": "reset", "operation": "GetObject", "key": "a"}]) as server:
        with_object(server)
        signed = client(server).generate_presigned_url("get_object", {"Bucket": "outrider", "Key": "a"})
        address, _, path = signed.removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(address)
        connection.request("GET", f"/{path}")
        with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
            connection.getresponse().read()
        connection.close()


def test_requests_bytes_and_the_servers_own_time_are_counted(tmp_path):
    with EmbeddedS3(tmp_path) as server:
        with_object(server)
        before = counted(server, 1)
        for _ in range(5):
            got(server)
        after = counted(server, 6)
        assert after["requests"] - before["requests"] == 5
        assert after["sent_bytes"] - before["sent_bytes"] == 5 * len(BODY)
        assert before["received_bytes"] == after["received_bytes"] >= len(BODY)
        assert 0 < after["cpu_ns"] - before["cpu_ns"] < 5e9
        for_jobs = served(server.environment)
        assert (for_jobs["requests"], for_jobs["sent_bytes"]) == (after["requests"], after["sent_bytes"])
        assert for_jobs["server_cpu_s"] == pytest.approx(after["cpu_ns"] / 1e9)


def test_a_fault_that_is_none_is_refused_before_the_server_starts(tmp_path):
    with pytest.raises(UserError, match="store_faults, fault 1: there is no kind 'slwo'"):
        EmbeddedS3(tmp_path, faults=[{"kind": "slwo"}])
    with pytest.raises(UserError, match="share is 1"):
        EmbeddedS3(tmp_path, faults=[{"kind": "truncate", "share": 1.0}])


def test_jobs_of_no_such_server_are_told_nothing():
    assert served({}) == served({"OUTRIDER_STORE_COUNTS": "/nowhere"}) == {}
