"""Shards through the library webdataset, which unpacks them; it knows no `s3://`, so a scheme of ours opens objects by the S3 connector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..formats.tar import sample_of
from ..samples import BadSampleError, RawSample
from ..stores.base import Store
from ..stores.resumed import Resumed
from ..tolerance import Tolerance


@dataclass(frozen=True)
class WebDatasetShards:
    """Unpacks a shard by webdataset's own pipeline: opened by its `gopen`, expanded, grouped by key.

    Args:
        store: where shards in S3 lie.
        labels: `member`, `folder` or `none`.
        tolerance: where bad samples are counted.
    """

    store: Store
    labels: str
    tolerance: Tolerance

    def __call__(self, name: str) -> Iterator[RawSample]:
        """Yield the samples of one shard.

        Args:
            name: its URI or path.

        Raises:
            BadSampleError: it cannot be read, or is damaged or cut, and no more may be skipped.
            SystemExit: webdataset is not installed.
        """
        try:
            import webdataset
            from webdataset.gopen import gopen_schemes
        except ImportError:
            raise SystemExit("ingestion 'webdataset' needs the package webdataset: pip install webdataset") from None
        gopen_schemes["s3"] = self._open
        # Who reads which shard was decided before, so that its own splitters have nothing to do.
        pipeline = webdataset.WebDataset(
            [name], shardshuffle=False, nodesplitter=_unsplit, workersplitter=_unsplit, empty_check=False, handler=_raise
        )
        after = "none"
        try:
            for found in pipeline:
                after = found["__key__"]
                parts = {key: value for key, value in found.items() if not key.startswith("__")}
                yield from sample_of(after, parts, name, self.labels, self.tolerance)
        except BadSampleError:
            raise
        except Exception as error:  # noqa: BLE001  (those of tarfile, of its own, and of the client)
            what = str(error.args[0]).partition(" @ <")[0] if error.args else type(error).__name__
            self.tolerance.count("read_errors")
            self.tolerance.skip(BadSampleError(f"{name}: it cannot be read, after member {after}: {type(error).__name__}: {what}"))

    def _open(self, url: str, mode: str = "rb", bufsize: int = 8192, **more: Any) -> Any:
        return Resumed(self.store, url, self.tolerance)


def _unsplit(urls: Any) -> Any:
    return urls


def _raise(error: Exception) -> bool:
    raise error
