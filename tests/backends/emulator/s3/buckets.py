"""What tests of S3 do with a bucket."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError


def put(bench, box, *keys):
    """Put objects that hold their keys."""
    for key in keys:
        bench.s3.put_object(Bucket=box, Key=key, Body=key.encode())


def code_of(call, **arguments):
    """Make a call that has to fail, and return its error's code and HTTP's status."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    return caught.value.response["Error"]["Code"], caught.value.response["ResponseMetadata"]["HTTPStatusCode"]
