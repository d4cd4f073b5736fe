import pytest

from benchmarking.workloads.load.signing import KeySigner, SigV4Signer, sha256_of


def test_a_key_is_shown_where_there_is_one():
    assert KeySigner("k").headers("http://h/", {"A": "b"}, "") == {"A": "b", "X-Outrider-Key": "k"}
    assert KeySigner("").headers("http://h/", {"A": "b"}, "") == {"A": "b"}


def test_requests_are_signed_for_the_service():
    credentials = pytest.importorskip("botocore.credentials").Credentials("AKIDEXAMPLE", "secret", "token")
    headers = SigV4Signer("eu-west-1", credentials).headers("https://h.example/endpoints/e/invocations", {"A": "b"}, sha256_of(b"x"))
    assert "/eu-west-1/sagemaker/aws4_request" in headers["Authorization"]
    assert headers["X-Amz-Security-Token"] == "token"
    assert headers["X-Amz-Content-SHA256"] == sha256_of(b"x")
    assert headers["A"] == "b"
