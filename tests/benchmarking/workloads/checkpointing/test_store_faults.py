"""Saving to and loading from a store that fails: what passes is tried again, what does not is told with the checkpoint's name and place."""

import pytest
import torch

from benchmarking.datasets import EmbeddedS3
from benchmarking.workloads.checkpointing.filling import difference
from benchmarking.workloads.checkpointing.kinds import KINDS
from benchmarking.workloads.checkpointing.saver import CheckpointFailedError, Saver
from benchmarking.workloads.checkpointing.stores import make_store
from benchmarking.workloads.checkpointing.stores.base import StoreOptions

pytestmark = pytest.mark.slow
WRITERS = [("s3", "s3torchconnector"), ("s3", "boto3"), ("dcp_s3", "s3torchconnector")]


@pytest.fixture(params=WRITERS, ids=lambda pair: "-".join(pair))
def saver(request, tmp_path, monkeypatch):
    kind, client = request.param
    if kind == "dcp_s3":
        pytest.importorskip("tenacity")
    made = []

    def start(*faults, is_async=False):
        server = EmbeddedS3(tmp_path / "s3", faults=faults)
        server.__enter__()
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint_url)
        place = f"s3://{server.bucket}/checkpoints"
        options = StoreOptions(place, client=client, environ=dict(server.environment))
        made.append((server, Saver(make_store(KINDS[kind], options), place, is_async=is_async)))
        return made[-1][1]

    yield start
    for server, one in made:
        one.close(remove=False)
        server.__exit__(None, None, None)


def state(value):
    return {"w": torch.full((300_000,), float(value))}


@pytest.mark.parametrize("is_async", [False, True])
def test_a_store_that_is_busy_for_a_while_is_asked_again(saver, is_async):
    one = saver({"kind": "s3_error", "key": "checkpoints/step-*", "status": 503, "code": "SlowDown", "times": 2}, is_async=is_async)
    one.save(lambda: state(1))
    (save,) = one.wait()
    assert save.stored_bytes > 1_200_000
    assert difference(state(1), one.load(state(0))[0]) == ""


@pytest.mark.parametrize("is_async", [False, True])
def test_a_store_that_refuses_ends_it_and_the_one_before_is_whole(saver, is_async):
    one = saver({"kind": "s3_error", "key": "checkpoints/step-000002*", "status": 403, "code": "AccessDenied"}, is_async=is_async)
    one.save(lambda: state(1))
    one.wait()

    def second():
        one.save(lambda: state(2))
        one.wait()

    with pytest.raises(CheckpointFailedError, match=r"checkpoint step-000002 could not be saved at s3://outrider/checkpoints: ") as error:
        second()
    assert str(error.value).endswith("; the one before, step-000001, is whole")
    assert difference(state(1), one.load(state(0))[0]) == ""


@pytest.mark.parametrize("kind", ["reset", "truncate"])
def test_a_body_that_breaks_off_once_is_read_again(saver, kind):
    one = saver({"kind": kind, "operation": "GetObject", "key": "checkpoints/step-000001*", "times": 1, "share": 0.4})
    one.save(lambda: state(1))
    one.wait()
    assert difference(state(1), one.load(state(0))[0]) == ""


@pytest.mark.parametrize("kind", ["reset", "truncate"])
def test_a_body_that_always_breaks_off_is_told(saver, kind, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
    one = saver({"kind": kind, "operation": "GetObject", "key": "checkpoints/step-000001*", "share": 0.4})
    one.save(lambda: state(1))
    one.wait()
    with pytest.raises(CheckpointFailedError, match=r"checkpoint step-000001 could not be read back at s3://outrider/checkpoints: "):
        one.load(state(0))
