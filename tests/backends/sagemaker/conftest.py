"""An emulator for the tests of one module, and what stands in for S3 where it answers what the emulator does not."""

from __future__ import annotations

import pytest

from backends.emulator import Emulator


@pytest.fixture(scope="module")
def emulator_with_bucket():
    with Emulator() as running:
        running.create_bucket("bucket")
        yield running


@pytest.fixture
def emulator(emulator_with_bucket):
    yield emulator_with_bucket
    emulator_with_bucket.clear_faults()


@pytest.fixture
def client(emulator):
    client = emulator.client("s3")
    client.calls = []
    client.meta.events.register("before-call", lambda model, **_: client.calls.append(model.name))
    return client
