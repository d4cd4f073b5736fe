"""Environments of clients, kept in the user's cache by what is in their lock, so that clones share them and an install happens once."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

_MARK = "installed"
_FORGOTTEN_S = 30 * 86400.0


class MissingError(Exception):
    """An environment cannot be had; the message says why."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return where environments are kept: below the user's cache, outside of any clone."""
    base = environ.get("XDG_CACHE_HOME") or str(Path(environ.get("HOME") or "~").expanduser() / ".cache")
    return Path(base) / "outrider" / "clients"


def folder_of(lock: Path, cache: Path, python: str = sys.executable) -> Path:
    """Return the folder of a lock's environment: another one wherever lock or interpreter differ."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    content = hashlib.sha256(b"\0".join((lock.read_bytes(), version.encode(), str(Path(python).resolve()).encode())))
    return cache / f"{lock.stem}-{content.hexdigest()[:16]}"


def environment(lock: Path, cache: Path, until: float) -> Path:
    """Return the interpreter of a lock's environment, which is made where it is not there yet.

    Args:
        lock: a complete one, as nothing is resolved.
        cache: where environments are kept.
        until: when it has to be there, by `time.monotonic`.

    Raises:
        MissingError: it cannot be had until then.
    """
    folder = folder_of(lock, cache)
    python, mark = folder / "bin" / "python", folder / _MARK
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _alone(folder.with_suffix(".lock"), until):
        if not mark.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _run([sys.executable, "-m", "venv", "--without-pip", folder], until)
            # By the pip of the interpreter that runs this. Modules are compiled when they are imported, which few of them are.
            pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install", "--quiet"]
            _run([*pip, "--no-deps", "--no-compile", "--requirement", lock], until)
        mark.touch()
        forget(cache, lock.stem, folder)
    return python


def forget(cache: Path, stem: str, kept: Path) -> None:
    """Delete environments of earlier locks that nobody has used for a month.

    Args:
        cache: where environments are kept.
        stem: of the lock's name.
        kept: the one in use.
    """
    for one in cache.glob(f"{stem}-*"):
        mark = one / _MARK
        if one != kept and mark.is_file() and time.time() - mark.stat().st_mtime > _FORGOTTEN_S:
            shutil.rmtree(one, ignore_errors=True)


def _run(command: list[str | Path], until: float) -> None:
    left_s = until - time.monotonic()
    if left_s < 1:
        raise MissingError("no time is left to install it")
    try:
        done = subprocess.run(command, timeout=left_s, capture_output=True, encoding="utf-8", check=False)
    except subprocess.TimeoutExpired:
        raise MissingError("it could not be installed in time") from None
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.strip().splitlines()
        raise MissingError(f"it could not be installed: {(said or ['no word of why'])[-1][:200]}")


@contextlib.contextmanager
def _alone(path: Path, until: float) -> Iterator[None]:
    """Wait until nobody else makes this environment."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise MissingError("another process is still installing it") from None
                time.sleep(0.2)
        yield
    finally:
        os.close(descriptor)
