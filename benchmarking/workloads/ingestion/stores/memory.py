"""Samples in memory that all loader workers share: what a pipeline makes of data that cost nothing to fetch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from ..samples import RawSample


class Memory:
    """Samples side by side in one block of shared memory.

    Args:
        samples: all of them; their contents are bytes, or arrays of one sort.
    """

    def __init__(self, samples: Iterable[RawSample]) -> None:
        kept: list[tuple[str, int, str, int, Any]] = []
        parts: list[bytes] = []
        total = 0
        for one in samples:
            content = one.content
            shape = None if isinstance(content, bytes) else (content.shape, content.dtype.str)
            data = content if isinstance(content, bytes) else content.tobytes()
            kept.append((one.key, one.label, one.place, total, shape))
            parts.append(data)
            total += len(data)
        self._kept, self.size_bytes = kept, total
        self._ends = [start for _, _, _, start, _ in kept[1:]] + [total]
        joined = torch.frombuffer(bytearray(b"".join(parts)), dtype=torch.uint8) if total else torch.zeros(0, dtype=torch.uint8)
        self._block = joined.share_memory_()  # type: ignore[no-untyped-call]

    def __len__(self) -> int:
        return len(self._kept)

    def sample(self, index: int) -> RawSample:
        """Return one of them."""
        key, label, place, start, shape = self._kept[index]
        data = self._block[start : self._ends[index]].numpy()
        content = data.tobytes() if shape is None else data.view(np.dtype(shape[1])).reshape(shape[0]).copy()
        return RawSample(key, content, label, place)
