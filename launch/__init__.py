"""FROM where: the command line, one module per verb; and `run`, the programmatic twin of `hpo_main.py`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarking.experiment import ExperimentResult

__all__ = ["run"]


def run(benchmark: Any, **options: Any) -> "list[ExperimentResult]":
    """Run experiments from Python, as `hpo_main.py` does, without its printing.

    Args:
        benchmark: a name, the path of a YAML file, or a `BenchmarkDefinition`; or a list of them.
        **options: fields of `launch.request.RunRequest`, e.g. `method`, `num_seeds`, `settings`, `results_dir`.

    Returns:
        One result per experiment, in the order in which they ran.

    Raises:
        UserError: wrong use; what was measured is kept.
    """
    from launch.programmatic import run_benchmarks

    return run_benchmarks(benchmark, options)
