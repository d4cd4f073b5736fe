"""An experiment read for a comparison: from its journal, or from what was kept of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.analysis.stand_ins import stand_ins
from benchmarking.archive.liveness import held_files, is_run
from benchmarking.archive.stored import StoredExperiment
from benchmarking.comparison.kept_fold import keep_fold, kept_fold
from benchmarking.comparison.run_fold import FoldedRun, fold_journal
from benchmarking.comparison.runs import ComparedRun
from benchmarking.controller.interfaces import Observer


def read_run(stored: StoredExperiment, facts: Mapping[str, str] | None = None, observer: Observer | None = None) -> ComparedRun:
    """Return what an experiment came to so far; another process may be running it.

    Args:
        stored: the experiment.
        facts: what else has to be alike, e.g. of its environment.
        observer: called after each record, for what else is made of the journal in the same pass.

    Raises:
        UserError: its journal cannot be read.
    """
    spec, definition = stored.spec, stored.spec.definition
    folded = kept_fold(stored) if observer is None else None
    if folded is None:
        folded = _folded(stored, observer) if stored.is_started else FoldedRun()
    return ComparedRun(
        spec.tag,
        definition.name,
        spec.method,
        spec.number,
        spec.backend,
        definition.objectives,
        folded.measurements,
        folded.ends,
        folded.ended,
        {**facts_of(stored, folded.codes), **(facts or {})},
        folded.trials,
        interleaved=definition.order == "interleave" and spec.repeats == definition.repeats > 1,
        ended_by=folded.ended_by,
        stood_in=stand_ins(definition, spec.backend, (facts or {}).get("dollars", "")),
    )


def _folded(stored: StoredExperiment, observer: Observer | None) -> FoldedRun:
    # What a controller is at work on has changed by the next look.
    if observer is not None or is_run(stored.folder, held_files()):
        return fold_journal(stored, observer)
    return keep_fold(stored)


def facts_of(stored: StoredExperiment, codes: Sequence[str]) -> dict[str, str]:
    """Return what of an experiment's identity has to be alike.

    Args:
        stored: the experiment.
        codes: versions of the code that its trials ran.
    """
    spec = stored.spec
    definition = spec.definition
    return {
        "definition": spec.resolved.hash_for(spec.method),
        "back-end": spec.backend,
        "region": stored.region,
        "workers": "default" if definition.n_workers is None else str(definition.n_workers),
        "budget": _budget_text(definition.budget.model_dump(exclude_defaults=True)),
        "script": ", ".join(codes),
    }


def _budget_text(budget: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in sorted(budget.items()) if isinstance(value, (int, float)))
