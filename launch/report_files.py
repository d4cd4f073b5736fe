"""The report of some experiments as files: the page, and the data of its figures beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarking.figures.data import Figure
    from benchmarking.page.drawing import Page
    from launch.named_results import ReadDetails

REPORT = "report.html"
"""What a report is called unless it is said."""


@dataclass(frozen=True)
class MadeReport:
    """A report that was made, and is nowhere yet.

    Args:
        page: what it holds.
        figures: of it.
        lacks_seeds: whether a method has fewer seeds than were expected.
    """

    page: Page
    figures: Sequence[Figure]
    lacks_seeds: bool


@dataclass(frozen=True)
class WrittenReport:
    """A report that was written.

    Args:
        path: of the page.
        made: what it holds.
        data: of its figures.
        drawn: whether its figures are drawn.
    """

    path: Path
    made: MadeReport
    data: Path
    drawn: bool


def report_page(
    named: Sequence[str],
    results_dir: Path,
    flags: Mapping[str, Any],
    say: Callable[[str], None] | None = None,
    details: ReadDetails | None = None,
) -> MadeReport:
    """Return the report of the experiments that are named.

    Args:
        named: tags and folders.
        results_dir: folder of results, where tags are.
        flags: of the comparison, by name, those that were given; else it is that of the study.
        say: takes what cannot be read as it should; it is printed where this is not given.
        details: the experiments that are named, where they have been read already.

    Raises:
        UserError: there is nothing to report on, or the question does not fit it.
    """
    from benchmarking.archive.controllers import read_generations
    from benchmarking.comparison.document import document
    from benchmarking.figures.every import figures_of
    from benchmarking.methods.registry import what_it_is
    from benchmarking.page.report import page_of
    from launch.comparison_flags import question_for
    from launch.named_results import named_details

    question = question_for(named, results_dir, "report", flags)
    read = named_details(named, results_dir, "report", say) if details is None else details
    experiments = read.experiments
    runs = [one.run for one in experiments]
    compared = document(runs, question)
    folders = dict.fromkeys([*(results_dir / run.tag for run in runs), *map(Path, named)])
    controllers = [one for folder in folders for one in read_generations(folder)]
    figures = figures_of(experiments, compared, question, controllers)
    said = {one.run.method: what_it_is(one.run.method, one.definition.methods) for one in experiments}
    spans = [(one.state.first_at, one.state.last_at) for one in experiments if one.state is not None and one.state.first_at is not None]
    title = ", ".join(dict.fromkeys(run.tag for run in runs))
    known = {name: text for name, text in said.items() if text}
    page = page_of(title, runs, compared, figures, question, methods=known, spans=spans)
    # Who gets the file has not seen what was printed.
    page = replace(page, warnings=[*(" ".join(line.split()) for line in read.warnings), *page.warnings])
    return MadeReport(page, figures, compared.lacks_seeds)


def write_report(
    named: Sequence[str],
    results_dir: Path,
    output: Path,
    flags: Mapping[str, Any],
    say: Callable[[str], None] | None = None,
    details: ReadDetails | None = None,
) -> WrittenReport:
    """Write the report of the experiments that are named, and beside it the data of its figures as NAME.figures.json.

    Args:
        named: tags and folders.
        results_dir: folder of results, where tags are.
        output: the file to write.
        flags: as for `report_page`.
        say: as for `report_page`.
        details: as for `report_page`.

    Raises:
        UserError: as `report_page`; a file cannot be written.
    """
    from benchmarking.figures.data import as_json
    from benchmarking.page.library import drawing_library
    from benchmarking.page.render import render
    from definitions.files import write_atomically

    made = report_page(named, results_dir, flags, say, details)
    library = drawing_library()
    data = output.with_name("figures.json" if output.name == REPORT else f"{output.stem}.figures.json")
    write_atomically(data, as_json(made.figures))
    write_atomically(output, render(made.page, library))
    return WrittenReport(output, made, data, library is not None)
