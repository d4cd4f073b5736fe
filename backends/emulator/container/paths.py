"""Where a path that somebody else names really is: the one way from names in requests, archives and buckets to files of this machine."""

from __future__ import annotations

import os
from pathlib import Path

ML = "/opt/ml"
_MOST_STEPS = 1000
_LONGEST_NAME_BYTES = 255


def resolve(ml: Path, path: str, within: str = ML) -> Path | None:
    """Return the real place of a path as a program in the container would reach it; None where it is outside of a folder of it.

    Links are followed as they lead in there, one by one, so that neither `..` nor a link, however they are combined, leads out of the
    container.

    Args:
        ml: the real place of /opt/ml.
        path: absolute, as the program sees it; it need not exist.
        within: the folder of the container that it has to be in, or to be.
    """
    at: list[str] = []
    left = _words(path)
    root, bounds = _words(ML), _words(within)
    for _ in range(_MOST_STEPS + len(left)):
        if not left:
            return _real(ml, root, at) if at[: len(bounds)] == bounds else None
        word = left.pop(0)
        if word == "..":
            del at[-1:]
            continue
        at.append(word)
        if at[: len(root)] != root:
            continue  # what else of the machine the program sees is none of the container's
        try:
            link = str(_real(ml, root, at).readlink()) if len(at) > len(root) else ""
        except (OSError, ValueError):
            continue  # no link, or nothing at all
        if not link:
            continue
        # Where the container is relocated its programs see real paths.
        seen = f"{ML}{link[len(str(ml)) :]}" if f"{link}/".startswith(f"{ml}/") else link
        at = [] if seen.startswith("/") else at[:-1]
        left = _words(seen) + left
    return None


def place_of_object(ml: Path, folder: str, name: str) -> Path:
    """Return where an object goes that is put into a folder of the container under a name.

    Args:
        ml: the real place of /opt/ml.
        folder: of the container, which it may not leave.
        name: of the object within it.

    Raises:
        ValueError: no file can have this name; the message says why.
    """
    if "\0" in name or any(len(os.fsencode(word)) > _LONGEST_NAME_BYTES for word in name.split("/")):
        raise ValueError(f"no file can be called {name[:200]!r}")
    found = resolve(ml, f"{folder}/{name}", folder)
    if found is None or found == resolve(ml, folder):
        raise ValueError(f"{name[:200]!r} leads out of its folder")
    return found


def _words(path: str) -> list[str]:
    return [word for word in path.split("/") if word not in ("", ".")]


def _real(ml: Path, root: list[str], at: list[str]) -> Path:
    return ml.joinpath(*at[len(root) :])
