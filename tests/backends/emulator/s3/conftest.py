"""A bucket for each test."""

from __future__ import annotations

import pytest


@pytest.fixture
def box(bench, request):
    name = f"box-{abs(hash(request.node.name)) % 10**8}"
    bench.s3.create_bucket(Bucket=name)
    return name
