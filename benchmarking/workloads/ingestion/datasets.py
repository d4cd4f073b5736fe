"""Data sets for PyTorch's loader: map-style over objects, iterable-style over streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from torch.utils.data import Dataset, IterableDataset

from .formats.tar import unpacked
from .samples import Sample, class_of, decoded, key_of
from .stores.base import Store


class Files(Dataset[Sample]):
    """Map-style: one object is one sample; its folder is its class."""

    def __init__(self, store: Store, names: list[str], classes: Mapping[str, int]) -> None:
        self._store, self._names, self._classes = store, names, classes

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> Sample:
        name = self._names[index]
        with self._store.open(name) as file:
            return key_of(name), decoded(file.read()), self._classes[class_of(name)]


class Stream(IterableDataset[Sample]):
    """Iterable-style: passes through objects in order; those of a loader worker come from `sources`."""

    def __init__(self, sources: Callable[[], Iterable[tuple[str, Any]]], layout: str, classes: Mapping[str, int]) -> None:
        self._sources, self._layout, self._classes = sources, layout, classes

    def __iter__(self) -> Iterator[Sample]:
        for name, file in self._sources():
            if self._layout == "shards":
                yield from unpacked(file)
            else:
                yield key_of(name), decoded(file.read()), self._classes[class_of(name)]
