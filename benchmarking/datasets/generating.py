"""Makes the parts of a set: what a definition asks for, which packages that needs, and the files of one part."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarking.datasets.chunks import INDEX, chunk_name, index
from benchmarking.datasets.made_sample import SampleSource
from benchmarking.datasets.manifest import FileEntry
from benchmarking.datasets.parts import fitting_per_file, fixed_per_file, parts_of
from benchmarking.datasets.sample_files import Wanted, shard, stored_bytes, write_file
from definitions import strict_json
from definitions.datasets import BytesDataset, Caltech256Dataset, GeneratedDataset, TableDataset
from definitions.errors import UserError
from definitions.formats import FORMATS

GENERATOR = 2
"""Raised whenever other bytes come out for the same specification, so that older sets do not count."""

_PROBES = 32
"""Samples that are looked at to say how many fill a shard."""


def packages(spec: GeneratedDataset) -> tuple[str, ...]:
    """Return the packages that making a set needs, and whose versions decide about its bytes."""
    format_package = FORMATS[spec.format].package
    own: tuple[str, ...] = ("numpy",)
    if isinstance(spec, BytesDataset):
        own = ()
    elif isinstance(spec, Caltech256Dataset):
        own = ("pillow", "numpy") if spec.encoding == "raw" else ()
    elif not isinstance(spec, TableDataset):
        own = ("pillow", "scikit-learn") if spec.content == "photo" else ("pillow", "numpy")
    return (*own, *((format_package,) if format_package else ()))


def versions(spec: GeneratedDataset) -> dict[str, str]:
    """Return the versions of these packages; raises `UserError` where one is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in packages(spec):
        try:
            found[name] = version(name)
        except PackageNotFoundError as error:
            needed = f"a data set of type {spec.type} and format {spec.format} was asked for"
            raise UserError(needed, f"the package {name} is not installed", f"pip install {' '.join(packages(spec))}") from error
    return found


def content_key(spec: GeneratedDataset) -> str:
    """Return a name for the bytes that this specification gives with the installed packages; raises `UserError` where one is missing."""
    facts = {"generator": GENERATOR, **versions(spec), **spec.model_dump(mode="json")}
    if spec.layout == "files" or facts.get("samples_per_shard"):
        facts.pop("shard_size", None)
    return f"{spec.type}-" + hashlib.sha256(strict_json.dumps(facts).encode()).hexdigest()[:16]


class Generator:
    """Makes the parts of one set; the same bytes for the same specification, whoever makes which part.

    Args:
        spec: of the set.
        per_file: samples of a file, where an earlier run has found that out; None for finding it out.
        archive: what was downloaded for it; None where nothing was.
    """

    def __init__(self, spec: GeneratedDataset, per_file: int | None = None, archive: Path | None = None) -> None:
        self.spec, self.archive = spec, archive
        self._source = None if isinstance(spec, TableDataset) else _source(spec, archive)
        self.samples = spec.rows if isinstance(spec, TableDataset) else self._source_of().samples
        self.classes = spec.classes if isinstance(spec, TableDataset) else self._source_of().classes
        self.parts = parts_of(spec, self.samples, per_file or fixed_per_file(spec) or self._fitting())

    def write_part(self, number: int, data: Path, wanted: Wanted = lambda name: True) -> list[FileEntry]:
        """Write the files of a part, those that are wanted, and return the entries of all.

        Args:
            number: of the part.
            data: folder of the set's files.
            wanted: says of a name whether it is to be written.

        Raises:
            OSError: a file cannot be written.
        """
        found = []
        spec = self.spec
        for file in self.parts.files(number):
            rows = self.parts.of_file(file)
            if isinstance(spec, TableDataset):
                from benchmarking.datasets.tables import table_file

                found += write_file(data, *table_file(spec, file, rows), wanted=wanted)
                continue
            source = self._source_of()
            if spec.layout == "files":
                sample = source.sample(rows[0])
                name = f"{sample.folder}/{sample.key}.{sample.ending}".lstrip("/")
                found += write_file(data, name, spec.copies, (b"".join(sample.content),), wanted)
            else:
                name = chunk_name(file) if spec.layout == "chunks" else f"shard-{file:05d}.{spec.format}"
                found += write_file(data, name, spec.copies, shard(spec.layout, map(source.sample, rows)), wanted)
        return found

    def write_index(self, data: Path, parts: Iterable[Sequence[FileEntry]], wanted: Wanted = lambda name: True) -> list[FileEntry]:
        """Write what readers of the format begin with, after all parts; nothing where it has no such file.

        Args:
            data: folder of the set's files.
            parts: entries of all parts, in the order of their numbers.
            wanted: says of a name whether it is to be written.
        """
        if self.spec.layout != "chunks":
            return []
        samples = {chunk_name(file): len(self.parts.of_file(file)) for file in range(self.parts.file_count)}
        entries = [entry for part in parts for entry in part]
        rows = [(entry.name, entry.size_bytes, samples[entry.name.rpartition("/")[2]]) for entry in entries]
        content = index(self._source_of().sample(0), rows, self.parts.per_file)
        return write_file(data, INDEX, 1, (content,), wanted)

    def _source_of(self) -> SampleSource:
        assert self._source is not None, "all but tables have one"
        return self._source

    def _fitting(self) -> int:
        spec = self.spec
        assert not isinstance(spec, TableDataset)
        source = self._source_of()
        probes = range(0, self.samples, max(1, self.samples // _PROBES))
        mean = sum(stored_bytes(spec.layout, source.sample(index)) for index in probes) / len(probes)
        return fitting_per_file(spec.shard_size, mean)


def _source(spec: GeneratedDataset, archive: Path | None) -> SampleSource:
    if isinstance(spec, Caltech256Dataset):
        from benchmarking.datasets.caltech import CaltechImages

        assert archive is not None, "it is downloaded before"
        return CaltechImages(spec, archive)
    if isinstance(spec, BytesDataset):
        from benchmarking.datasets.random_records import RandomRecords

        return RandomRecords(spec)
    assert not isinstance(spec, TableDataset)
    if spec.content == "noise":
        from benchmarking.datasets.noise import NoiseImages

        return NoiseImages(spec)
    from benchmarking.datasets.photographs import Photographs

    return Photographs(spec)
