"""The experiments that a command line names: by tag, or by a folder that holds some."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from benchmarking.archive.stored import StoredExperiment
    from benchmarking.comparison.runs import ComparedRun
    from benchmarking.figures.details import DetailedExperiment
    from definitions.errors import UserError

_Read = TypeVar("_Read")


def named_folders(named: Sequence[str], results_dir: Path, verb: str) -> list[Path]:
    """Return the experiments' folders in each folder or of each tag that is named; a folder without any may be a tag's name by chance.

    Args:
        named: tags and folders.
        results_dir: folder of results, where tags are.
        verb: for messages.

    Raises:
        UserError: there is nothing of a tag.
    """
    from launch.planning import folders_of

    found: dict[Path, None] = {}
    for name in named:
        # An experiment, a benchmark's, a tag's, or all results.
        inside = [path.parent for depth in ("", "*/", "*/*/", "*/*/*/") for path in sorted(Path(name).glob(f"{depth}experiment.json"))]
        found |= dict.fromkeys(folder.resolve() for folder in inside or folders_of(name, results_dir, verb))
    return list(found)


def named_runs(named: Sequence[str], results_dir: Path, verb: str) -> list[ComparedRun]:
    """Return what the experiments that are named came to; what cannot be read is said and left out, if something is left.

    Raises:
        UserError: nothing of them can be read, or none has a result.
    """
    from benchmarking.comparison.runs import read_run

    return _with_results(named, results_dir, verb, read_run, lambda run: run)


def named_details(named: Sequence[str], results_dir: Path, verb: str) -> list[DetailedExperiment]:
    """Return the experiments that are named as figures need them; otherwise as `named_runs`."""
    from benchmarking.figures.details import read_detailed

    return _with_results(named, results_dir, verb, read_detailed, lambda one: one.run)


def _with_results(
    named: Sequence[str],
    results_dir: Path,
    verb: str,
    read: Callable[[StoredExperiment, Mapping[str, str]], _Read],
    run_of: Callable[[_Read], ComparedRun],
) -> list[_Read]:
    from definitions.errors import UserError

    problems: list[UserError] = []
    found = list(_read(named_folders(named, results_dir, verb), problems, read))
    for problem in problems:
        print(f"warning: left out: {problem}", file=sys.stderr)
    if not any(run_of(one).measurements for one in found):
        if problems:
            raise problems[-1]
        raise UserError(f"{verb} {' '.join(named)}", "no experiment there has a result yet", "wait for the first trials, or name others")
    return found


def _read(
    folders: Sequence[Path], problems: list[UserError], read: Callable[[StoredExperiment, Mapping[str, str]], _Read]
) -> Iterator[_Read]:
    from benchmarking.archive.stored import load
    from benchmarking.comparison.alike import environment_facts
    from definitions.errors import UserError

    for folder in folders:
        try:
            yield read(load(folder), environment_facts(folder))
        except UserError as error:
            problems.append(error)
