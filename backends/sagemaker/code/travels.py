"""What travels to each job, in lines for people: the files with size and hash, what stays behind as it may be secret, and odd variables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backends.common.secret_strings import looks_secret
from backends.sagemaker.code.packing import Package, pack
from backends.sagemaker.code.source_files import secrets_in
from definitions.schema import BenchmarkDefinition

_MOST_FILES, _MOST_NAMED = 40, 12


def what_travels(definition: BenchmarkDefinition, *, whole: bool) -> list[str]:
    """Return lines on what goes to each job.

    Args:
        definition: resolved for the back-end.
        whole: whether the files are listed; else what somebody has to know of what stays behind, and of what may be read by others.

    Raises:
        UserError: the source cannot travel.
    """
    # The load of an endpoint runs where its controller does.
    folder, has_source = Path(definition.source_dir), definition.program is not None and definition.endpoint is None
    if whole:
        return _listed(pack(folder, definition.include)) if has_source else []
    lines = []
    secrets = secrets_in(folder, definition.include) if has_source else ()
    if secrets:
        lines.append(f"left behind, as they may hold secrets: {_named(secrets)}; `include` takes along what a job needs")
    suspects = [f"environment.{name}" for name, value in definition.environment.items() if looks_secret(name, value)]
    suspects += [
        f"arguments.{name}" for name, value in definition.arguments.items() if isinstance(value, str) and looks_secret(name, value)
    ]
    if suspects:
        reads = "whoever may describe the job, or reads the results, can read it; have the script get it from a secret store"
        lines.append(f"{_named(suspects)} may be a secret: {reads}")
    return lines


def _listed(package: Package) -> list[str]:
    shown = sorted(package.entries, key=lambda entry: -entry.size_bytes)[:_MOST_FILES]
    found = [f"to each job travel {len(package.entries)} files, {_size(package.size_bytes)} (code {package.hash}):"]
    found += [f"  {entry.name}  {_size(entry.size_bytes)}  {entry.digest[:12] or '-> ' + entry.link}" for entry in shown]
    left = len(package.entries) - len(shown)
    if left:
        found.append(f"  and {left} smaller ones, {_size(package.size_bytes - sum(entry.size_bytes for entry in shown))}")
    return found


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _size(n_bytes: int) -> str:
    return f"{n_bytes} B" if n_bytes < 1000 else f"{n_bytes / 1e3:.1f} kB" if n_bytes < 1_000_000 else f"{n_bytes / 1e6:.1f} MB"
