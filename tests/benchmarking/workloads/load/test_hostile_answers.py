"""Answers as no server should give them: each is an error of its kind, and none holds the load up."""

from __future__ import annotations

import json

import pytest

from tests.benchmarking.workloads.load.fake_endpoint import REFERENCE, FakeEndpoint, Reply, body_of, http, load, targets_document

pytestmark = pytest.mark.slow
OPEN = ("--load", "open", "--rate", 40, "--duration_s", 1, "--timeout_s", 0.8, "--arrivals", "constant")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body_of()), body_of())
NAN = body_of([{"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [float("nan"), 1.5]}])


def other(**change):
    return http(body=body_of([{"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [0.5, 1.5], **change}]))


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(((0.0, CHUNKED),)), ""),
        (Reply(((0.0, http(Connection="close")),), closes=True), ""),
        (Reply(((0.0, b"HTTP/1.0 200 OK\r\n\r\n" + body_of()),), closes=True), ""),
        (Reply(tuple((0.2, bytes([byte])) for byte in http())), "late"),
        (Reply(((0.0, http()[:-3]),), closes=True), "cut_off"),
        (Reply((), closes=True), "reset"),
        (Reply(((0.0, b"HTTP/1.1 200 OK\r\n\r\n"), *((0.01, b"x" * 1000) for _ in range(200)))), "late"),
        (Reply(((0.0, b"220 smtp.example\r\n\r\n"),)), "malformed"),
        (Reply(((0.0, http(body=b"")),)), "empty"),
        (Reply(((0.0, http(body=b"{")),)), "malformed"),
        (Reply(((0.0, other(shape=[2, 1])),)), "shape"),
        (Reply(((0.0, other(shape=[1, 0], data=[])),)), "shape"),  # 200 with empty tensors, as a stub under numpy 2 gives
        (Reply(((0.0, other(data=[0.5, 1.6])),)), "numbers"),
        (Reply(((0.0, http(body=NAN)),)), "numbers"),
        (Reply(((0.0, http(302, Location="/elsewhere")),)), "status_302"),
        (Reply(((0.0, http(424)),)), "model_error"),
        (Reply(((0.0, http(429)),)), "not_ready"),
    ],
)
def test_each_is_an_error_of_its_kind(tmp_path, reply, kind):
    # A machine that does other things may be late by itself, so that only what is meant to be late has a short time.
    time_out = () if kind == "late" else ("--timeout_s", 60)
    with FakeEndpoint(lambda asked: reply if asked.number > 4 else Reply()) as server:
        (found,) = load(server, tmp_path, *OPEN, *time_out, targets=targets_document(1, REFERENCE))
        if kind != "late":
            assert len(server.asked) == 41  # nothing is asked twice, and no redirect is followed
    errors = {name: count for name, count in found.items() if name.startswith("errors_")}
    if kind == "late":
        assert [*errors] == ["errors_late"]
        assert 36 <= errors["errors_late"] <= 40
    else:
        assert errors == ({f"errors_{kind}": 36} if kind else {})
        assert found["error_share"] == (0.9 if kind else 0.0)


def test_nobody_listens(tmp_path):
    with FakeEndpoint(lambda asked: Reply()) as server:
        pass
    with pytest.raises(SystemExit, match="first call ended as refused"):
        load(server, tmp_path, *OPEN)


def test_a_first_answer_that_is_wrong_is_said_before_any_load(tmp_path):
    with (
        FakeEndpoint(lambda asked: Reply(((0.0, http(400, json.dumps({"error": "expected 3 columns"}).encode())),))) as server,
        pytest.raises(SystemExit, match=r"target None.*status_400.*expected 3 columns"),
    ):
        load(server, tmp_path, *OPEN)


EXPIRED = http(400, b'{"message": "The security token included in the request is expired"}', x_amzn_ErrorType="ExpiredTokenException")


@pytest.mark.parametrize(
    ("words", "after"),
    [
        (OPEN, 10),
        (("--load", "users", "--ramp", "2@1@40"), 2),
        (("--load", "models"), 2),
        (("--slo_ms", 5000, "--percentile", 80, "--probe_s", 0.5, "--rate", 40), 10),  # while it is called without load
        (("--slo_ms", 5000, "--percentile", 80, "--probe_s", 0.5, "--rate", 40), 45),
    ],
)
def test_credentials_that_expire_under_load_are_no_figure_of_the_endpoint(tmp_path, words, after):
    with (
        FakeEndpoint(lambda asked: Reply(((0.0, http() if asked.number < after else EXPIRED),))) as server,
        pytest.raises(SystemExit, match=r"denied: .*security token included in the request is expired"),
    ):
        load(server, tmp_path, *words, targets=targets_document(4))


def test_who_is_not_ready_is_asked_again_before_the_load_alone(tmp_path):
    with FakeEndpoint(lambda asked: Reply(((0.0, http(429 if asked.number < 3 else 200)),))) as server:
        (found,) = load(server, tmp_path, *OPEN)
        assert len(server.asked) == 44
    assert found["error_share"] == 0.0


@pytest.mark.timeout(400)  # each is called in turn, and two threads take turns for it on a busy machine
def test_a_thousand_copies(tmp_path):
    with FakeEndpoint(lambda asked: Reply()) as server:
        (found,) = load(server, tmp_path, "--load", "open", "--rate", 200, "--duration_s", 1, targets=targets_document(1000))
        assert len({asked.target for asked in server.asked[:1000]}) == 1000
    assert found["error_share"] == 0.0


@pytest.mark.parametrize(("kind", "length"), [("json", 60), ("binary", 100)])
def test_payloads_of_either_form_arrive_whole(tmp_path, kind, length):
    with FakeEndpoint(lambda asked: Reply()) as server:
        load(server, tmp_path, *OPEN, "--payload", kind, "--payloads", 3, targets=targets_document(1, REFERENCE))
        bodies = {asked.body for asked in server.asked}
        head = server.asked[0].head.decode()
    assert len(bodies) == 3
    assert all(length < len(body) < 400 for body in bodies)
    assert ("json-header-size=" in head) == (kind == "binary")
