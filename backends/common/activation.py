"""What an activated environment sets, for the interpreter that a definition names: so programs that a job starts find it as `python`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_OF_OTHERS = ("VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONHOME")
"""What another environment, in which the controller may run, has set for itself."""

_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Activation:
    """An interpreter's place.

    Args:
        programs: folder of it, and of the programs that were installed with its packages.
        own: variables by which its environment is known, e.g. `VIRTUAL_ENV`; none where it is no such environment.
    """

    programs: str
    own: Mapping[str, str]

    def over(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return an environment as it would be with this interpreter's activated in it."""
        path = [part for part in environment.get("PATH", _USUAL_PATH).split(os.pathsep) if part and part != self.programs]
        kept = {name: value for name, value in environment.items() if name not in _OF_OTHERS}
        return {**kept, **self.own, "PATH": os.pathsep.join([self.programs, *path])}


def activation_of(python: str | None) -> Activation | None:
    """Return the activation of an interpreter that was named by its path; None where none was, as it is then found on the path anyway.

    Args:
        python: as a definition names it.
    """
    if python is None or "/" not in python:
        return None
    # Not resolved: the interpreter of a virtual environment is a link to another one's.
    programs = Path(python).absolute().parent
    root = programs.parent
    if (root / "pyvenv.cfg").is_file():
        return Activation(str(programs), {"VIRTUAL_ENV": str(root)})
    if (root / "conda-meta").is_dir():
        return Activation(str(programs), {"CONDA_PREFIX": str(root), "CONDA_DEFAULT_ENV": root.name})
    return Activation(str(programs), {})
