"""Checkpoints wait for credentials, and for nothing else."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from backends.sagemaker.aws.errors import CloudError
from backends.sagemaker.aws.waiting_checkpoints import WaitingCheckpoints


class Store:
    """Answers listings: first with these error codes, then with one object."""

    def __init__(self, *codes):
        self.codes = list(codes)

    def list_objects_v2(self, **request):
        if self.codes:
            raise ClientError({"Error": {"Code": self.codes.pop(0), "Message": "no"}}, "ListObjectsV2")
        return {"Contents": [{"Key": request["Prefix"] + "state", "Size": 1}]}


def made(client, slept, renewed):
    return WaitingCheckpoints(lambda: client, "bucket", "prefix", "tag/x", renew=lambda: renewed.append(True), sleep=slept.append)


def test_expired_credentials_are_waited_for_and_looked_up_anew(caplog):
    slept, renewed = [], []
    assert made(Store("ExpiredToken", "ExpiredToken"), slept, renewed).exists("trial-0")
    assert (slept, len(renewed)) == ([15.0, 15.0], 2)
    assert "the run goes on by itself" in caplog.text


def test_a_refusal_is_none():
    with pytest.raises(CloudError, match="AccessDenied"):
        made(Store("AccessDenied"), [], []).exists("trial-0")
