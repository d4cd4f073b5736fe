"""Packs this very Outrider for a controller, alike from a checkout and from an installed wheel."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from backends.sagemaker.code.packing import START, Package, modules
from backends.sagemaker.code.source_files import Entry
from definitions.errors import UserError

PACKAGES = ("backends", "benchmarking", "definitions", "launch")
MODULES = ("hpo_main.py", "outrider.py")
REQUIREMENTS = "requirements.txt"

_SUFFIXES = frozenset({".py", ".csv", ".json", ".yaml", ".txt", ".css", ".js", ".sh", ".typed"})
"""Of what a wheel holds of our packages too; all else in a checkout, such as caches and results, stays behind."""
_ROOT = Path(__file__).resolve().parents[3]
_FORM = "controller-1"


def pack_project(requirements: Sequence[str], folder: Path, root: Path = _ROOT) -> Package:
    """Return the package of our own packages; its hash follows from their content alone, wherever they are installed.

    Args:
        requirements: lines of the requirements.txt that it gets.
        folder: where that file is written, which has to stay until the package is.
        root: folder that holds our packages.

    Raises:
        UserError: they are not all there, or cannot be read.
    """
    lines = folder / REQUIREMENTS
    try:
        lines.write_text("".join(f"{line}\n" for line in requirements), encoding="utf-8")
        entries = [_entry(name, path) for name, path in (*_files(root), (REQUIREMENTS, lines))]
        beside = [hashlib.sha256(content).hexdigest() for content in (START.read_bytes(), modules())]
    except OSError as error:
        raise UserError("launch: Outrider's own packages cannot be packed", str(error), "install it anew") from error
    entries.sort(key=lambda entry: entry.name)
    digest = hashlib.sha256("\0".join([_FORM, *beside]).encode())
    for entry in entries:
        digest.update(f"\0\0{entry.name}\0{entry.mode:o}\0{entry.digest}".encode())
    return Package(digest.hexdigest()[:16], tuple(entries))


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    for name in MODULES:
        yield name, root / name
    for package in PACKAGES:
        for path in (root / package).rglob("*"):
            if path.suffix in _SUFFIXES and "__pycache__" not in path.parts and path.is_file():
                yield path.relative_to(root).as_posix(), path


def _entry(name: str, path: Path) -> Entry:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    # An installer sets modes of its own.
    return Entry(name, path, "", 0o755 if path.suffix == ".sh" else 0o644, path.stat().st_size, digest)
