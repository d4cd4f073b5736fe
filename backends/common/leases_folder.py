"""The folder in which all experiments of a user on this machine leave what they must agree on."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from definitions.errors import UserError


def leases_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder: `OUTRIDER_LEASES` where it is set, else one per user among the temporary files, which is made here.

    Raises:
        UserError: somebody else has made the one among the temporary files, whose name can be guessed.
    """
    named = environment.get("OUTRIDER_LEASES")
    return Path(named) if named else own_folder(Path(tempfile.gettempdir()) / f"outrider-leases-{os.getuid()}")


def own_folder(path: Path) -> Path:
    """Make a folder that this user alone can write to, and return it; raises `UserError` where there is one that others can."""
    with contextlib.suppress(OSError):
        path.mkdir(mode=0o700)
    try:
        facts = path.lstat()
    except OSError:
        return path  # whoever uses it says what is wrong with it
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o022:
        raise UserError(
            f"the folder of leases {path}: it is not yours alone",
            "another user of this machine has made it, or can write to it, and may have put anything there",
            "delete it, or set OUTRIDER_LEASES to a folder of your own",
        )
    return path
