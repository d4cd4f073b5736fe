"""Ingestion modes on each layout: samples a second, processor time of client and server, requests; and `local` against a bare loop.

Bytes only, nothing is decoded. Modes are read in turn, a round at a time, from an S3 server of ours on loopback where they read S3.

samples/s   of an epoch after the channel was opened and its loader started an epoch before (file: without its download, which is beside)
client      processor milliseconds a sample of this process and its loader workers (pipe: without the process that fills the FIFO)
server      processor milliseconds a sample of the S3 server
requests    of an epoch, without listing

pipe and litdata are measured in their first epoch, as a FIFO has no second one and later ones of litdata come from the job's disk. With
`--bounds` the demo's script says once for each mode, bytes only, what bounds it. Modes whose package or program is not there are left out.

Bare loop: a `Dataset` that opens a file and reads it, resp. `tarfile` on each shard, under torch's DataLoader with the same arguments. The
ratio is of processor time, ours to that.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarking" / "workloads"), str(ROOT / "backends" / "reporter")]

import torch  # noqa: E402
from ingestion import Channel, Knobs, make_loader, open_channel  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info  # noqa: E402

from benchmarking.datasets import EmbeddedS3, prepare  # noqa: E402
from definitions.backend_registry import backend_description  # noqa: E402
from definitions.ingestion import INGESTIONS  # noqa: E402
from definitions.schema import ImagesDataset  # noqa: E402

FORMS = {"files": "jpg", "shards": "tar", "records": "tfrecord", "chunks": "chunks"}
MODES = tuple(name for name, entry in INGESTIONS.items() if entry.input_mode not in ("fsx", "efs") and name != "uri")


class BareFiles(Dataset):
    def __init__(self, folder: Path) -> None:
        self.names = sorted(str(path) for path in folder.rglob("*.jpg"))

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> tuple[str, bytes]:
        with Path(self.names[index]).open("rb") as file:
            return self.names[index], file.read()


class BareShards(IterableDataset):
    def __init__(self, folder: Path) -> None:
        self.names = sorted(str(path) for path in folder.rglob("*.tar"))

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        worker = get_worker_info()
        for name in self.names[worker.id :: worker.num_workers] if worker else self.names:
            with tarfile.open(name) as archive:
                for member in archive:
                    if member.name.endswith(".jpg"):
                        file = archive.extractfile(member)
                        assert file is not None
                        yield member.name, file.read()


def keep(samples: list) -> list:
    return samples


def cpu_s() -> float:
    """Return the processor seconds of this process and of the children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def counted(batches: object) -> int:
    return sum(len(batch) for batch in batches)  # type: ignore[attr-defined]


def channel_of(mode: str, layout: str, folder: Path, uri: str) -> Channel:
    entry = INGESTIONS[mode]
    return Channel(str(folder) if entry.input_mode == "local" else uri, entry.layouts[layout], layout, input_mode=entry.input_mode)


def is_possible(mode: str, layout: str, workers: int) -> bool:
    """Return whether a mode reads a layout here: with what is installed, and so many workers."""
    entry, local = INGESTIONS[mode], backend_description("local")
    is_emulated = entry.input_mode in local.emulated_modes
    if layout not in entry.layouts or (is_emulated and layout in entry.not_emulated) or (mode == "pipe" and workers > 1):
        return False
    return all(find_spec(one) for one in entry.needs(is_emulated, layout)) and not (entry.program and shutil.which(entry.program) is None)


def bound_of(channel: Channel) -> str:
    """Return what the demo's script says that bounds a mode."""
    import image_ingestion as script

    found: dict = {}
    script.report = lambda **metrics: found.update(metrics)
    announced = {"CHANNEL": channel.location, "READER": channel.reader, "LAYOUT": channel.layout, "INPUT_MODE": channel.input_mode}
    environ = {**os.environ, **{f"OUTRIDER_{key}_TRAIN": value for key, value in announced.items()}, "OUTRIDER_CORES": "1"}
    script.main(["--min_window_s", "0.2", "--model", "entitlement", "--batch_size", "16", "--epochs", "2"], environ)
    return f"{found.get('bound_by', '-')} ({found.get('bound_why', '')})"


def one_epoch(channel: Channel, server: EmbeddedS3, workers: int, scratch: Path) -> tuple[float, float, float, float, float]:
    """Return samples a second, client and server milliseconds a sample, requests, and seconds of the download."""
    # Workers end with each epoch, so that their processor time is counted with it.
    knobs = Knobs(batch_size=64, loader_workers=workers, persistent_workers=False)
    environ = {**os.environ, "OUTRIDER_SCRATCH": str(scratch), "OUTRIDER_JOB": f"{time.monotonic_ns()}"}
    with open_channel(channel, environ, knobs) as opened:
        loader = make_loader(opened, knobs, keep)
        first = channel.reader == "pipe" or (channel.reader == "litdata" and channel.is_remote and channel.input_mode == "none")
        if not first:
            counted(loader)
        opened.set_epoch(0 if first else 1)
        served, spent_s, began_s = server.served(), cpu_s(), time.monotonic()
        samples = counted(loader)
        took_s, spent_s = time.monotonic() - began_s, cpu_s() - spent_s
        after = server.served()
    server_ms = (after["cpu_ns"] - served["cpu_ns"]) / 1e6 / samples
    return samples / took_s, 1e3 * spent_s / samples, server_ms, after["requests"] - served["requests"], opened.download_s


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):9.3f} ({min(values):.3f} to {max(values):.3f})"


def bare_ratio(layout: str, folder: Path, workers: int, rounds: int) -> list[float]:
    """Return processor time of `local` through our harness, in units of the bare loop's, of each round."""
    knobs = Knobs(batch_size=64, loader_workers=workers, persistent_workers=False)
    more = {"multiprocessing_context": "fork", "prefetch_factor": 2} if workers else {}

    def ours() -> int:
        with open_channel(channel_of("local", layout, folder, ""), {}, knobs) as opened:
            return counted(make_loader(opened, knobs, keep))

    def bare() -> int:
        dataset = BareFiles(folder) if layout == "files" else BareShards(folder)
        return counted(DataLoader(dataset, batch_size=64, shuffle=layout == "files" or None, num_workers=workers, collate_fn=keep, **more))

    def spent_s(read: Callable[[], int]) -> float:
        before = cpu_s()
        read()
        return cpu_s() - before

    found = []
    for number in range(rounds + 1):
        pair = (ours, bare) if number % 2 else (bare, ours)
        times = {read: spent_s(read) for read in pair}
        found.append(times[ours] / times[bare])
    return found[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--image_size", type=int, default=384)
    parser.add_argument("--modes", nargs="*", default=MODES, choices=MODES)
    parser.add_argument("--layouts", nargs="*", default=list(FORMS), choices=list(FORMS))
    parser.add_argument("--workers", nargs="*", type=int, default=[0])
    parser.add_argument("--bounds", action="store_true", help="say also what bounds each mode")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    asked.layouts = [one for one in asked.layouts if one != "chunks" or find_spec("litdata")]
    with tempfile.TemporaryDirectory() as name, EmbeddedS3(Path(name) / "s3") as server:
        os.environ.update(server.environment)
        sets = {}
        for layout in asked.layouts:
            spec = ImagesDataset(
                type="images", content="noise", format=FORMS[layout], samples=asked.samples, image_size=asked.image_size, shard_size="8MiB"
            )
            sets[layout] = prepare(layout, spec, cache=Path(name) / "cache", s3=server.target)
            print(f"{layout}: {sets[layout].bytes / asked.samples / 1e3:.0f} kB a sample", flush=True)
        for workers in asked.workers:
            found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
            for _ in range(asked.rounds):
                for layout in asked.layouts:
                    for mode in asked.modes:
                        if not is_possible(mode, layout, workers):
                            continue
                        channel = channel_of(mode, layout, sets[layout].path, sets[layout].uri or "")
                        found.setdefault((layout, mode), []).append(one_epoch(channel, server, workers, Path(name)))
            print(f"\n{workers} loader workers, {asked.rounds} rounds: median (least to most)")
            for (layout, mode), rows in found.items():
                rates, client, served, requests, download = map(list, zip(*rows, strict=True))
                beside = f"  download {statistics.median(download):.2f} s" if mode == "file" else ""
                rate = f"{statistics.median(rates):8.0f}/s ({min(rates):.0f} to {max(rates):.0f})"
                cost = f"client ms {spread(client)}  server ms {spread(served)}"
                print(
                    f"{layout:<8} {mode:<12} {rate}  {cost}  requests {statistics.median(requests):.0f}{beside}",
                    flush=True,
                )
            for layout, mode in found if asked.bounds and not workers else ():
                bound = bound_of(channel_of(mode, layout, sets[layout].path, sets[layout].uri or ""))
                print(f"{layout:<8} {mode:<12} bound by {bound}", flush=True)
            for layout in (one for one in asked.layouts if one in ("files", "shards")):
                print(f"{layout:<8} local / bare loop: {spread(bare_ratio(layout, sets[layout].path, workers, asked.rounds))}", flush=True)


if __name__ == "__main__":
    main()
