"""Data sets as a definition describes them: generated, the user's own folder, objects in S3, or a file system that is mounted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_serializer, model_validator

from definitions.fields import Count, NotNegative, Positive, Size, Text
from definitions.formats import ENCODINGS, FORMATS, LABELS, LABELS_OF
from definitions.model import Model

if TYPE_CHECKING:
    FormatName: TypeAlias = str
    Labels: TypeAlias = str
    Encoding: TypeAlias = str
else:
    # The tables' names: any other is refused where it is written.
    FormatName = Literal[tuple(FORMATS)]
    Labels = Literal[LABELS]
    Encoding = Literal[ENCODINGS]


def _check_resolution(text: str) -> str:
    match = re.fullmatch(r"\s*(\d+)\s*[xX]\s*(\d+)\s*", text)
    if match is None or not 0 < int(match[1]) <= 65500 or not 0 < int(match[2]) <= 65500:
        raise ValueError(f"needs width x height in pixels, such as 496x387; {text!r} was given")
    return f"{int(match[1])}x{int(match[2])}"


Resolution = Annotated[str, Field(strict=True), AfterValidator(_check_resolution)]
Spread = Annotated[float, Field(strict=True, ge=0, lt=1)]


class _Stored:
    """Says the layout of what has a `format`; no model, so that each data set keeps the order of its fields."""

    if TYPE_CHECKING:
        format: FormatName

    @property
    def layout(self) -> str:
        """`files`, `shards`, `records`, `table` or `chunks`."""
        return FORMATS[self.format].layout

    @property
    def label_place(self) -> str:
        """Where the label of a sample is: `folder`, `member`, `feature` or `none`."""
        return FORMATS[self.format].labels

    @property
    def sample_content(self) -> str:
        """What a sample is: `images`, `rows` or `bytes`; empty where that is not known, as of a user's archives and tables."""
        return {"files": "bytes" if self.format == "bin" else "images"}.get(self.layout, "")

    @property
    def own_ingestion(self) -> str | None:
        """Name of the one ingestion that can read it; None where others than one can."""
        return None


class _Found(_Stored, Model):
    """Data that are there already."""

    if TYPE_CHECKING:
        labels: Labels | None

    @property
    def label_place(self) -> str:
        """Where the label of a sample is: as given, else as is usual for the format."""
        return self.labels or super().label_place

    @model_validator(mode="after")
    def _check_labels(self) -> _Found:
        possible = LABELS_OF[self.layout]
        if self.labels is not None and self.labels not in possible:
            raise ValueError(f"labels: {self.labels!r}: with format {self.format} they are one of {', '.join(possible)}")
        return self


class _Generated(_Stored, Model):
    """Data that are made. What was not given is not in a dump, so that a new key does not make the same data another set."""

    @model_serializer(mode="wrap")
    def _without_new_keys(self, dump: Any) -> dict[str, Any]:
        found: dict[str, Any] = dump(self)
        fields = type(self).model_fields
        return {key: value for key, value in found.items() if key not in self._later or value != fields[key].default}

    @property
    def _later(self) -> frozenset[str]:
        """Keys that came after data sets had been made, and are dumped where they differ from their default alone."""
        return frozenset()


class ImagesDataset(_Generated):
    """Images that are made with a seed: crops of the photographs that scikit-learn ships, one class a photograph, or noise."""

    type: Literal["images"]
    format: FormatName = "jpg"
    content: Literal["photo", "noise"] = "photo"
    encoding: Encoding | None = None
    samples: Count = 2000
    image_size: Positive = 96
    resolution: Resolution | None = None
    spread: Spread = 0.0
    quality: Annotated[int, Field(strict=True, ge=1, le=100)] | None = None
    classes: Positive | None = None
    samples_per_shard: Count | None = None
    shard_size: Size = 8 * 1024**2
    copies: Positive = 1
    seed: NotNegative = 0

    @property
    def _later(self) -> frozenset[str]:
        return frozenset({"content", "encoding", "resolution", "spread", "quality", "classes", "samples_per_shard", "copies"})

    @property
    def inside(self) -> str:
        """How each image is encoded: `jpg`, `png` or `raw`."""
        return self.encoding or (self.format if self.format in ENCODINGS else "jpg")

    @property
    def sample_content(self) -> str:
        """Images."""
        return "images"

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height in the middle, in pixels."""
        if self.resolution is None:
            return self.image_size, self.image_size
        width, _, height = self.resolution.partition("x")
        return int(width), int(height)

    @property
    def encoder_quality(self) -> int:
        """Of JPEG, from 1 to 100."""
        return self.quality or (90 if self.content == "photo" else 75)

    @property
    def class_count(self) -> int:
        """Number of classes."""
        return self.classes or (2 if self.content == "photo" else 10)

    @model_validator(mode="after")
    def _check(self) -> ImagesDataset:
        if self.format not in ("jpg", "png", "tar", "tfrecord", "chunks"):
            raise ValueError(f"format: images are made as jpg, png, tar, tfrecord or chunks; {self.format!r} was given")
        if self.layout == "files" and self.inside != self.format:
            raise ValueError(f"encoding: {self.encoding!r}: files of format {self.format} hold {self.format}; tar, tfrecord and chunks any")
        fields = type(self).model_fields
        # What is given as its default may come out of a dump, where all of them stand.
        for one, other in (("resolution", "image_size"), ("samples_per_shard", "shard_size")):
            if getattr(self, one) is not None and getattr(self, other) != fields[other].default:
                raise ValueError(f"{one} and {other}: give one of them")
        return self


class BytesDataset(_Generated):
    """Records of random bytes, which nothing can decode or compress: what a store and a reader can do by themselves."""

    type: Literal["bytes"]
    format: Literal["bin", "tar", "tfrecord", "chunks"] = "bin"
    samples: Count = 1000
    size: Size = 100_000
    spread: Spread = 0.0
    samples_per_shard: Count | None = None
    shard_size: Size = 8 * 1024**2
    copies: Positive = 1
    seed: NotNegative = 0

    @property
    def label_place(self) -> str:
        """Nowhere."""
        return "none"

    @property
    def sample_content(self) -> str:
        """Bytes that nothing decodes."""
        return "bytes"

    @model_validator(mode="after")
    def _check(self) -> BytesDataset:
        if self.samples_per_shard is not None and self.shard_size != type(self).model_fields["shard_size"].default:
            raise ValueError("samples_per_shard and shard_size: give one of them")
        return self


class TableDataset(_Generated):
    """Rows of numbers and a label that depends on them."""

    type: Literal["table"]
    format: Literal["csv", "parquet"] = "csv"
    rows: Count = 10_000
    columns: Positive = 10
    partitions: Positive = 4
    classes: Positive = 2
    copies: Positive = 1
    seed: NotNegative = 0

    @property
    def sample_content(self) -> str:
        """Rows of numbers."""
        return "rows"

    @model_validator(mode="after")
    def _check(self) -> TableDataset:
        if self.partitions > self.rows:
            raise ValueError(f"partitions: {self.partitions} of {self.rows} rows: a partition needs a row")
        return self


class Caltech256Dataset(_Generated):
    """Caltech-256 (Griffin, Holub, Perona 2007): 30,607 photographs of 257 classes, which are downloaded once (1.2 GB)."""

    type: Literal["caltech256"]
    format: Literal["jpg", "tar", "tfrecord"] = "jpg"
    encoding: Literal["jpg", "raw"] | None = None
    samples: Count | None = None
    samples_per_shard: Count | None = None
    shard_size: Size = 8 * 1024**2
    copies: Positive = 1
    url: Text = "https://data.caltech.edu/records/nyy15-4j048/files/256_ObjectCategories.tar"
    md5: Annotated[str, Field(strict=True, pattern=r"^[0-9a-f]{32}$")] = "67b4f42ca05d46448c6bb8ecd2220f6d"

    @property
    def sample_content(self) -> str:
        """Images."""
        return "images"

    @model_validator(mode="after")
    def _check(self) -> Caltech256Dataset:
        if self.format == "jpg" and self.encoding == "raw":
            raise ValueError("encoding: 'raw': files of format jpg hold jpg; tar and tfrecord any")
        if self.samples_per_shard is not None and self.shard_size != type(self).model_fields["shard_size"].default:
            raise ValueError("samples_per_shard and shard_size: give one of them")
        return self


class PathDataset(_Found):
    """A folder of the user's own on this machine."""

    type: Literal["path"]
    path: Text
    format: FormatName = "jpg"
    labels: Labels | None = None


class S3Dataset(_Found):
    """Objects under an S3 prefix of the user's own."""

    type: Literal["s3"]
    uri: Annotated[str, Field(pattern=r"^s3://[^/]+(/.*)?$")]
    format: FormatName = "jpg"
    labels: Labels | None = None


class FilesystemDataset(_Found):
    """A folder of an FSx for Lustre or EFS file system of the user's own, which a back-end mounts that can."""

    type: Literal["filesystem"]
    kind: Literal["fsx", "efs"]
    id: Annotated[str, Field(strict=True, pattern=r"^fs-[0-9a-f]{8,18}$")]
    directory: Annotated[str, Field(strict=True, pattern=r"^/", max_length=4096)]
    format: FormatName = "jpg"
    labels: Labels | None = None

    @property
    def own_ingestion(self) -> str | None:
        """The ingestion of its own kind, as nothing else mounts it."""
        return self.kind

    @property
    def uri(self) -> str:
        """Where it is: `fsx://fs-0123456789abcdef0/folder` or `efs://…`."""
        return f"{self.kind}://{self.id}{self.directory}"


GeneratedDataset: TypeAlias = ImagesDataset | BytesDataset | TableDataset | Caltech256Dataset
"""What is made here."""

Dataset = Annotated[
    ImagesDataset | BytesDataset | TableDataset | Caltech256Dataset | PathDataset | S3Dataset | FilesystemDataset,
    Field(discriminator="type"),
]


class DatasetsFile(Model):
    """What a file of data sets says, or the part of a definition that does."""

    datasets: dict[str, Dataset]
