"""The source folder as it was measured, kept with the results: by version of the code, each content once for all runs."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.common.source_tree import files_below
from benchmarking.archive.code_version import SOURCE_SUFFIXES, CodeVersion, is_result
from benchmarking.archive.identity import ExperimentSpec
from definitions.errors import UserError
from definitions.files import making_folder
from definitions.quantities import size_text

MOST_FILE_BYTES = 10_000_000
"""Of a file that is kept; a larger one is taken to be data."""
MOST_BYTES = 50_000_000
"""Of all files of a version; where there is more, sources alone are kept, as far as they fit."""
_MOST_FILES = 10_000
_STORE = ".source"


@dataclass(frozen=True)
class _Found:
    """A file of the source folder: its name there, where it is and what it takes."""

    name: str
    path: Path
    size_bytes: int


def source_folder(folder: Path, code: str) -> Path:
    """Return where an experiment keeps a version of its source, whether it does or not.

    Args:
        folder: of the experiment.
        code: version of the code.
    """
    return folder / "source" / code


def check_there(about: Path, data: Mapping[str, Any], settings: Sequence[str], kept: Iterable[Path]) -> None:
    """Raise `UserError` where the source of what is to go on is gone, with the ways on.

    Args:
        about: folder that is named in the message.
        data: of the stored definition.
        settings: `key=value` texts that are laid over it.
        kept: folders in which versions of the source are kept.
    """
    there = data.get("source_dir")
    if not isinstance(there, str) or any(text.startswith(("source_dir=", "script=", "command=")) for text in settings):
        return
    gone = f"its source folder {there} is gone" if not Path(there).is_dir() else ""
    words = [data.get("script"), *(data.get("command") or ())[:2]]
    script = next((word for word in words if isinstance(word, str) and word.endswith((".py", ".sh")) and "${" not in word), None)
    if not gone and script is not None and not (Path(there) / script).is_file():
        gone = f"its script {script} is no longer in {there}"
    if gone:
        newest = max(kept, key=lambda path: path.stat().st_mtime, default=None)
        again = "" if newest is None else f"; as it was measured: --set source_dir={newest.absolute()}"
        raise UserError(f"{about}: {gone}", "", f"where it was moved: --set source_dir=FOLDER{again}")


def keep_source(spec: ExperimentSpec, version: CodeVersion) -> list[str]:
    """Keep the source folder as it is now below the experiment's folder, and return in words what was left out of it.

    Files are hard links into a store by content beside the tags, so that many runs of one source take the room of one; where the file
    system has no links they are copies. They are read-only. Nothing is kept where no code of ours is run, or where this version is kept.

    Args:
        spec: the experiment, whose folder exists.
        version: of its code.

    Returns:
        Lines for people; also where nothing can be kept, as a run does not depend on it.
    """
    target = source_folder(spec.folder, version.code)
    if not version.code or target.is_dir():
        return []
    kept, left = _chosen(spec)
    try:
        with making_folder(target) as making:
            for found in kept:
                place = making / found.name
                place.parent.mkdir(parents=True, exist_ok=True)
                _link(found.path, place, spec.results_dir / _STORE)
    except OSError as error:
        return [f"the source is not kept with the results: {error}"]
    if not left:
        return []
    names = ", ".join(f"{one.name} ({size_text(one.size_bytes)})" for one in left[:3]) + (f" and {len(left) - 3} more" if left[3:] else "")
    return [f"kept with the results is the source without what is large: {names}"]


def _chosen(spec: ExperimentSpec) -> tuple[list[_Found], list[_Found]]:
    """Return the files that are kept, and those that are too large for it; what may hold a secret is in neither."""
    found = list(_files(spec))
    fits = [one for one in found if one.size_bytes <= MOST_FILE_BYTES]
    if sum(one.size_bytes for one in fits) > MOST_BYTES:
        fits = [one for one in fits if one.path.suffix in SOURCE_SUFFIXES or one.name == spec.definition.script]
    kept: list[_Found] = []
    total = 0
    for one in fits:
        if total + one.size_bytes <= MOST_BYTES:
            total += one.size_bytes
            kept.append(one)
    names = {one.name for one in kept}
    return kept, sorted((one for one in found if one.name not in names), key=lambda one: -one.size_bytes)


def _files(spec: ExperimentSpec) -> Iterator[_Found]:
    folder, only_code = Path(spec.definition.source_dir), spec.definition.script is None
    try:
        for number, (name, path) in enumerate(files_below(folder)):
            if number >= _MOST_FILES:
                break
            # A command that names no script may stand in any folder, of which all else is nobody's business.
            if (only_code and path.suffix not in SOURCE_SUFFIXES) or is_result(path, folder, spec.results_dir):
                continue
            with contextlib.suppress(OSError):
                # What a link points to is kept in its place; a folder that one points to is somebody else's.
                real = path.resolve(strict=True)
                if real.is_file():
                    yield _Found(name, real, real.stat().st_size)
    except (OSError, UserError):
        script = folder / (spec.definition.script or "")
        if script.is_file():
            yield _Found(script.name, script, script.stat().st_size)


def _link(source: Path, place: Path, store: Path) -> None:
    """Put a file's content into place, by way of the store."""
    content = source.read_bytes()
    mode = 0o555 if source.stat().st_mode & 0o100 else 0o444
    stored = store / f"{hashlib.sha256(content).hexdigest()}-{mode:o}"
    try:
        if not stored.is_file():
            store.mkdir(parents=True, exist_ok=True)
            making = store / f".{stored.name}.{os.getpid()}"
            making.write_bytes(content)
            making.chmod(mode)
            making.replace(stored)
        os.link(stored, place)
    except OSError:
        # No links here, or too many of one file: a copy serves as well.
        place.write_bytes(content)
        place.chmod(mode)
