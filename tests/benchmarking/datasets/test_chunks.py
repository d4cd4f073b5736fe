import json
import os
from pathlib import Path

import pytest

from benchmarking.datasets import prepare
from definitions.schema import BytesDataset, ImagesDataset

pytest.importorskip("litdata")
pytestmark = pytest.mark.slow


def spec(**given):
    return ImagesDataset(type="images", format="chunks", **{"samples": 40, "image_size": 32, "shard_size": "8KiB", **given})


def files(path):
    return {one.relative_to(path).as_posix(): one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file()}


def test_the_index_tells_of_each_chunk_and_copy(tmp_path):
    made = prepare("c", spec(copies=2), cache=tmp_path)
    index = json.loads((made.path / "index.json").read_text())
    there = {name: len(content) for name, content in files(made.path).items() if name.endswith(".bin")}
    assert {row["filename"]: row["chunk_bytes"] for row in index["chunks"]} == there
    assert sum(row["chunk_size"] for row in index["chunks"]) == made.samples == 80
    assert len(there) > 4
    assert any(name.startswith("copy-2/") for name in there)
    assert index["config"]["data_format"] == ["str", "bytes", "int"]
    # A shard's size is a target; the format adds a part of its own to what samples take.
    assert max(there.values()) < 12 * 1024


def test_the_library_reads_what_was_made(tmp_path):
    from litdata import StreamingDataset

    made = prepare("c", spec(), cache=tmp_path)
    found = list(StreamingDataset(str(made.path), shuffle=False))
    assert [one["key"] for one in found] == [f"{number:06d}" for number in range(40)]
    assert all(one["image"][:2] == b"\xff\xd8" for one in found)
    raw = prepare("r", spec(encoding="raw"), cache=tmp_path)
    assert StreamingDataset(str(raw.path), shuffle=False)[0]["image"].shape == (32, 32, 3)
    plain = prepare("b", BytesDataset(type="bytes", format="chunks", samples=5, size=100), cache=tmp_path)
    assert [len(one["data"]) for one in StreamingDataset(str(plain.path), shuffle=False)] == [100] * 5


def test_the_same_bytes_come_again_and_damage_is_mended(tmp_path):
    first = prepare("c", spec(), cache=tmp_path / "one")
    second = prepare("c", spec(), cache=tmp_path / "two")
    whole = files(first.path)
    assert files(second.path) == whole
    Path(first.path / "index.json").unlink()
    chunk = first.path / "chunk-0-1.bin"
    chunk.write_bytes(chunk.read_bytes()[:100])
    os.utime(chunk)
    again = prepare("c", spec(), cache=tmp_path / "one")
    assert "damaged" in again.notes[0]
    assert files(again.path) == whole
