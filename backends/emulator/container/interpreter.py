"""A job's own view of an interpreter's installation: it sees what is installed, and what it installs itself is gone with it.

The view is a virtual environment without packages, made in a millisecond, which has those of the interpreter on its path. So pip installs
into the view, and leaves alone what lies outside of it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

_PROBE = """
import json, os, site, sys
places = site.getsitepackages() + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])
base = getattr(sys, "_base_executable", None) or sys.executable
sites = [place for place in places if os.path.isdir(place)]
print(json.dumps({"base": base, "version": "%d.%d" % sys.version_info[:2], "prefix": sys.prefix, "sites": sites}))
"""
_PROBE_S = 20.0
_PIP = '#!/bin/sh\nexec "${0%/*}/python" -m pip "$@"\n'
_FIRST_LINE_BYTES = 256


@dataclass(frozen=True)
class Interpreter:
    """An installation of Python.

    Args:
        base: the executable that it is made from, which no virtual environment hides; `version`: e.g. `3.11`.
        prefix: where it is installed; `sites`: folders of its packages.
    """

    base: str
    version: str
    prefix: str
    sites: tuple[str, ...]

    @classmethod
    def of(cls, python: str) -> Interpreter | None:
        """Return what an interpreter says of itself; None for a program that says nothing."""
        try:
            done = subprocess.run([python, "-c", _PROBE], capture_output=True, encoding="utf-8", timeout=_PROBE_S, check=True)
            told = json.loads(done.stdout)
            return cls(told["base"], told["version"], told["prefix"], tuple(told["sites"]))
        except (OSError, subprocess.SubprocessError, ValueError, KeyError):
            return None

    def make_view(self, folder: Path) -> Path:
        """Make a view of it in a folder that does not exist yet, and return where its programs are."""
        programs, packages = folder / "bin", folder / "lib" / f"python{self.version}" / "site-packages"
        programs.mkdir(parents=True)
        packages.mkdir(parents=True)
        home = Path(self.base).parent
        config = f"home = {home}\ninclude-system-site-packages = false\nversion = {self.version}\n"
        (folder / "pyvenv.cfg").write_text(config, encoding="utf-8")
        for name in ("python", "python3", f"python{self.version}"):
            (programs / name).symlink_to(self.base)
        for name in ("pip", "pip3"):
            (programs / name).write_text(_PIP, encoding="utf-8")
            (programs / name).chmod(0o755)
        # As sites and not as bare folders, so that what is installed by a link of its own is found as well.
        lines = "".join(f"import site; site.addsitedir({place!r})\n" for place in self.sites)
        (packages / "of_the_interpreter.pth").write_text(lines, encoding="utf-8")
        return programs


def provide_programs(folder: Path, python: str) -> None:
    """Make programs in a folder: `python` and `python3`, and those that Python runs in the interpreter's own folder.

    Args:
        folder: that comes after a job's view, and before the interpreter's own, in the path of programs.
        python: the interpreter, which may be called otherwise.
    """
    # Scripts, as links would hide from the interpreter the virtual environment that it belongs to.
    _script(folder / "python", f'exec {shlex.quote(python)} "$@"')
    _script(folder / "python3", f'exec {shlex.quote(python)} "$@"')
    for program in _run_by_python(Path(python).parent):
        # With the python of the job's view, which comes first.
        _script(folder / program.name, f'exec python {shlex.quote(str(program))} "$@"')


def _script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o700)


def _run_by_python(folder: Path) -> list[Path]:
    """Return the programs of a folder that one of its own interpreters runs, e.g. `torchrun`."""
    found = []
    for path in sorted(folder.glob("*")) if folder.name == "bin" else []:
        if path.name.startswith(("python", "pip")) or not os.access(path, os.X_OK) or not path.is_file():
            continue
        with path.open("rb") as file:
            first = file.read(_FIRST_LINE_BYTES).partition(b"\n")[0]
        if first.startswith(f"#!{folder}/python".encode()):
            found.append(path)
    return found
