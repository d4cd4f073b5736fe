"""`outrider best TAG`: the winner's exact values, a definition of it alone, and the command that runs it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from benchmarking.archive.stored import StoredExperiment
    from definitions.resolve import Resolved

_EPILOG = """\
The winner is that of the table: the best mean of the primary objective among completed ones, over all experiments of the tag on one
benchmark. best.yaml, in the tag's folder, is the benchmark with this configuration alone; where the source is another by now, or gone, it
names the source as it was measured, which is kept with the results (--present_source: the present one in any case). Further flags are
those of `run`: with --rerun, --repeats 5 measures it five times."""


@dataclass(frozen=True)
class _Winner:
    """The best evaluation of an experiment: its configuration, the primary objective's mean, each measurement of it, and by which code."""

    stored: StoredExperiment
    configuration: Mapping[str, Any]
    level: float | None
    mean: float
    values: Sequence[float]
    code: str


def main(arguments: Sequence[str]) -> int:
    """Print the winner, write best.yaml, run it again where asked; return the exit code; raises `UserError` where there is no winner."""
    parser = make_parser()
    given, rest = parser.parse_known_args(arguments)
    if rest and not given.rerun:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    from definitions.files import replacing
    from definitions.show import inline, render

    winner = _winner(given.tag, given.results_dir, given.experiment)
    spec = winner.stored.spec
    path = given.output or given.results_dir / given.tag / "best.yaml"
    source_dir, remark = _source(winner, present=given.present_source)
    print(f"{spec.title}" + ("" if winner.level is None else f", measured at level {winner.level!r}"))
    for key, value in winner.configuration.items():
        print(f"  {key}: {value!r}" if isinstance(value, str) else f"  {key}: {inline(value)}")
    several = f", the mean of {', '.join(map(repr, winner.values))}" if len(winner.values) > 1 else ""
    print(f"{spec.definition.primary_objective}: {winner.mean!r}{several}")
    if remark:
        print(remark)
    with replacing(path, "--output FILE writes it elsewhere") as file:
        file.write(render(_alone(winner, source_dir)))
    words = ["--benchmark", str(path), "--backend", spec.backend]
    print(f"run it again: {command('run', *words)}", flush=True)
    if not given.rerun:
        return 0
    from launch.verbs.run import main as run

    return run([*words, "--results_dir", str(given.results_dir), *rest])


def _winner(tag: str, results_dir: Path, named: str) -> _Winner:
    from benchmarking.archive.stored import load
    from definitions.errors import UserError
    from launch.planning import folders_of

    found = []
    for folder in folders_of(tag, results_dir, "best"):
        if named in ("", folder.name, folder.parent.name, f"{folder.parent.name}/{folder.name}"):
            winner = _winner_of(load(folder))
            if winner is not None:
                found.append(winner)
    if not found:
        raise UserError(f"best {tag}" + (f" --experiment {named}" if named else ""), "no trial there was completed, so nothing wins")
    benchmarks = sorted({winner.stored.spec.definition.name for winner in found})
    if len(benchmarks) > 1:
        raise UserError(f"best {tag}", f"it has several benchmarks: {', '.join(benchmarks)}", "name one: --experiment NAME")
    definition = found[0].stored.spec.definition
    sign = 1.0 if definition.objectives[definition.primary_objective] == "min" else -1.0
    return min(found, key=lambda winner: sign * winner.mean)


def _winner_of(stored: StoredExperiment) -> _Winner | None:
    """Return an experiment's best evaluation; None where nothing was completed."""
    from benchmarking.planning.own_forms import OwnForms
    from benchmarking.report.summary import ranking

    if not stored.is_started:
        return None
    with stored.journal() as journal:
        state = stored.state(journal)
    definition = stored.spec.definition
    ranked = ranking(state, definition.primary_objective, definition.objectives[definition.primary_objective])
    if ranked is None:
        return None
    first = state.evaluations[ranked.leader.evaluation].first
    code = state.trials[state.evaluations[ranked.leader.evaluation].trials[-1]].code
    return _Winner(stored, OwnForms(definition).of(first.configuration), first.level, ranked.leader.mean, ranked.leader.values, code)


def _source(winner: _Winner, *, present: bool) -> tuple[str, str]:
    """Return the source folder that the winner is to run from, and what is to be said of it; empty for nothing."""
    from benchmarking.archive.code_version import code_version
    from benchmarking.archive.kept_source import source_folder

    spec = winner.stored.spec
    there = spec.definition.source_dir
    now = code_version(spec).code if (Path(there) / (spec.definition.script or "")).exists() else ""
    if not winner.code or now == winner.code:
        return there, ""
    kept = source_folder(winner.stored.folder, winner.code)
    changed = f"the source in {there} is another than was measured ({winner.code}, now {now})" if now else f"there is no source in {there}"
    if present:
        return there, changed
    if not kept.is_dir():
        return there, f"{changed}, and that was not kept"
    return str(kept.absolute()), f"{changed}: what was measured is kept in {kept} and runs again (--present_source: the present one)"


def _alone(winner: _Winner, source_dir: str) -> Resolved:
    """Return the definition whose only trial is the winner, run from a source folder."""
    resolved = winner.stored.spec.resolved
    definition = resolved.definition
    changes: dict[str, Any] = {
        "source_dir": source_dir,
        "space": {},
        "valid": (),
        "base_trial": {},
        "trials": (dict(winner.configuration),),
        "points_to_evaluate": (),
        "warm_start": (),
        "reuse": False,
        "method": None,
        "methods": {},
        "budget": definition.budget.model_copy(update={"max_num_trials": None}),
    }
    return replace(resolved, definition=definition.model_copy(update=changes), origins={})


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("best"), description="Show the winner of a tag, exactly, and run it again.", epilog=_EPILOG)
    parser.add_argument("tag", metavar="TAG")
    parser.add_argument("--experiment", default="", metavar="NAME", help="which of a tag's experiments, e.g. toy or toy/RS-local-0")
    parser.add_argument("--rerun", action="store_true", help="run it again at once, under a tag of its own")
    parser.add_argument("--output", type=Path, metavar="FILE", help="in place of best.yaml in the tag's folder")
    parser.add_argument("--present_source", action="store_true", help="run the source as it is now, though another was measured")
    parser.add_results_dir()
    return parser
