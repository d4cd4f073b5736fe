"""Which runs are compared with which: facets, and names for what is compared. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarking.comparison.runs import RUN_KEYS, ComparedRun
from definitions.errors import UserError, did_you_mean

NO_SUCH_KEY = "neither experiments nor their configurations are told apart by it"


def facets(runs: Sequence[ComparedRun], keys: Sequence[str]) -> list[list[ComparedRun]]:
    """Return the runs of each combination of values of some keys, their benchmark named by it too.

    A key that tells experiments apart splits them; a key of configurations splits what each of them measured.

    Args:
        runs: (n_runs,) of one benchmark.
        keys: names in `RUN_KEYS`, or keys of configurations; `benchmark` adds nothing, as each benchmark is a comparison of its own.

    Raises:
        UserError: a key that they have not.
    """
    found = [list(runs)]
    for key in keys:
        if key == "benchmark":
            continue
        found = [part for group in found for part in _split(group, key)]
    return found


def _split(runs: Sequence[ComparedRun], key: str) -> list[list[ComparedRun]]:
    if key in RUN_KEYS:
        values = sorted({run.about[key] for run in runs})
        return [[replace(run, benchmark=f"{run.benchmark}, {key}={value}") for run in runs if run.about[key] == value] for value in values]
    configurations = [
        *(one.configuration for run in runs for one in run.measurements),
        *(one.configuration for run in runs for one in run.trials),
    ]
    if not any(key in one for one in configurations):
        known = list(dict.fromkeys([*RUN_KEYS, *(name for one in configurations for name in one)]))
        raise UserError(f"--facet_by {key}: {runs[0].benchmark} has no such key", NO_SUCH_KEY, did_you_mean(key, known))
    texts = sorted({str(one.get(key)) for one in configurations})
    return [
        [
            replace(
                run,
                benchmark=f"{run.benchmark}, {key}={text}",
                measurements=tuple(one for one in run.measurements if str(one.configuration.get(key)) == text),
                trials=tuple(one for one in run.trials if str(one.configuration.get(key)) == text),
            )
            for run in runs
        ]
        for text in texts
    ]


def named(runs: Sequence[ComparedRun], by: Sequence[str]) -> list[list[ComparedRun]]:
    """Return the runs that are compared with each other, each with the name of its group as its method.

    Args:
        runs: (n_runs,) of one benchmark.
        by: names in `RUN_KEYS`. Without `method` among them each method is compared with itself alone.
    """
    parts = [list(runs)] if "method" in by or len({run.method for run in runs}) == 1 else _split(runs, "method")
    found = []
    for part in parts:
        names = [" ".join(run.about[key] if key in ("method", "tag") else f"{key}={run.about[key]}" for key in by) for run in part]
        # A seed of one name under two tags is two experiments.
        twice = len({(name, run.number) for name, run in zip(names, part, strict=True)}) < len(part)
        several = twice and len({run.tag for run in part}) > 1
        found.append([replace(run, method=f"{name} ({run.tag})" if several else name) for name, run in zip(names, part, strict=True)])
    return found


def having_objective(runs: Sequence[ComparedRun], asked: str) -> tuple[list[ComparedRun], list[str]]:
    """Return the runs that have an objective, and a sentence for those that are left out because their definition has it not.

    Args:
        runs: (n_runs,) of one benchmark, not necessarily of one definition.
        asked: the objective; empty for the primary one of the first run.

    Raises:
        UserError: for some less of it is better, for others more.
    """
    objective = asked or next(iter(runs[0].objectives))
    kept = [run for run in runs if objective in run.objectives]
    if len({run.objectives[objective] for run in kept}) > 1:
        ways = {run.objectives[objective]: run.title for run in kept}
        raise UserError(
            f"{objective} of {runs[0].benchmark}: " + ", ".join(f"{mode} in {title}" for mode, title in sorted(ways.items())),
            "these are two definitions, and of one of them less is better, of the other more",
            "compare them apart, by naming their folders",
        )
    left_out = [run.title for run in runs if objective not in run.objectives]
    # With none at all the objective is refused by name, with those that there are.
    if not kept:
        return list(runs), []
    return kept, [f"without {objective}, and left out: {_some(left_out)}"] if left_out else []


def unequal_seeds(runs: Sequence[ComparedRun], expected: int = 0) -> list[str]:
    """Return a sentence for each method that has not the seeds that others have, or not as many as were expected.

    Args:
        runs: (n_runs,) of one benchmark.
        expected: how many seeds each should have; 0 where nobody said.
    """
    seeds: dict[str, set[int]] = {}
    for run in runs:
        seeds.setdefault(run.method, set()).update({run.number} if run.measurements else ())
    everything = set().union(*seeds.values())
    lines = []
    for method, numbers in seeds.items():
        lacking = sorted(everything - numbers)
        if len(numbers) < expected:
            lines.append(f"{runs[0].benchmark} x {method}: {len(numbers)} of {expected} seeds have results")
        elif lacking:
            which = f"{'seed' if len(lacking) == 1 else 'seeds'} {', '.join(map(str, lacking))}"
            lines.append(
                f"{runs[0].benchmark} x {method}: no results with {which}, which other methods have: there it is no pair with them"
            )
    return lines


def lacks_seeds(runs: Sequence[ComparedRun], expected: int) -> bool:
    """Return whether a method has results of fewer seeds than were expected; arguments as for `unequal_seeds`."""
    with_results = {(run.method, run.number) for run in runs if run.measurements}
    return any(sum(method == name for name, _ in with_results) < expected for method in {run.method for run in runs})


def _some(names: Sequence[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
