"""Caltech-256: the archive is downloaded once, checked, and read where it lies; nothing is unpacked."""

from __future__ import annotations

import hashlib
import os
import random
import re
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from benchmarking.datasets.made_sample import MadeSample
from benchmarking.datasets.pace import Pace
from definitions.datasets import Caltech256Dataset
from definitions.errors import UserError
from definitions.quantities import size_text

_BLOCK = 1 << 20
_CLASS = re.compile(r"\d+\..+")


def download(spec: Caltech256Dataset, cache: Path, say: Callable[[str], None]) -> Path:
    """Return the archive, fetched where it is not there yet; a download that was interrupted goes on.

    Args:
        spec: says from where, and what its checksum is.
        cache: folder below which it is kept.
        say: called with how far it is.

    Raises:
        UserError: it cannot be fetched, or is another file than was expected.
    """
    final = cache / "downloads" / f"{spec.md5}.tar"
    if final.is_file():
        return final
    partial = final.with_suffix(".part")
    final.parent.mkdir(parents=True, exist_ok=True)
    try:
        _fetch(spec.url, partial, say)
    except (urllib.error.URLError, ValueError, OSError) as error:
        raise UserError(
            f"data set of type {spec.type}: download of {spec.url}",
            str(getattr(error, "reason", error)),
            "check the network; or fetch it otherwise, and give `url: file:///...`",
        ) from error
    found = hashlib.md5(usedforsecurity=False)
    with partial.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    if found.hexdigest() != spec.md5:
        partial.unlink()
        raise UserError(
            f"data set of type {spec.type}: {spec.url}",
            f"its MD5 is {found.hexdigest()}, not {spec.md5}",
            "fetch it again; or give the `md5` of the archive that you mean",
        )
    partial.rename(final)
    return final


def _fetch(url: str, partial: Path, say: Callable[[str], None]) -> None:
    begun = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={begun}-"} if begun else {})
    try:
        answer = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        if error.code != 416:
            raise
        return  # nothing is left to fetch; the checksum says whether that is right
    with answer:
        goes_on = getattr(answer, "status", None) == 206
        expected = int(answer.headers.get("Content-Length") or 0) + (begun if goes_on else 0)
        with partial.open("ab" if goes_on else "wb") as file:
            pace = Pace()
            while block := answer.read(_BLOCK):
                file.write(block)
                if pace.is_due():
                    say(f"download of {url}: {size_text(file.tell())}{f' of {size_text(expected)}' if expected else ''}")
        if expected and partial.stat().st_size < expected:
            raise OSError(f"the connection ended after {partial.stat().st_size} of {expected} bytes")


class CaltechImages:
    """Reads images out of the archive.

    Args:
        spec: of the set.
        archive: the downloaded file.

    Raises:
        UserError: the archive has members that lead out of its folder, or no images.
    """

    def __init__(self, spec: Caltech256Dataset, archive: Path) -> None:
        self._spec, self._archive = spec, archive
        found: list[tuple[str, int, int]] = []
        try:
            with tarfile.open(archive) as opened:
                for member in opened:
                    _check_member(spec, member)
                    path = PurePosixPath(member.name)
                    if member.isfile() and path.suffix.lower() == ".jpg" and _CLASS.fullmatch(path.parent.name):
                        found.append((member.name, member.offset_data, member.size))
        except tarfile.TarError as error:
            raise UserError(f"data set of type {spec.type}: {spec.url}", f"it is no TAR archive ({error})", "check the URL") from error
        if not found:
            raise UserError(f"data set of type {spec.type}: {spec.url}", "it holds no <number>.<class>/<name>.jpg", "check the URL")
        classes = sorted({PurePosixPath(name).parent.name for name, _, _ in found})
        self._labels = {name: label for label, name in enumerate(classes)}
        found.sort()
        # An order of its own, so that the first samples are of all classes.
        random.Random("caltech256").shuffle(found)
        self._members = found
        self.samples = min(spec.samples or len(found), len(found))
        self.classes: int | None = len(classes)
        self._file = -1

    def sample(self, index: int) -> MadeSample:
        """Return the image of this number; its label is the number of its class, from 0, in the order of their folders."""
        name, offset, size = self._members[index]
        if self._file < 0:
            self._file = os.open(self._archive, os.O_RDONLY | os.O_CLOEXEC)
        content = os.pread(self._file, size, offset)
        path = PurePosixPath(name)
        folder = path.parent.name
        if self._spec.encoding != "raw":
            return MadeSample(path.stem, folder, self._labels[folder], (content,), "jpg")
        pixels, shape = _pixels(content)
        return MadeSample(path.stem, folder, self._labels[folder], (pixels,), "npy", shape)


def _check_member(spec: Caltech256Dataset, member: tarfile.TarInfo) -> None:
    """Refuse what would be written outside of a folder if it were unpacked: such an archive is not the one that was meant."""
    paths = [member.name, *([member.linkname] if member.islnk() or member.issym() else [])]
    for path in paths:
        if path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise UserError(
                f"data set of type {spec.type}: {spec.url}", f"its member {member.name!r} leads out of its folder", "use another archive"
            )


def _pixels(jpeg: bytes) -> tuple[bytes, tuple[int, int, int]]:
    import io

    from PIL import Image

    with Image.open(io.BytesIO(jpeg)) as image:
        colours = image.convert("RGB")
        return colours.tobytes(), (colours.height, colours.width, 3)
