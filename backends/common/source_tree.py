"""Which files below a source folder are its code: all but what is generated, secret, hidden by habit, or named in the folder's own list."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from definitions.errors import UserError

IGNORE_FILE = ".outriderignore"

_GENERATED = (
    ".git", ".hg", ".svn", "__pycache__", "*.py[co]", ".venv", "venv", ".ipynb_checkpoints", "node_modules", ".tox", ".nox",
    ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store", IGNORE_FILE,
)  # fmt: skip
_SECRETS = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", ".netrc", "_netrc", ".pypirc", ".npmrc", ".pgpass", ".my.cnf", ".htpasswd", ".boto", ".s3cfg", ".vault-token",
    ".git-credentials", "credentials", "credentials.json", "client_secret*.json", "service[-_]account*.json", "secrets.*", "kaggle.json",
    ".aws", ".ssh", ".gnupg", ".kube", ".docker", ".azure", ".kaggle", ".huggingface", "gcloud", "*.tfstate", ".terraform",
    "*.env", ".envrc", "secret.json", "secret.y*ml", "secret.toml", "secret.ini", "secret.txt", "token.txt", "*.p8", "*.gpg", "kubeconfig",
    ".netrc.*", ".dockercfg", ".databrickscfg", ".oci", ".snowflake", ".condarc", ".cache", ".*_history",
    ".renviron", ".renviron.*", ".token", ".tokens", ".*[-_]token", ".*[-_]tokens", ".*secret*", ".*passw*", ".*credential*",
    ".*api[-_]key*", ".*apikey*", "*[-_]token.txt", "*api[-_]key.txt", "*apikey.txt", "password.txt", "passwords.txt",
)  # fmt: skip
_RESULTS = ("journal.sqlite", "study.json")
_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
_TOP = "results"


@dataclass(frozen=True)
class SourceFile:
    """A file or link of a source folder.

    Args:
        name: there; `path`: where it is.
        is_secret: whether it stays behind, as by its name it may hold a secret.
        is_named: whether somebody said of it that it belongs to the code.
    """

    name: str
    path: Path
    is_secret: bool = False
    is_named: bool = False


def files_below(source_dir: Path, include: Sequence[str] = ()) -> Iterator[tuple[str, Path]]:
    """Yield the name within the folder and the path of each file and link that belongs to the code, by folder.

    Args:
        source_dir: the folder.
        include: patterns in the words of .gitignore of what belongs to it all the same.

    Raises:
        OSError: a folder cannot be read.
        UserError: a pattern is wrong.
    """
    yield from ((found.name, found.path) for found in look_through(source_dir, include) if not found.is_secret)


def look_through(source_dir: Path, include: Sequence[str] = ()) -> Iterator[SourceFile]:
    """Yield what `files_below` does, and beside it what stays behind as its name is one of a secret."""
    own = _own_patterns(source_dir)
    verdict, wanted = _rules(own, f"{source_dir / IGNORE_FILE}"), _rules(include, "include")
    # What is named one by one lies perhaps in a folder that is passed over as a whole.
    named = [pattern.lstrip("!/") for pattern in (*include, *(line for line in own if line.startswith("!")))]

    def fail(error: OSError) -> None:
        raise error

    for folder, names, files in os.walk(source_dir, onerror=fail):
        here = Path(folder).relative_to(source_dir)
        inner = "" if here == Path() else f"{here.as_posix()}/"
        if inner and _is_passed_over({*names, *files}) and not _holds(inner, named):
            names.clear()
            continue
        passed = [name for name in names if _leaves_out(inner, name + "/", verdict, wanted)]
        names[:] = [name for name in names if name not in passed or _holds(f"{inner}{name}/", named)]
        links = [name for name in names if Path(folder, name).is_symlink()]
        for name in passed:
            if name not in names and _is_secret(name) and not _is(name, _GENERATED):
                yield SourceFile(f"{inner}{name}/", Path(folder, name), is_secret=True)
        for name in [*files, *links]:
            path = Path(folder, name)
            if not (path.is_symlink() or stat.S_ISREG(path.lstat().st_mode)):
                continue  # sockets and pipes do not travel
            if not _leaves_out(inner, name, verdict, wanted):
                yield SourceFile(inner + name, path, is_named=bool(wanted(inner + name)) or verdict(inner + name) is False)
            elif _is_secret(name) and verdict(inner + name) is None:
                yield SourceFile(inner + name, path, is_secret=True)


def _is_passed_over(names: set[str]) -> bool:
    """Return whether a folder with such files is a virtual environment, or has results in it."""
    return any(name in names for name in (*_ENVIRONMENTS, *_RESULTS))


def _leaves_out(inner: str, name: str, verdict: Callable[[str], bool | None], wanted: Callable[[str], bool | None]) -> bool:
    """Return whether a file, or a folder with a slash at its end, is left out."""
    if wanted(inner + name):
        return False
    said = verdict(inner + name)
    if said is not None:
        return said
    parts = [*inner.split("/"), name.rstrip("/")]
    return parts[0 if parts[0] else 1] == _TOP or any(_is(part, _GENERATED) or _is_secret(part) for part in parts)


def _holds(folder: str, named: Sequence[str]) -> bool:
    return any(pattern.startswith(folder) or folder.startswith(pattern.rstrip("/") + "/") for pattern in named)


def _is_secret(name: str) -> bool:
    return _is(name.lower(), _SECRETS)


def _is(name: str, patterns: tuple[str, ...]) -> bool:
    return _compiled(patterns).match(name) is not None


@cache
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns))


def _own_patterns(source_dir: Path) -> list[str]:
    path = source_dir / IGNORE_FILE
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def _rules(patterns: Sequence[str], where: str) -> Callable[[str], bool | None]:
    """Return what patterns say of a name: True where the last that fits it says so, False where it begins with `!`, None where none does.

    Raises:
        UserError: a pattern is none of .gitignore's.
    """
    if not patterns:
        return lambda name: None
    from pathspec import GitIgnoreSpec

    try:
        found = GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        raise UserError(f"{where}: a pattern is none of .gitignore's", str(error), "see `man gitignore`") from error
    return lambda name: found.check_file(name).include
