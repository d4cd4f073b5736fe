"""The environment that servers of their own are installed into by `make serving`: where it is, and what it has."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "OUTRIDER_SERVING_PYTHON"
"""Environment variable that names the interpreter of that environment, unless it is `.venv-serving` beside the code or in this folder."""
HOW = f"run `make serving`, or name the interpreter of an environment that has it in {VARIABLE}"
_ROOT = Path(__file__).resolve().parents[2]
_ASK = """
import importlib.metadata, json, sys, sysconfig
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
names = ("nvidia-pytriton", "numpy", "onnxruntime", "multi-model-server")
print(json.dumps({
    "packages": sysconfig.get_path("purelib"), "library": sysconfig.get_config_var("LIBDIR") or "", "base": sys.base_prefix,
    "python": "%d.%d" % sys.version_info[:2], "shared": sysconfig.get_config_var("LDLIBRARY") or "",
    "versions": {name: version(name) for name in names},
}))
"""
_ASK_S = 30.0


@dataclass(frozen=True)
class ServingEnvironment:
    """An environment of Python with servers in it.

    Args:
        python: its interpreter.
        packages: folder of its packages.
        library: folder of the shared library of its Python, empty where it has none.
        version: of Python, as `3.11`.
        versions: of packages, by name; empty for what is not there.
    """

    python: str
    packages: Path
    library: str
    version: str
    versions: Mapping[str, str]


def interpreters(environ: Mapping[str, str], folder: Path) -> list[str]:
    """Return the interpreters in which servers may be, the first one first.

    Args:
        environ: of this process.
        folder: that it works in.
    """
    named = environ.get(VARIABLE)
    if named:
        return [named]
    return [*(str(place / ".venv-serving" / "bin" / "python") for place in dict.fromkeys([_ROOT, folder])), sys.executable]


def found_environment(package: str) -> ServingEnvironment | None:
    """Return the first environment that has a package, by its name; None where none has."""
    for python in interpreters(os.environ, Path.cwd()):
        found = _asked(python)
        if found is not None and found.versions.get(package):
            return found
    return None


@functools.cache
def _asked(python: str) -> ServingEnvironment | None:
    if not os.access(python, os.X_OK):
        return None
    # Isolated, so that neither the caller's path nor its folder counts as what the environment has.
    try:
        done = subprocess.run([python, "-I", "-c", _ASK], capture_output=True, timeout=_ASK_S, check=True, env={"PATH": os.defpath})
        said = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    shared = Path(said["library"]) / said["shared"]
    has_library = shared.suffix != ".a" and shared.exists()
    return ServingEnvironment(
        python, Path(said["packages"]), said["library"] if has_library else "", said["python"], dict(said["versions"])
    )
