"""Refuses a Python that is too old in a sentence. This file, hpo_main.py, `__init__` and `__main__` here keep to what Python 3.6 parses."""

OLDEST = (3, 11)


def too_old(version: "tuple[int, ...]") -> "str | None":
    """Return the sentence for a Python that cannot run Outrider, or None.

    Args:
        version: as `sys.version_info[:3]` has it.
    """
    if version >= OLDEST:
        return None
    needed, found = ".".join(map(str, OLDEST)), ".".join(map(str, version))
    return f"Outrider needs Python {needed} or newer; this is Python {found}"
