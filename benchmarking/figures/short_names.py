"""Names that may be of any length, short enough for a legend, and still each its own. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOST = 48
"""Characters of a name that a legend has room for."""


def short_names(names: Iterable[str], most: int = MOST) -> dict[str, str]:
    """Return whole name -> short one; different names stay different.

    Args:
        names: in any number; those that fit stay as they are.
        most: characters of a short one; at least 16.
    """
    whole = list(dict.fromkeys(names))
    found: dict[str, str] = {}
    taken = {name for name in whole if len(name) <= most and name.isprintable()}
    for name in whole:
        # Line feeds and other signs that move the cursor would break a legend, or a file name.
        clean = "".join(sign if sign.isprintable() else " " for sign in name)
        short = clean if len(clean) <= most else _cut(clean, most)
        number = 2
        while short != name and short in taken:
            ending = f" ({number})"
            short = _cut(clean, most - len(ending)) + ending
            number += 1
        found[name] = short
        taken.add(short)
    return found


def changed(short: Mapping[str, str]) -> dict[str, str]:
    """Return short name -> whole of those that are not the same: what a figure keeps."""
    return {name: whole for whole, name in short.items() if name != whole}


def _cut(name: str, most: int) -> str:
    """Return begin and end of a name, as what tells two apart is often its end."""
    if len(name) <= most:
        return name
    end = (most - 1) // 3
    return name[: most - 1 - end] + "…" + name[-end:]
