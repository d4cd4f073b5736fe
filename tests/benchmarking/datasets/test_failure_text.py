"""What is said of a failed call of S3."""

import pytest

from benchmarking.datasets.s3target import S3Target, failure_text, list_objects, put_object
from definitions.errors import UserError


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("NoSuchBucket", "create the bucket"),
        ("404", "create the bucket"),
        ("AccessDenied", "s3:GetObject"),
        ("PermanentRedirect", "region"),
        ("ExpiredToken", "renew"),
        ("NoCredentialsError", "aws configure"),
        ("EndpointConnectionError", "HTTPS_PROXY"),
        ("SlowDown", "a little later"),
        ("Strange", "check the bucket's name"),
    ],
)
def test_each_code_has_its_advice(code, advice):
    assert advice in failure_text(code, "m")[1]


def test_the_fact_has_code_and_message_and_no_account():
    said, _ = failure_text("AccessDenied", "User: arn:aws:iam::123456789012:user/x is not authorized")
    assert said == "AccessDenied: User: arn:aws:iam::<account>:user/x is not authorized"
    assert failure_text("404", "")[0] == "404"


class Refusing:
    def __init__(self, code):
        self.code = code

    def put_object(self, **_):
        from botocore.exceptions import ClientError

        raise ClientError({"Error": {"Code": self.code, "Message": "no"}}, "PutObject")


def test_a_refused_call_says_what_was_asked_what_is_true_and_what_to_do(monkeypatch):
    monkeypatch.setattr(S3Target, "client", lambda self: Refusing("AccessDenied"))
    with pytest.raises(UserError, match=r"upload of s3://b/datasets/k[\s\S]*AccessDenied: no[\s\S]*s3:PutObject"):
        put_object("k", b"x", S3Target("b"))


def test_what_gets_no_answer_is_named_by_its_kind(monkeypatch):
    from botocore.exceptions import EndpointConnectionError

    def client(self):
        raise EndpointConnectionError(endpoint_url="http://127.0.0.1:1")

    monkeypatch.setattr(S3Target, "client", client)
    with pytest.raises(UserError, match=r"data set s3://b/d/[\s\S]*EndpointConnectionError: Could not connect[\s\S]*check the network"):
        list_objects("s3://b/d/", S3Target("b"))
