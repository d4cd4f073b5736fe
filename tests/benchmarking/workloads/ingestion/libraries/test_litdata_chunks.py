import json

import numpy as np
import pytest

from benchmarking.workloads.ingestion import BadSampleError, ReaderShare, Tolerance
from benchmarking.workloads.ingestion.libraries.litdata_chunks import ChunkStream, chunks_of
from benchmarking.workloads.ingestion.stores.folder import Folder


def folder_of(tmp_path, sizes, told=None):
    for number, size in enumerate(sizes):
        (tmp_path / f"chunk-0-{number}.bin").write_bytes(bytes(size))
    rows = [{"filename": f"chunk-0-{number}.bin", "chunk_bytes": size} for number, size in enumerate(told or sizes)]
    (tmp_path / "index.json").write_text(json.dumps({"chunks": rows, "config": {"compression": None}}))
    return Folder(str(tmp_path))


def test_chunks_are_those_that_the_index_tells_of(tmp_path):
    store = folder_of(tmp_path, [10, 20])
    (tmp_path / "other.bin").write_bytes(b"x")
    index, chunks = chunks_of(store, store.entries(), "here")
    assert index.name == f"{tmp_path}/index.json"
    assert [(one.name, one.size) for one in chunks] == [(f"{tmp_path}/chunk-0-0.bin", 10), (f"{tmp_path}/chunk-0-1.bin", 20)]


def test_a_chunk_that_is_cut_or_missing_is_named_before_anything_is_read(tmp_path):
    store = folder_of(tmp_path, [10, 20], [10, 30])
    with pytest.raises(BadSampleError, match=r"chunk-0-1\.bin: a damaged or cut chunk: 20 bytes, and index\.json says 30"):
        chunks_of(store, store.entries(), "here")
    (tmp_path / "chunk-0-1.bin").unlink()
    with pytest.raises(BadSampleError, match=r"chunk-0-1\.bin: index\.json tells of this chunk, and it is not there"):
        chunks_of(store, store.entries(), "here")


def test_chunks_without_an_index_are_said(tmp_path):
    store = folder_of(tmp_path, [10])
    (tmp_path / "index.json").unlink()
    with pytest.raises(SystemExit, match=r"here holds no index\.json"):
        chunks_of(store, store.entries(), "here")


def optimized(folder, items, per_chunk=3):
    """Write items as `litdata.optimize` does."""
    writer = pytest.importorskip("litdata.streaming.writer").BinaryWriter(str(folder), chunk_size=per_chunk)
    for number, item in enumerate(items):
        writer[number] = item
    writer.done()
    writer.merge()


def stream(folder, labels="member", **given):
    return ChunkStream(str(folder), str(folder / "cache"), {}, labels, given.pop("tolerance", Tolerance()), **given)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("item", "content", "label"),
    [
        (lambda number: {"image": b"a%d" % number, "class": number}, lambda number: b"a%d" % number, True),
        (lambda number: {"x": np.full((2, 2), number), "index": number}, lambda number: np.full((2, 2), number), True),
        (lambda number: (b"b%d" % number, number), lambda number: b"b%d" % number, True),
        (lambda number: b"c%d" % number, lambda number: b"c%d" % number, False),
    ],
)
def test_what_users_optimized_is_read_as_it_is(tmp_path, item, content, label):
    optimized(tmp_path, [item(number) for number in range(7)])
    found = list(stream(tmp_path, shuffle=False)(0, (ReaderShare(), ReaderShare())))
    assert len(found) == 7
    for number, sample in enumerate(found):
        assert np.array_equal(sample.content, content(number))
        assert sample.label == (number if label else 0)
        assert sample.place.startswith(f"chunk-0-{number // 3}.bin: sample {number}")


@pytest.mark.slow
def test_ranks_get_different_samples_and_all_of_them(tmp_path):
    optimized(tmp_path, [{"key": str(number), "data": b"x"} for number in range(11)])
    found = [[one.key for one in stream(tmp_path)(1, (ReaderShare(rank, 3), ReaderShare()))] for rank in range(3)]
    assert sorted(key for keys in found for key in keys) == sorted(map(str, range(11)))
    even = [len(list(stream(tmp_path, drop_last=True)(1, (ReaderShare(rank, 3), ReaderShare())))) for rank in range(3)]
    assert len(set(even)) == 1
    assert 9 <= sum(even) <= 11
