"""Chunks through the library litdata: its streaming data set lists, fetches and unpacks them, of a folder or of S3."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..samples import UNLABELLED, BadSampleError, RawSample
from ..share import ReaderShare
from ..stores.base import Store, StoredName
from ..tolerance import Tolerance

INDEX = "index.json"

_CONTENT = ("image", "content", "data", "jpg", "jpeg", "png", "bytes", "x")
_LABEL = ("label", "class", "target", "cls", "y")
_KEY = ("key", "id", "filename", "__key__")


def chunks_of(store: Store, entries: Sequence[StoredName], location: str) -> tuple[StoredName, list[StoredName]]:
    """Return an index, and the chunks that it tells of, which are there, whole.

    Args:
        store: where they lie.
        entries: all objects there, the index among them.
        location: folder or URI, for what is said.

    Raises:
        SystemExit: there is no index.
        BadSampleError: a chunk is missing, or has another size; names it.
    """
    # Of several, the one nearest to the top.
    indices = [one for one in entries if one.name.rpartition("/")[2] == INDEX]
    index = min(indices, key=lambda one: (one.name.count("/"), one.name), default=None)
    if index is None:
        raise SystemExit(f"{location} holds no {INDEX}: chunks are read by what `litdata.optimize` or a data set of format chunks left")
    with store.open(index.name) as file:
        found = json.loads(file.read())
    base = index.name[: -len(INDEX)]
    sizes = {one.name: one.size for one in entries}
    chunks = []
    for told in found["chunks"]:
        name, size = base + told["filename"], int(told["chunk_bytes"])
        if name not in sizes:
            raise BadSampleError(f"{name}: {INDEX} tells of this chunk, and it is not there")
        there = sizes[name] if sizes[name] >= 0 else _size_of(store, name)
        if there != size and not found["config"].get("compression"):
            raise BadSampleError(f"{name}: a damaged or cut chunk: {there} bytes, and {INDEX} says {size}")
        chunks.append(StoredName(name, there))
    return index, chunks


def _size_of(store: Store, name: str) -> int:
    with store.open(name) as file:
        return int(file.seek(0, 2))


@dataclass
class ChunkStream:
    """The samples of chunks, shared out among readers by litdata itself.

    Args:
        location: folder, or `s3://` URI; `cache`: folder of this job that fetched chunks are kept in.
        environ: endpoint and region of S3, as AWS_* say.
        labels: `member` or `none`.
        tolerance: where bad samples are counted.
        seed, shuffle: of the order; `batch_size`: by which it divides chunks among workers; `drop_last`: whether ranks get equally many.
    """

    location: str
    cache: str
    environ: Mapping[str, str]
    labels: str
    tolerance: Tolerance
    seed: int = 0
    shuffle: bool = True
    batch_size: int = 1
    drop_last: bool = False
    _dataset: Any = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # Its threads and connections stay in the process that has them.
        return {**self.__dict__, "_dataset": None, "environ": dict(self.environ)}

    def __call__(self, epoch: int, shares: Sequence[ReaderShare]) -> Iterator[RawSample]:
        """Yield what one reader reads in an epoch; which loader worker it is litdata finds out by itself.

        Raises:
            BadSampleError: a chunk cannot be read or unpacked.
            SystemExit: litdata is not installed.
        """
        rank = shares[0]
        dataset = self._opened(rank)
        dataset.set_epoch(epoch + 1)
        number, chunk = -1, ""
        try:
            for number, item in enumerate(dataset):
                chunk = _chunk_under_way(dataset)
                try:
                    yield self._sample(item, f"{chunk}: sample {number} of this reader")
                except BadSampleError as error:
                    self.tolerance.skip(error)
        except (BadSampleError, GeneratorExit):
            raise
        except Exception as error:
            self.tolerance.count("read_errors")
            where = chunk or self.location
            raise BadSampleError(
                f"{where}: it cannot be read, after sample {number} of this reader: {type(error).__name__}: {error}"
            ) from error

    def _opened(self, rank: ReaderShare) -> Any:
        if self._dataset is None:
            dataset = _streaming_dataset(self.location, self.cache, self.environ, seed=self.seed, shuffle=self.shuffle)
            dataset.batch_size = self.batch_size
            self._dataset = dataset
        from litdata.utilities.env import _DistributedEnv

        # Of hosts with equally many processes all are one node to it: each has a cache of its own.
        self._dataset.distributed_env = _DistributedEnv(rank.count, rank.index, 1)
        self._dataset.set_drop_last(self.drop_last)
        return self._dataset

    def _sample(self, item: Any, place: str) -> RawSample:
        fields = item if isinstance(item, Mapping) else dict(enumerate(item)) if isinstance(item, (list, tuple)) else {0: item}
        key = next((str(fields[name]) for name in _KEY if name in fields), place.rpartition(": sample ")[2].replace(" of this reader", ""))
        found = next((fields[name] for name in _LABEL if name in fields), None)
        if found is None:
            found = next((value for name, value in fields.items() if name not in _KEY and isinstance(value, int)), None)
        if found is None and self.labels != "none":
            self.tolerance.count("unlabelled")
        content = next((fields[name] for name in _CONTENT if name in fields), None)
        if content is None:
            content = next((value for name, value in fields.items() if name not in (*_KEY, *_LABEL) and _is_content(value)), None)
        if content is None:
            raise BadSampleError(f"{place}: none of its fields holds bytes or an array (it has {', '.join(map(str, fields)) or 'none'})")
        return RawSample(key, _plain(content), UNLABELLED if found is None or self.labels == "none" else int(found), place)


def _streaming_dataset(location: str, cache: str, environ: Mapping[str, str], *, seed: int, shuffle: bool) -> Any:
    try:
        from litdata import StreamingDataset
        from litdata.streaming import downloader
    except ImportError:
        raise SystemExit("chunks are read by the package litdata, which is not installed: pip install litdata") from None
    endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or ""
    if endpoint.startswith("http://"):
        # Its client obstore refuses what is not encrypted, and has no switch; boto3, its other client, does not.
        downloader._OBSTORE_AVAILABLE = False
    options = {"endpoint_url": endpoint} if endpoint else None
    # Ranks are told below; where it saw a process group it would drop what does not divide.
    return StreamingDataset(location, cache_dir=cache, shuffle=shuffle, drop_last=False, seed=seed, storage_options=options)


def _chunk_under_way(dataset: Any) -> str:
    """Return the name of the chunk that the last sample came from, as far as the library tells."""
    try:
        number = dataset.worker_chunks[dataset.worker_next_chunk_index - 1]
        return str(dataset.cache._reader.config._chunks[number]["filename"])
    except (AttributeError, IndexError, KeyError, TypeError):
        return "a chunk"


def _is_content(value: Any) -> bool:
    return isinstance(value, (bytes, bytearray, memoryview)) or hasattr(value, "shape") or hasattr(value, "getdata")


def _plain(content: Any) -> Any:
    """Return bytes as they are, all else as an array of numbers: height, width and channels of an image."""
    import numpy as np

    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    array = content.numpy() if hasattr(content, "numpy") else np.asarray(content)
    if array.ndim == 3 and array.shape[0] in (1, 3) and array.shape[2] not in (1, 3):
        array = array.transpose(1, 2, 0)  # as torch has images
    return array
