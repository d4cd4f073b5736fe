"""All figures of a study, in the order in which a report shows them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarking.archive.controllers import PastGeneration
from benchmarking.comparison.document import Document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.figures.best_so_far import X_AXES, best_so_far_figure, seeds_figure
from benchmarking.figures.costs import costs_figure
from benchmarking.figures.data import Figure
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.failures import failures_figure
from benchmarking.figures.final_values import final_values_figure
from benchmarking.figures.forecasts import forecasts_figure
from benchmarking.figures.fronts import hypervolume_figure, pareto_figure
from benchmarking.figures.importance import importance_figure
from benchmarking.figures.learning_curves import learning_curves_figure
from benchmarking.figures.load_calls import load_calls_figure
from benchmarking.figures.load_curves import load_curves_figure
from benchmarking.figures.load_platforms import load_platforms_figure
from benchmarking.figures.matrix import matrix_figure, ranks_figure
from benchmarking.figures.parallel_axes import parallel_axes_figure
from benchmarking.figures.stages import stages_figure
from benchmarking.figures.surroundings import environment_figure
from benchmarking.figures.time_line import time_line_figure

_NO_METHODS = "Configurations are compared here, not methods."


def figures_of(
    experiments: Sequence[DetailedExperiment],
    found: Document,
    question: ComparisonQuestion,
    controllers: Sequence[PastGeneration] = (),
) -> list[Figure]:
    """Return every figure; one without anything to draw has no panels, and a note that says why.

    Args:
        experiments: (n,) that were compared.
        found: their comparison.
        question: what was asked of it.
        controllers: generations of those that ran them in the cloud.
    """
    # What is compared has the names of its groups and of their comparisons.
    runs, compared = found.runs, found.benchmarks
    of_methods = [
        *(best_so_far_figure(runs, compared, question, axis) for axis in X_AXES),
        *(seeds_figure(runs, compared, question, axis) for axis in X_AXES),
        matrix_figure(compared, question, is_split=found.is_split),
        ranks_figure(compared, question, is_split=found.is_split),
    ]
    if found.configurations:
        of_methods = [replace(figure, panels=(), notes=(_NO_METHODS,)) for figure in of_methods]
    return [
        *of_methods[:-2],
        final_values_figure(compared, found.configurations),
        *of_methods[-2:],
        learning_curves_figure(experiments),
        parallel_axes_figure(experiments),
        importance_figure(experiments),
        pareto_figure(experiments, question),
        *(hypervolume_figure(runs, question, axis) for axis in X_AXES),
        time_line_figure(experiments, controllers),
        stages_figure(experiments),
        costs_figure(experiments),
        forecasts_figure(experiments),
        load_curves_figure(experiments),
        load_platforms_figure(experiments),
        load_calls_figure(experiments),
        failures_figure(experiments),
        environment_figure([one.run for one in experiments]),
    ]
