"""How the methods of some experiments compare, for Python: the rows and sentences of `outrider compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarking.comparison.document import document
from definitions.errors import UserError
from launch.comparison_flags import question_for
from launch.named_results import named_runs
from launch.result import ResultTable


def compared_methods(folders: Sequence[Path], results_dir: Path) -> ResultTable:
    """Return a row for each benchmark and method, and the verdicts as caption; no rows where no experiment has a result.

    Args:
        folders: of the experiments; where they are a whole study, it is asked what that asks.
        results_dir: folder of all results.
    """
    named = [str(folder) for folder in folders]
    try:
        found = document(named_runs(named, results_dir, "compare"), question_for(named, results_dir, "compare", {}))
    except UserError as error:
        return ResultTable((), str(error))
    return ResultTable(tuple(found.rows), "\n".join(found.verdicts))
