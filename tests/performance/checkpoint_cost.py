"""Saving and loading checkpoints through our harness, against bare torch.save, DCP, and a plain copy of the same bytes; stall with async.

python tests/performance/checkpoint_cost.py [--rounds N] [--scale S] [--folder DIR]

The state has the parameters of ViT-B (a share with --scale). Each side writes it with fsync under a new name and deletes the one before,
and reads it back after its pages were evicted. Compared is processor time, which other load changes less than wall time.
With `dcp_s3` the store is a server of ours on loopback, whose own time is not in it. The copy writes and reads the state's bytes from and
into memory that is there. Stall is for how long a training of 20 steps of 20 ms stands still for one save, not the first one.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _common import ROOT, in_turn, load_line, show, temporary_folder

sys.path[:0] = [str(ROOT), str(ROOT / "benchmarking" / "workloads")]

STEPS, STEP_S = 20, 0.02


def timed(action: Callable[[], Any]) -> tuple[float, float]:
    """Processor and wall seconds of a call."""
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    action()
    return time.process_time() - cpu_s, time.perf_counter() - wall_s


class Ours:
    """Saves and loads as jobs do."""

    def __init__(self, kind: str, state: dict[str, Any], place: Path | str) -> None:
        from checkpointing.kinds import KINDS
        from checkpointing.saver import Saver
        from checkpointing.stores import make_store
        from checkpointing.stores.base import StoreOptions

        self.state, self.place, self.kind = state, place, kind
        self.saver = Saver(make_store(KINDS[kind], StoreOptions(str(place), environ=os.environ)), str(place))
        self.saver.warm_up()

    def save(self) -> None:
        self.saver.save(lambda: self.state)
        self.saver.wait()

    def load(self, like: dict[str, Any]) -> None:
        self.saver.load(like)


class BareTorch:
    """torch.save to a file, synced, and torch.load."""

    def __init__(self, state: dict[str, Any], place: Path) -> None:
        self.state, self.place, self.count = state, place, 0
        place.mkdir()

    def path(self, number: int) -> Path:
        return self.place / f"{number}.pt"

    def save(self) -> None:
        import torch

        self.count += 1
        with self.path(self.count).open("wb") as file:
            torch.save(self.state, file)
            file.flush()
            os.fsync(file.fileno())
        self.path(self.count - 1).unlink(missing_ok=True)

    def load(self, like: dict[str, Any]) -> None:
        import torch

        torch.load(self.path(self.count), map_location="cpu", weights_only=True)


class BareDcp(BareTorch):
    """torch.distributed.checkpoint with its own writer and reader."""

    def save(self) -> None:
        import torch.distributed.checkpoint as dcp

        self.count += 1
        dcp.save(self.state, storage_writer=dcp.FileSystemWriter(self.path(self.count)), no_dist=True)
        shutil.rmtree(self.path(self.count - 1), ignore_errors=True)

    def load(self, like: dict[str, Any]) -> None:
        import torch.distributed.checkpoint as dcp

        dcp.load(like, storage_reader=dcp.FileSystemReader(self.path(self.count)), no_dist=True)


class BareDcpInS3:
    """torch.distributed.checkpoint with the S3 connector's writer and reader, made for each checkpoint as its interface wants it."""

    def __init__(self, state: dict[str, Any], place: str) -> None:
        from s3torchconnector import S3Checkpoint

        self.state, self.place, self.count = state, place, 0
        self.client = S3Checkpoint("us-east-1", endpoint=os.environ["AWS_ENDPOINT_URL"])._client

    def save(self) -> None:
        import torch.distributed.checkpoint as dcp
        from s3torchconnector.dcp import S3StorageWriter

        self.count += 1
        dcp.save(self.state, storage_writer=S3StorageWriter("us-east-1", f"{self.place}/{self.count}"), no_dist=True)
        bucket, _, key = self.place.removeprefix("s3://").partition("/")
        before = [one.key for page in self.client.list_objects(bucket, f"{key}/{self.count - 1}/") for one in page.object_info]
        for name in before:
            self.client.delete_object(bucket, name)

    def load(self, like: dict[str, Any]) -> None:
        import torch.distributed.checkpoint as dcp
        from s3torchconnector.dcp import S3StorageReader

        dcp.load(like, storage_reader=S3StorageReader("us-east-1", f"{self.place}/{self.count}"), no_dist=True)


class Copy(BareTorch):
    """The same bytes, without anything that says what they are."""

    def save(self) -> None:
        self.count += 1
        with self.path(self.count).open("wb", buffering=0) as file:
            for tensor in self.state.values():
                rest = memoryview(tensor.view(-1).numpy()).cast("B")
                while rest:
                    rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        self.path(self.count - 1).unlink(missing_ok=True)

    def load(self, like: dict[str, Any]) -> None:
        with self.path(self.count).open("rb", buffering=0) as file:
            for tensor in like.values():
                rest = memoryview(tensor.view(-1).numpy()).cast("B")
                while rest:
                    rest = rest[file.readinto(rest) :]


def measured(side: Any, like: dict[str, Any], contents: Path) -> dict[str, tuple[float, float]]:
    """A save and a cold load; of what is in the store its files are evicted."""
    from measuring.page_cache import evict, files_below

    saved = timed(side.save)
    evict(files_below([contents if str(side.place).startswith("s3://") else side.place]))
    return {"save": saved, "load": timed(lambda: side.load(like))}


def stall(kind: str, state: dict[str, Any], place: Path, *, is_async: bool) -> tuple[float, float]:
    """Seconds that training stands still for a save in its middle, and until that is durable."""
    from checkpointing.kinds import KINDS
    from checkpointing.saver import Saver
    from checkpointing.stores import make_store
    from checkpointing.stores.base import StoreOptions

    saver = Saver(make_store(KINDS[kind], StoreOptions(str(place))), str(place), is_async=is_async)
    saver.warm_up()
    saver.save(lambda: state)  # whose copy takes memory that is new
    saver.wait()
    for number in range(STEPS):
        time.sleep(STEP_S)
        if number == STEPS // 2:
            saver.save(lambda: state)
    (save,) = saver.wait()
    saver.close(remove=True)
    return save.stall_s, save.durable_s


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """The ratio of medians with its 95 % interval, by drawing rounds anew (percentile bootstrap)."""
    source, rounds = random.Random(0), range(len(ours))
    drawn = []
    for _ in range(2000):
        chosen = source.choices(rounds, k=len(ours))
        drawn.append(statistics.median(ours[at] for at in chosen) / statistics.median(theirs[at] for at in chosen))
    drawn.sort()
    return f"{statistics.median(ours) / statistics.median(theirs):.3f} ({drawn[50]:.3f} to {drawn[-50]:.3f})"


def main() -> None:
    """Measure in turn and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk that is written to; else that of temporary files")
    asked = parser.parse_args()
    import warnings

    import torch
    from checkpointing.filling import bytes_in, filled
    from checkpointing.models import shapes_of

    warnings.filterwarnings("ignore", "torch.distributed is disabled")
    torch.set_num_threads(1)
    state = filled(shapes_of("vit_base", asked.scale), 0)
    like = {name: torch.zeros_like(value) for name, value in state.items()}
    if asked.folder is not None:
        os.environ["TMPDIR"] = str(asked.folder)
    from benchmarking.datasets import EmbeddedS3

    with temporary_folder() as folder, EmbeddedS3(folder / "s3") as server:
        os.environ.update(server.environment)
        objects = f"s3://{server.bucket}/checkpoints"
        sides = {
            "disk": Ours("disk", state, folder / "ours"), "bare torch.save": BareTorch(state, folder / "torch"),
            "dcp_disk": Ours("dcp_disk", state, folder / "ours-dcp"), "bare DCP": BareDcp(state, folder / "dcp"),
            "dcp_s3": Ours("dcp_s3", state, f"{objects}/ours"), "bare DCP to S3": BareDcpInS3(state, f"{objects}/bare"),
            "plain copy": Copy(state, folder / "copy"),
        }  # fmt: skip
        for side in sides.values():
            measured(side, like, server.contents)  # what is done once
        found = in_turn(asked.rounds, {name: lambda side=side: measured(side, like, server.contents) for name, side in sides.items()})
        stalls = in_turn(asked.rounds, {
            f"{kind}{', async' if is_async else ''}":
                lambda kind=kind, is_async=is_async: stall(kind, state, folder / f"stall-{kind}-{is_async}", is_async=is_async)
            for kind in ("disk", "dcp_disk") for is_async in (False, True)
        })  # fmt: skip
    rows = []
    for name, one in found.items():
        peer = {"disk": "bare torch.save", "dcp_disk": "bare DCP", "dcp_s3": "bare DCP to S3"}.get(name, "plain copy")
        for what in ("save", "load"):
            cpu = [row[what][0] for row in one]
            wall = statistics.median(row[what][1] for row in one)
            against = ["-", "-"] if peer == name else [peer, ratio(cpu, [row[what][0] for row in found[peer]])]
            rows.append([name, what, f"{statistics.median(cpu):.3f}", f"{wall:.3f}", *against])
    size = bytes_in(state) / 1e6
    show(
        f"{size:.0f} MB, {asked.rounds} rounds; {load_line()}",
        ["side", "", "cpu_s", "wall_s", "peer", "ratio of medians of cpu_s (95 %)"],
        rows,
    )
    rows = [
        [name, f"{statistics.median(s for s, _ in one):.3f} ({min(s for s, _ in one):.3f} to {max(s for s, _ in one):.3f})",
         f"{statistics.median(d for _, d in one):.3f}"]
        for name, one in stalls.items()
    ]  # fmt: skip
    show("training stands still for one save", ["kind", "stall_s", "durable_s"], rows)


if __name__ == "__main__":
    main()
