"""Files and folders that appear whole: a reader sees the old one or the new one, never half of one, also after a power cut."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from definitions.errors import UserError

_ADVICE = "check the folder's permissions and the room on the disk, or give another --results_dir"


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's content.

    Raises:
        UserError: the folder cannot be written, or the disk is full; the old content stands.
    """
    with replacing(path) as file:
        file.write(text)


@contextlib.contextmanager
def replacing(path: Path, advice: str = _ADVICE) -> Iterator[IO[str]]:
    """Give a new file to write to, which takes the path's place when all went well and vanishes otherwise.

    Args:
        path: of the file; folders above it are made.
        advice: what to do where it cannot be written.

    Raises:
        UserError: the folder cannot be written, or the disk is full; the old content stands.
    """
    # What UTF-8 cannot hold (half a character in a script's message) is written as an escape rather than not at all.
    with (
        replacing_with(path, advice) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        yield file


@contextlib.contextmanager
def replacing_with(path: Path, advice: str = _ADVICE) -> Iterator[Path]:
    """Give the path of an empty file to write to by any means; else as `replacing`."""
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(descriptor)
        temporary = Path(name)
        yield temporary
        # Without this some file systems record the new name before the content, and a power cut leaves an empty file.
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UserError(f"cannot write {path}", str(error), advice) from error
        raise


@contextlib.contextmanager
def making_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder to fill, which takes the path's place when all went well and vanishes otherwise.

    Where another process made a folder of this path meanwhile, that one stays: who calls names folders by their content.

    Args:
        path: of the folder, which does not exist yet; folders above it are made.

    Raises:
        OSError: it cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=path.parent))
    try:
        yield making
        making.chmod(0o755)
        try:
            making.rename(path)
        except OSError:
            if not path.is_dir():
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
