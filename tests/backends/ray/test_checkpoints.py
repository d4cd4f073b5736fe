"""Where checkpoints are reachable, a trial whose node is killed goes on elsewhere from its last one: a folder that all see, or S3."""

from __future__ import annotations

import contextlib

import pytest

from backends.backend_context import BackendContext
from backends.emulator import Emulator
from backends.events import Reported
from backends.failures import Cause, Outcome
from backends.ray.backend import RayBackend
from definitions.schema import BenchmarkDefinition
from tests.backends.contract import all_closed, check_order, closed, collect, of_job
from tests.backends.ray.test_life import job, spare  # noqa: F401 (a fixture)

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray, pytest.mark.timeout(300)]
LIMIT_S = 120.0

# Each epoch is kept whole, and the last three take their time, so that the node is killed in the midst of them.
EPOCHS = """\
import os, pathlib, sys, time
from outrider_report import report
place = pathlib.Path(os.environ["OUTRIDER_CHECKPOINT_DIR"], "epoch")
done = int(place.read_text()) if place.exists() else 0
for epoch in range(done + 1, 6):
    if epoch > 3 and os.environ["TOY_LIFE"] == "1":
        time.sleep(600)
    part = place.with_suffix(".part")
    part.write_text(str(epoch))
    part.replace(place)
    report(epoch=epoch)
"""
# The first rank clears what was there before; what another has written by then would go too.
RANKS = """\
import os, pathlib, time
from outrider_report import report
place, rank = pathlib.Path(os.environ["OUTRIDER_CHECKPOINT_DIR"]), os.environ["SM_CURRENT_HOST"]
(place / rank).write_text("here")
deadline = time.monotonic() + 60
while len([path for path in place.iterdir() if path.name.startswith("algo-")]) < 2 and time.monotonic() < deadline:
    time.sleep(0.05)
report(seen=len([path for path in place.iterdir() if path.name.startswith("algo-")]), old=int((place / "old").exists()))
"""


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as running:
        running.create_bucket("kept")
        yield running


def made(cluster, folder, where: str, emulator) -> RayBackend:
    kept = "s3://kept/below" if where == "s3" else str(folder / "shared")
    asked = {
        "name": "toy",
        "script": "main.py",
        "source_dir": str(folder),
        "objectives": {"loss": "min"},
        "trials": [{"x": 1}],
        "ray": {"address": cluster.address, "grace_s": 1.0, "checkpoints": kept},
    }
    definition = BenchmarkDefinition.model_validate(asked)
    (folder / "main.py").write_text("")
    return RayBackend.create(BackendContext(definition, folder / "experiment", 0, emulator.environment, tag=where, prefix="toy"))


@pytest.mark.parametrize("where", ["path", "s3"])
def test_a_trial_whose_node_is_killed_goes_on_elsewhere_from_its_checkpoint(spare, cluster, tmp_path, emulator, where):  # noqa: F811
    with contextlib.closing(made(cluster, tmp_path, where, emulator)) as backend:
        first = job(tmp_path, "first", EPOCHS, "ray.1cpu.spare", checkpoint="t0", environment={"TOY_LIFE": "1"})
        backend.submit(first)
        events = collect(backend, lambda seen: len(of_job(seen, "first", Reported)) == 3, LIMIT_S)
        wait_until_kept(backend, emulator, b"3")
        cluster.remove_node(spare, allow_graceful=False)
        collect(backend, all_closed("first"), LIMIT_S, events)
        assert (closed(events, "first").outcome, closed(events, "first").cause) == (Outcome.FAILED, Cause.LOST)
        backend.submit(job(tmp_path, "second", EPOCHS, checkpoint="t0", restore_from="t0", environment={"TOY_LIFE": "2"}))
        # As a method does that lets one trial go on from another's.
        collect(backend, all_closed("second"), LIMIT_S, events)
        backend.submit(job(tmp_path, "other", EPOCHS, checkpoint="t1", restore_from="t0", environment={"TOY_LIFE": "2"}))
        collect(backend, all_closed("other"), LIMIT_S, events)
        check_order(events)
        assert [event.metrics["epoch"] for event in of_job(events, "first", Reported)] == [1, 2, 3]
        assert [event.metrics["epoch"] for event in of_job(events, "second", Reported)] == [4, 5]
        assert of_job(events, "other", Reported) == []  # all epochs were there
        assert backend.checkpoints.exists("t1")
        backend.checkpoints.delete(["t0", "t1"])
        assert not backend.checkpoints.exists("t0")


def wait_until_kept(backend: RayBackend, emulator, content: bytes) -> None:
    """Wait until the content of the checkpoint is what is kept; a folder has it at once."""
    if not hasattr(backend.checkpoints, "bucket"):
        return
    client = emulator.client("s3")
    key = backend.checkpoints.folder("t0") + "epoch"
    for _ in range(600):
        if backend.checkpoints.exists("t0") and client.get_object(Bucket="kept", Key=key)["Body"].read() == content:
            return
        backend.wait(0.1)
    raise AssertionError(f"not {content!r}")


@pytest.mark.parametrize("where", ["path"])
def test_what_is_cleared_for_a_job_on_several_nodes_is_cleared_before_any_of_them_writes(cluster, tmp_path, emulator, where):
    with contextlib.closing(made(cluster, tmp_path, where, emulator)) as backend:
        old = tmp_path / "shared" / "toy" / "t0"
        for number in range(3):
            old.mkdir(parents=True, exist_ok=True)
            (old / "old").write_text("")
            name = f"ranks{number}"
            backend.submit(job(tmp_path, name, RANKS, instance_count=2, checkpoint="t0"))
            events = collect(backend, all_closed(name), LIMIT_S)
            assert [(event.metrics["seen"], event.metrics["old"]) for event in of_job(events, name, Reported)] == [(2, 0)]
