"""Answers as S3 can and the emulator does not."""

from __future__ import annotations

from botocore.exceptions import ClientError


class FakeClient:
    """An S3 client whose answers are given beforehand, by operation; `asked` is what it was asked."""

    def __init__(self, **answers):
        self.answers, self.asked = answers, []

    def __getattr__(self, operation):
        def call(**request):
            self.asked.append((operation, request))
            answer = self.answers[operation].pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


def refused(code, status=400, operation="HeadBucket", **headers):
    answer = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": headers}}
    return ClientError(answer, operation)
