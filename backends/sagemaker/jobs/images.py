"""Which image a framework's version means, from two dated tables of AWS's own images; the SageMaker SDK is not asked."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from definitions.errors import UserError, did_you_mean
from definitions.instances import instance_facts

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Image:
    """One image of the table.

    Args:
        framework, version, py_version: what it holds; the Python is empty where the source does not say.
        device: `cpu`, `gpu`, or `any`.
        registry: kind of account that it lies in: `dlc`, or `algorithms`.
        repository, tag: its name there.
        supported_until: day after which AWS no longer patches it (YYYY-MM-DD); empty where the source does not say.
        date: of the source; `source`: where the row is from.
    """

    framework: str
    version: str
    py_version: str
    device: str
    registry: str
    repository: str
    tag: str
    supported_until: str
    date: str
    source: str


@dataclass(frozen=True)
class ImageTables:
    """All images, and accounts by (registry, region)."""

    images: tuple[Image, ...]
    accounts: Mapping[tuple[str, str], str]


def load_images(images_csv: Path = _FOLDER / "images.csv", registries_csv: Path = _FOLDER / "registries.csv") -> ImageTables:
    """Return the tables in two CSV files, by default those that come with Outrider; raises `UserError` where one cannot be read."""
    images = tuple(Image(**row) for row in _rows(images_csv))
    accounts = {(row["registry"], row["region"]): row["account"] for row in _rows(registries_csv)}
    return ImageTables(images, accounts)


def find_images(
    framework: str, version: str | None, region: str, py_version: str | None = None, tables: ImageTables | None = None
) -> tuple[str | None, str | None]:
    """Return the URIs of a framework's image for instances without and with a GPU; None where there is none of the kind.

    Args:
        framework: e.g. `pytorch`.
        version: whole, or its beginning, of which the newest is taken: `2.9` is 2.9.0; the newest of all where None.
        region: AWS region whose registry is used.
        py_version: e.g. `py312`; any where None.
        tables: in place of those that come with Outrider.

    Raises:
        UserError: the framework, the version, the Python or the region is not in the tables.
    """
    found = tables or load_images()
    chosen = _chosen(framework.lower(), version, py_version, found.images)
    by_device = {image.device: _uri(image, region, found.accounts) for image in chosen}
    return by_device.get("any", by_device.get("cpu")), by_device.get("any", by_device.get("gpu"))


def image_facts(uri: str, tables: ImageTables | None = None) -> Image | None:
    """Return the table's row of an image, or None where it is of the user's own."""
    name = uri.rpartition("/")[2]
    return next((image for image in (tables or load_images()).images if f"{image.repository}:{image.tag}" == name), None)


def has_gpu(instance_type: str) -> bool:
    """Return whether instances of this type have GPUs: by the table of facts, else by the family's letter (`ml.p…`, `ml.g…`)."""
    facts = instance_facts(instance_type)
    return facts.gpus > 0 if facts is not None else instance_type.startswith(("ml.p", "ml.g"))


def _chosen(framework: str, version: str | None, py_version: str | None, images: Iterable[Image]) -> list[Image]:
    named = [image for image in images if image.framework == framework]
    if not named:
        known = sorted({image.framework for image in images})
        raise UserError(f"framework {framework!r}: no image of it is known", did_you_mean(framework, known), "or give `image`")
    fitting = [
        image for image in named if version is None or image.version == version or image.version.startswith((f"{version}.", f"{version}-"))
    ]
    if not fitting:
        versions = ", ".join(sorted({image.version for image in named}, key=_ascending))
        raise UserError(
            f"framework_version {version!r} of {framework} is not in the table of images (of {max(image.date for image in named)})",
            f"known: {versions}",
            "give one of them, or `image`, the URI of the image itself",
        )
    if py_version is not None and not any(image.py_version == py_version for image in fitting):
        pythons = ", ".join(sorted({image.py_version for image in fitting if image.py_version})) or "not said by the source"
        raise UserError(
            f"py_version {py_version!r} of {framework} {version or ''}: there is no such image", f"known: {pythons}", "or give `image`"
        )
    fitting = [image for image in fitting if py_version is None or image.py_version == py_version]
    newest = max((image.version for image in fitting), key=_ascending)
    return [image for image in fitting if image.version == newest]


def _uri(image: Image, region: str, accounts: Mapping[tuple[str, str], str]) -> str:
    account = accounts.get((image.registry, region))
    if account is None:
        regions = ", ".join(sorted(where for kind, where in accounts if kind == image.registry))
        raise UserError(f"region {region}: no registry of {image.framework} images is known there", f"known: {regions}", "give `image`")
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"{account}.dkr.ecr.{region}.{domain}/{image.repository}:{image.tag}"


def _ascending(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.replace("-", ".").split("."))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)
    except OSError as error:
        raise UserError(f"{path}: cannot be read", str(error)) from error
