"""Which version of the code an experiment measures: a hash of the script and of the sources beside it, and what the journal knows of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backends.common.source_tree import files_below
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.journal import Record
from benchmarking.controller.sqlite_journal import latest_records
from definitions.backend_description import DataAccess
from definitions.backend_registry import backend_description
from definitions.errors import UserError

SOURCE_SUFFIXES = frozenset({".py", ".sh", ".bash", ".yaml", ".yml"})
"""Of files that count as code."""
_MOST_FILES = 10_000
"""Files of a folder that are looked at; where there are more, it is no project's, and what is beside the script counts alone."""
_MOST_BYTES = 1_000_000
"""Of a file that is read; a larger one counts by its size."""
_MOST_NAMED = 200
_SEED = b"OUTRIDER_SEED"
_OF_DEFINITION = re.compile(rb"^objectives:", re.MULTILINE)
_OF_STUDY = (re.compile(rb"^benchmarks:", re.MULTILINE), re.compile(rb"^(methods|seeds|set|compare):", re.MULTILINE))
"""Top-level keys of benchmark definitions and studies, which are no part of the code: what of them matters has a hash of its own."""


@dataclass(frozen=True)
class CodeVersion:
    """One version of the code.

    Args:
        code: short hash of all files; empty where no script of ours to see runs.
        files: name -> short hash of each; empty where there are too many to be listed.
        reads_seed: whether any of them has the name of the variable that tells jobs their seed.
    """

    code: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    reads_seed: bool = False

    def changed(self, earlier: Mapping[str, str]) -> str:
        """Return the names of files that are not as in an earlier version's `files`; empty where that is not known."""
        if not self.files or not earlier:
            return ""
        names = sorted(name for name in {*self.files, *earlier} if self.files.get(name) != earlier.get(name))
        return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def code_version(spec: ExperimentSpec) -> CodeVersion:
    """Return the version of an experiment's code as it is now on this disk."""
    definition = spec.definition
    if (definition.script is None and definition.command is None) or backend_description(spec.backend).data_access is DataAccess.NOTHING:
        return CodeVersion()
    folder = Path(definition.source_dir)
    script = folder / (definition.script or "")
    own = {} if definition.script is None else {Path(definition.script).as_posix(): script}
    found, reads_seed = {}, False
    for name, path in {**_sources(folder, script.parent if own else folder, spec.results_dir), **own}.items():
        content = _content(path, is_script=path == script)
        if content is not None:
            found[name] = hashlib.sha256(content).hexdigest()[:8]
            reads_seed = reads_seed or _SEED in content
    whole = hashlib.sha256("\n".join(f"{name} {digest}" for name, digest in sorted(found.items())).encode("utf-8", "surrogateescape"))
    return CodeVersion(whole.hexdigest()[:8], found if len(found) <= _MOST_NAMED else {}, reads_seed)


def measured_code(folder: Path) -> Record | None:
    """Return the record of the code that trials of an experiment ran last; None where none did.

    Raises:
        UserError: its journal cannot be read.
    """
    path = folder / "journal.sqlite"
    return next(iter(latest_records(path, "code")), None) if path.is_file() else None


def check_code(spec: ExperimentSpec, *, accepted: bool) -> None:
    """Raise `UserError` where trials of the experiment measured another version of the code, unless that is accepted."""
    known = None if accepted else measured_code(spec.folder)
    if known is None:
        return
    now = code_version(spec)
    if now.code in ("", known.body["code"]):
        return
    names = now.changed(known.body["files"])
    raise UserError(
        f"tag {spec.tag!r}: the code of {spec.title} changed since it was measured"
        f" ({known.body['code']}, now {now.code}{': ' + names if names else ''})",
        "what the versions measure may not be comparable; nothing was changed or lost",
        "--accept_changes goes on, and marks each trial with its version; or use another tag; what is no code belongs into .outriderignore",
    )


def _sources(folder: Path, beside: Path, results: Path) -> Mapping[str, Path]:
    """Return name -> path of the sources below a folder, those of results left out; only those beside the script where it is too large."""
    try:
        found = {}
        for number, (name, path) in enumerate(files_below(folder)):
            if number >= _MOST_FILES:
                return dict(_beside(folder, beside))
            if path.suffix in SOURCE_SUFFIXES and not is_result(path, folder, results):
                found[name] = path
        return found
    except OSError:
        return dict(_beside(folder, beside))


def is_result(path: Path, folder: Path, results: Path) -> bool:
    """Return whether a file of a source folder is one of the results, and not of a source that is kept among them."""
    results = results.absolute()
    return path.absolute().is_relative_to(results) and not folder.absolute().is_relative_to(results)


def _beside(folder: Path, beside: Path) -> Iterator[tuple[str, Path]]:
    try:
        for path in beside.iterdir():
            if path.suffix in SOURCE_SUFFIXES:
                yield path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix(), path
    except OSError:
        return


def _content(path: Path, *, is_script: bool) -> bytes | None:
    """Return what stands for a file's content; None where it is no file, or a benchmark definition or study."""
    try:
        if not path.is_file():
            return None
        size = path.stat().st_size
        content = f"{size} bytes".encode() if size > _MOST_BYTES else path.read_bytes()
    except OSError:
        return None
    if not is_script and path.suffix in (".yaml", ".yml") and _is_ours(content):
        return None
    return content


def _is_ours(content: bytes) -> bool:
    return _OF_DEFINITION.search(content) is not None or all(key.search(content) for key in _OF_STUDY)
