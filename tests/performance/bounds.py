"""Bounds made to order: what `bound_by` says where it is known what a pipeline is bound by.

python tests/performance/bounds.py [--repeats N] [CASE ...]

compute          a model that sleeps; decode: large JPEGs scaled down; client: tiny files on one worker; handover: large raw tensors that a
                 worker hands over; store_latency, store_bandwidth: an S3 server on the loopback that answers late, or slowly in all
Each repeat measures all ceilings anew. Printed is how often each word was said; right is the case's name, "not decided" is no mistake.
"""

from __future__ import annotations

import argparse
import collections
import http.server
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarking" / "workloads"), str(ROOT / "backends" / "reporter"), str(ROOT / "tests" / "performance")]


class RawTensors:
    """A model of our own: contents are handed over as they are, and nothing is done with them."""

    def __init__(self, options) -> None:
        pass

    @staticmethod
    def load_sample(content):
        import torch

        return torch.frombuffer(content, dtype=torch.uint8)

    def train(self, batch):
        return None

    def finish_epoch(self):
        return {}

    def save(self, path) -> None:
        pass


class Store(http.server.ThreadingHTTPServer):
    """An S3 server that lists and gives the files of one folder, late or slowly."""

    daemon_threads = True

    def __init__(self, folder: Path, latency_s: float = 0.0, bytes_per_s: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder, self.latency_s, self.bytes_per_s = folder, latency_s, bytes_per_s
        self.files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        self.lock, self.free_at_s = threading.Lock(), 0.0

    def take(self, size: int) -> None:
        """Wait as long as so many bytes take, of what all connections share."""
        time.sleep(self.latency_s)
        if self.bytes_per_s:
            with self.lock:
                self.free_at_s = max(self.free_at_s, time.monotonic()) + size / self.bytes_per_s
                until_s = self.free_at_s
            time.sleep(max(until_s - time.monotonic(), 0.0))


class Answer(http.server.BaseHTTPRequestHandler):
    """GET of an object, whole or a range, and ListObjectsV2."""

    protocol_version = "HTTP/1.1"
    server: Store

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        _, _, key = unquote(asked.path).lstrip("/").partition("/")
        if not key:
            prefix = parse_qs(asked.query).get("prefix", [""])[0]
            rows = "".join(
                f"<Contents><Key>{name}</Key><Size>{len(content)}</Size><ETag>&quot;0&quot;</ETag><StorageClass>STANDARD</StorageClass>"
                "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
                for name, content in self.server.files.items()
                if name.startswith(prefix)
            )
            body = f"<?xml version='1.0'?><ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>".encode()
            return self.answer(200, body, {"Content-Type": "application/xml"})
        content = self.server.files.get(key)
        if content is None:
            return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>", {})
        first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        part = content[int(first or 0) : int(last) + 1 if last else None]
        self.server.take(len(part))
        ranged = (
            {"Content-Range": f"bytes {first or 0}-{int(first or 0) + len(part) - 1}/{len(content)}"} if "Range" in self.headers else {}
        )
        return self.answer(206 if ranged else 200, part, {**ranged, "ETag": '"0"'})

    def answer(self, status: int, body: bytes, headers) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *given) -> None:
        pass


def photos(folder: Path, count: int, pixels: int) -> Path:
    """Write JPEGs of smooth noise."""
    import numpy as np
    from PIL import Image

    (folder / "0").mkdir(parents=True)
    random_of = np.random.default_rng(0)
    for number in range(count):
        coarse = random_of.integers(0, 255, (max(pixels // 16, 2), max(pixels // 16, 2), 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((pixels, pixels)).save(folder / "0" / f"{number:05d}.jpg", quality=90)
    return folder


def raws(folder: Path, count: int, size: int) -> Path:
    (folder / "0").mkdir(parents=True)
    for number in range(count):
        (folder / "0" / f"{number:05d}.jpg").write_bytes(random.Random(number).randbytes(size))
    return folder


def cases(folder: Path) -> dict:
    """Arguments, and environment or store, of each case."""
    small, large = photos(folder / "small", 400, 96), photos(folder / "large", 60, 1400)
    tiny, raw, objects = raws(folder / "tiny", 6000, 300), raws(folder / "raw", 160, 1_500_000), raws(folder / "objects", 240, 100_000)
    one = ["--loader_workers", "1"]
    return {
        "compute": ([*one, "--model", "sleep", "--compute_s", "0.1", "--batch_size", "8"], small, None),
        "decode": ([*one, "--model", "sleep", "--batch_size", "2"], large, None),
        "client": ([*one, "--model", "entitlement", "--batch_size", "64", "--epochs", "4"], tiny, None),
        "handover": ([*one, "--model", "bounds:RawTensors", "--batch_size", "4"], raw, None),
        "store_latency": ([*one, "--model", "entitlement", "--batch_size", "4"], objects, {"latency_s": 0.02}),
        "store_bandwidth": ([*one, "--model", "entitlement", "--batch_size", "4"], objects, {"bytes_per_s": 6e6}),
    }


def run(script, arguments: list[str], folder: Path, store) -> dict:
    """Run the script in this process, and return what it reports at its end."""
    environ = {"OUTRIDER_CHANNEL_TRAIN": str(folder), "OUTRIDER_CORES": "1", "OUTRIDER_LAYOUT_TRAIN": "files"}
    server = None
    if store is not None:
        server = Store(folder, **store)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        secrets = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1"}
        environ |= {"OUTRIDER_CHANNEL_TRAIN": "s3://bucket/", "OUTRIDER_READER_TRAIN": "s3_map", "AWS_ENDPOINT_URL": address, **secrets}
        os.environ |= {**secrets, "AWS_ENDPOINT_URL": address, "NO_PROXY": "127.0.0.1"}
    found: dict = {}
    script.report = lambda **metrics: found.update(metrics)
    try:
        script.main(["--min_window_s", "0.2", *arguments], environ)
    finally:
        if server is not None:
            server.shutdown()
            server.server_close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--repeats", type=int, default=10)
    given = parser.parse_args()
    import image_ingestion as script

    with tempfile.TemporaryDirectory() as folder:
        known = cases(Path(folder))
        said = {name: collections.Counter() for name in (given.cases or known)}
        for repeat in range(given.repeats):
            for name, words in said.items():
                began_s = time.monotonic()
                found = run(script, *known[name])
                words[found["bound_by"]] += 1
                print(f"{repeat} {name}: {found['bound_by']} ({found['bound_why']}); {time.monotonic() - began_s:.1f} s", flush=True)
    for name, words in said.items():
        wrong = sum(count for word, count in words.items() if word not in (name, "not decided"))
        print(f"{name}: right {words[name]} of {given.repeats}, not decided {words['not decided']}, wrong {wrong}: {dict(words)}")


if __name__ == "__main__":
    main()
