"""The experiments that a command line names: by tag, or by a folder that holds some."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from benchmarking.archive.stored import StoredExperiment
    from benchmarking.comparison.runs import ComparedRun
    from benchmarking.figures.details import DetailedExperiment
    from benchmarking.studies.record import StudyRecord

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
    from benchmarking.comparison.from_csv import run_from_csv
    from benchmarking.comparison.reading import read_run

    return _with_results(named, results_dir, verb, read_run, run_from_csv, lambda run: run, _warn)


class ReadDetails(NamedTuple):
    """Experiments as figures need them, and a sentence for each that could not be read as it should."""

    experiments: Sequence[DetailedExperiment]
    warnings: Sequence[str]


def named_details(named: Sequence[str], results_dir: Path, verb: str, say: Callable[[str], None] | None = None) -> ReadDetails:
    """Return the experiments that are named as figures need them; otherwise as `named_runs`.

    Args:
        named: tags and folders.
        results_dir: folder of results, where tags are.
        verb: for messages.
        say: takes what cannot be read as it should, a sentence at a time; it is printed where this is not given.
    """
    from benchmarking.figures.details import detailed_from_csv, read_detailed

    warnings: list[str] = []

    def note(line: str) -> None:
        warnings.append(line)
        (say or _warn)(line)

    found = _with_results(named, results_dir, verb, read_detailed, detailed_from_csv, lambda one: one.run, note)
    return ReadDetails(found, warnings)


class NamedTag(NamedTuple):
    """A tag of which experiments are named: its study, None where it has none, and whether all experiments that have a folder are named."""

    study: StudyRecord | None
    is_whole: bool


def studies_of(
    named: Sequence[str], results_dir: Path, verb: str, say: Callable[[str], None] = lambda text: print(text, file=sys.stderr)
) -> list[NamedTag]:
    """Return the tags that the experiments that are named belong to.

    Of a study whose file cannot be read nothing is known, which is said, and its experiments are compared all the same.
    """
    from benchmarking.archive.stored import experiments_of
    from benchmarking.studies.files import read_study
    from definitions.errors import UserError

    folders = {*named_folders(named, results_dir, verb)}
    found = []
    # A tag's folder holds benchmarks, which hold experiments.
    for tag_folder in sorted({folder.parent.parent for folder in folders}):
        study = None
        try:
            study = read_study(tag_folder)
        except UserError as error:
            say(f"warning: {error.asked}: {error.fact}; what the study asks of a comparison, and how often it was looked at, is not known")
        found.append(NamedTag(study, {*experiments_of(tag_folder)} <= folders))
    return found


def _with_results(
    named: Sequence[str],
    results_dir: Path,
    verb: str,
    read: Callable[[StoredExperiment, Mapping[str, str]], _Read],
    instead: Callable[[StoredExperiment, Mapping[str, str]], _Read | None],
    run_of: Callable[[_Read], ComparedRun],
    say: Callable[[str], None],
) -> list[_Read]:
    from benchmarking.comparison.loading import load_experiments
    from definitions.errors import UserError

    loaded = load_experiments(named_folders(named, results_dir, verb), read, instead)
    for line in loaded.warnings:
        say(line)
    if not any(run_of(one).measurements or run_of(one).trials for one in loaded.found):
        if loaded.error is not None:
            raise loaded.error
        raise UserError(f"{verb} {' '.join(named)}", "no experiment there has a result yet", "wait for the first trials, or name others")
    return list(loaded.found)


def _warn(line: str) -> None:
    print(f"warning: {line}", file=sys.stderr)
