"""Who is let in and who is not, over the socket: other users, web pages, earlier runs; and what is left for others to read."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from backends.emulator import Emulator
from backends.emulator.core.credentials import Credentials
from tests.backends.emulator.asking import ask, ask_signed, control, exported, signed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
TARGET = {"X-Amz-Target": "SageMaker.CreateTrainingJob", "Content-Type": "application/x-amz-json-1.1"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
REQUESTS = {
    "training job": ("POST", "/", TARGET, b"{}"),
    "logs": ("POST", "/", {"X-Amz-Target": "Logs_20140328.DescribeLogGroups"}, b"{}"),
    "unknown target": ("POST", "/", {"X-Amz-Target": "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken"}, b"{}"),
    "account": ("POST", "/", FORM, b"Action=GetCallerIdentity&Version=2011-06-15"),
    "buckets": ("GET", "/", {}, b""),
    "object": ("PUT", "/bucket/key", {}, b"x"),
    "deletion": ("POST", "/bucket?delete", {"Content-Type": "text/plain"}, b"<Delete><Object><Key>k</Key></Object></Delete>"),
    "by address": ("GET", "/?X-Amz-Credential=a/b/us-east-1/iam/aws4_request", {}, b""),
    "control": ("POST", "/_emulator/faults", {"Content-Type": "application/json"}, b"[]"),
    "state": ("GET", "/_emulator/state", {}, b""),
}


def sent(bench, method, path, headers, body):
    return ask(f"{bench.emulator.endpoint_url}{path}", method, body, headers)


@pytest.mark.parametrize("name", REQUESTS)
def test_nobody_without_the_key_is_answered_anywhere(bench, name):
    status, answer, _ = sent(bench, *REQUESTS[name])
    assert status == 403, answer


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}],
    ids=["rebound name", "page", "page without a name", "request of a page"],
)
def test_no_web_page_is_answered_anywhere_and_none_may_read(bench, name, headers):
    method, path, own, body = REQUESTS[name]
    status, answer, found = sent(bench, method, path, {**own, **headers}, body)
    assert status == 403
    assert b"this server" in answer
    assert [field for field in found if field.startswith("access-control-")] == []


def test_a_page_is_refused_even_what_is_signed(bench):
    url = f"{bench.emulator.endpoint_url}/"
    headers = signed(bench.emulator.credentials, url, "POST", b"{}", {**TARGET, "Origin": "http://evil.example"}, service="sagemaker")
    assert ask(url, "POST", b"{}", headers)[0] == 403


def test_what_moto_answers_lets_no_page_read_it(bench):
    headers = {"X-Amz-Target": "AmazonEC2ContainerRegistry_V20150921.DescribeRepositories", "Content-Type": "application/x-amz-json-1.1"}
    status, _, found = ask_signed(bench.emulator.credentials, f"{bench.emulator.endpoint_url}/", "POST", b"{}", headers, service="ecr")
    assert status == 200
    assert [name for name in found if name.startswith("access-control-")] == []
    assert sent(bench, "OPTIONS", "/", {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}, b"")[0] >= 400


@pytest.mark.parametrize("kind", ["text/plain; x=json", "text/plain", "application/jsonp", "application/x-www-form-urlencoded", ""])
def test_control_calls_that_change_something_are_exact_json(bench, kind):
    assert control(bench.emulator.environment, "POST", "faults", [], kind)[0] == 415


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_control_calls_take_json(bench, kind):
    assert control(bench.emulator.environment, "POST", "faults", [], kind) == (200, {"added": 0})


def test_control_calls_want_the_key_and_the_secret(bench):
    environment = bench.emulator.environment
    assert control({**environment, "AWS_SECRET_ACCESS_KEY": "guessed"}, "GET", "state")[0] == 403
    assert control({**environment, "AWS_ACCESS_KEY_ID": "AKIAGUESSED"}, "GET", "state")[0] == 403
    assert control(environment, "GET", "state")[0] == 200


def test_a_request_of_an_earlier_run_is_refused_by_the_next_on_the_same_folder_and_port(tmp_path):
    with Emulator(tmp_path / "e") as first:
        url = f"{first.endpoint_url}/"
        headers = signed(
            first.credentials, url, "POST", b"{}", {**TARGET, "X-Amz-Target": "SageMaker.ListTrainingJobs"}, service="sagemaker"
        )
        assert ask(url, "POST", b"{}", headers)[0] == 200
        port = int(first.endpoint_url.rpartition(":")[2])
    with Emulator(tmp_path / "e", port) as second:
        status, answer, _ = ask(f"{second.endpoint_url}/", "POST", b"{}", headers)
        assert (status, json.loads(answer)["__type"]) == (403, "UnrecognizedClientException")


def test_whoever_guesses_the_name_of_a_key_does_not_have_its_secret(bench):
    guessed = Credentials(bench.emulator.credentials.access_key, "x" * 40)
    status, answer, _ = ask_signed(guessed, f"{bench.emulator.endpoint_url}/", "GET")
    assert (status, b"<Code>SignatureDoesNotMatch</Code>" in answer) == (403, True)


def test_credentials_that_a_role_gives_are_accepted_with_their_token(bench):
    made = bench.client("sts").assume_role(RoleArn="arn:aws:iam::123456789012:role/r", RoleSessionName="me")["Credentials"]
    found = Credentials(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])
    assert ask_signed(found, f"{bench.emulator.endpoint_url}/", "GET")[0] == 200
    assert ask_signed(Credentials(found.access_key, found.secret_key), f"{bench.emulator.endpoint_url}/", "GET")[0] == 400


def others_may(folder):
    """Return what other users could enter or read, below a folder that they can enter."""
    found = []
    for path in folder.iterdir():
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & 0o077:
            found.append(path.name)
    return found


def test_other_users_can_enter_nothing_that_it_keeps(tmp_path):
    given = tmp_path / "given"
    before = os.umask(0)
    try:
        with Emulator(given) as emulator:
            emulator.create_bucket("bucket")
            emulator.client("s3").put_object(Bucket="bucket", Key="k", Body=b"x")
            assert stat.S_IMODE(given.stat().st_mode) == 0o700
            assert others_may(given) == []
            assert others_may(given / "s3") == []
    finally:
        os.umask(before)


def test_a_folder_with_other_things_in_it_stays_as_it_is_and_what_is_put_there_is_closed(tmp_path):
    (tmp_path / "mine.txt").touch(mode=0o644)
    tmp_path.chmod(0o755)
    with Emulator(tmp_path):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
        assert set(others_may(tmp_path)) <= {"mine.txt"}


def test_what_a_killed_emulator_left_is_cleared_by_the_next(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    words = [sys.executable, "-m", "launch", "emulate"]
    with subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as killed:
        exported(killed.stdout)
        killed.send_signal(signal.SIGKILL)
    left = [path.name for path in tmp_path.glob("outrider-emulator-*")]
    assert len(left) == 1
    with subprocess.Popen(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        exported(running.stdout)
        assert [path.name for path in tmp_path.glob("outrider-emulator-*")] not in ([], left)
        assert len(list(tmp_path.glob("outrider-emulator-*"))) == 1
        running.send_signal(signal.SIGTERM)
        running.wait(90)
    deadline = time.monotonic() + 90
    while list(tmp_path.glob("outrider-*")):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_body_that_never_ends_is_not_kept_in_memory(bench):
    import socket

    port = int(bench.emulator.endpoint_url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 999999999999\r\nX-Amz-Target: SageMaker.Search\r\n\r\n"
        connection.sendall(head.encode())
        block = bytes(1 << 20)
        with pytest.raises(OSError, match=r"reset|pipe"):
            connection.sendall(block * 200)
