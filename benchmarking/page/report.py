"""The report of experiments: which sections it has, in which order."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.archive.stored import StoredExperiment
from benchmarking.comparison.document import Document
from benchmarking.comparison.runs import ComparedRun
from benchmarking.page.comparison import about, comparison_section
from benchmarking.page.drawing import Page


def page_of(title: str, experiments: Sequence[tuple[StoredExperiment, ComparedRun]], found: Document) -> Page:
    """Return the report of experiments.

    Args:
        title: what they are called, e.g. their tags.
        experiments: each as it is stored, and what it came to.
        found: their comparison.
    """
    runs = [run for _, run in experiments]
    return Page(f"Outrider report: {title}", about(runs), found.verdicts, found.warnings, [comparison_section(found)])
