"""Data sets as a definition describes them: generated, the user's own folder, objects in S3, or a file system that is mounted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from definitions.fields import Count, NotNegative, Positive, Size, Text
from definitions.formats import FORMATS
from definitions.model import Model

if TYPE_CHECKING:
    FormatName: TypeAlias = str
else:
    # The table's names: any other is refused where it is written.
    FormatName = Literal[tuple(FORMATS)]


class _Stored:
    """Says the layout of what has a `format`; no model, so that each data set keeps the order of its fields."""

    if TYPE_CHECKING:
        format: FormatName

    @property
    def layout(self) -> str:
        """`files` or `shards`."""
        return FORMATS[self.format].layout

    @property
    def own_ingestion(self) -> str | None:
        """Name of the one ingestion that can read it; None where others than one can."""
        return None


class ImagesDataset(_Stored, Model):
    """JPEG crops cut with a seed from the photographs that scikit-learn ships; the class says which photograph."""

    type: Literal["images"]
    format: FormatName = "jpg"
    samples: Count = 2000
    image_size: Positive = 96
    shard_size: Size = 8 * 1024**2
    seed: NotNegative = 0


class PathDataset(_Stored, Model):
    """A folder of the user's own on this machine."""

    type: Literal["path"]
    path: Text
    format: FormatName = "jpg"


class S3Dataset(_Stored, Model):
    """Objects under an S3 prefix of the user's own."""

    type: Literal["s3"]
    uri: Annotated[str, Field(pattern=r"^s3://[^/]+(/.*)?$")]
    format: FormatName = "jpg"


class FilesystemDataset(_Stored, Model):
    """A folder of an FSx for Lustre or EFS file system of the user's own, which a back-end mounts that can."""

    type: Literal["filesystem"]
    kind: Literal["fsx", "efs"]
    id: Annotated[str, Field(strict=True, pattern=r"^fs-[0-9a-f]{8,18}$")]
    directory: Annotated[str, Field(strict=True, pattern=r"^/", max_length=4096)]
    format: FormatName = "jpg"

    @property
    def own_ingestion(self) -> str | None:
        """The ingestion of its own kind, as nothing else mounts it."""
        return self.kind

    @property
    def uri(self) -> str:
        """Where it is: `fsx://fs-0123456789abcdef0/folder` or `efs://…`."""
        return f"{self.kind}://{self.id}{self.directory}"


Dataset = Annotated[ImagesDataset | PathDataset | S3Dataset | FilesystemDataset, Field(discriminator="type")]
