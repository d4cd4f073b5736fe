"""Warm instances in words, and as a document: how often they were had, what they saved and cost. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.report.text import dollars, duration


def warm_text(state: ExperimentState, price_label: str = "") -> str:
    """Return one or two sentences for people.

    Args:
        state: of an experiment whose back-end was to keep instances warm.
        price_label: what kind of dollars it counts, e.g. `emulated`.
    """
    figures = state.warm.figures()
    without = " and ".join(f"'{name}'" for name in figures.quotas_at_zero)
    why = f"the {'quotas' if len(figures.quotas_at_zero) > 1 else 'quota'} {without} {'are' if len(figures.quotas_at_zero) > 1 else 'is'} 0"
    if not figures.kept:
        return f"No warm pools: {why if without else 'no instances were kept'}. Every job started cold."
    lines = []
    if figures.hit_rate is None:
        lines.append("Warm pools: instances were kept, but no job came that could have had them.")
    else:
        saved = "" if not figures.saved_s else f", which saved {duration(figures.saved_s)} of waiting"
        lines.append(
            f"Warm pools: of {figures.eligible} jobs that came after the first instances were kept, {figures.warm} "
            f"({figures.hit_rate * 100:.0f} %) started warm{_means(figures.warm_s, figures.cold_s)}{saved}."
        )
    retained = dollars(state.money.retained_usd)
    trials_usd = state.money.spent_usd - (state.money.retained_usd or 0.0)
    label = f" ({price_label})" if price_label else ""
    lines.append(
        f"Spent{label}: {dollars(trials_usd)} on trials and {retained} on {duration(state.money.retained_s)} of kept instances, "
        f"{dollars(state.money.spent_usd)} together."
    )
    if state.money.pools:
        worst = [pool.worst_usd for pool in state.money.pools.values()]
        most = dollars(None if None in worst else math.fsum(usd or 0.0 for usd in worst))
        lines.append(f"What {len(worst)} more kept sets of instances cost is not known yet: {most} at most; a resume looks.")
    if without:
        lines.append(f"Some jobs could not be kept warm: {why}.")
    return " ".join(lines)


def _means(warm_s: float | None, cold_s: float | None) -> str:
    if warm_s is None:
        return ""
    return f", in {warm_s:.1f} s on average" + ("" if cold_s is None else f" where a cold start took {cold_s:.1f} s")


def forked_text(trials: Iterable[TrialState]) -> str:
    """Return how many trials were forked from a process that had imported the modules of `preload`; empty where none was to be.

    Args:
        trials: of an experiment; of each its last job counts.
    """
    found = [bool(trial.usage["forked"]) for trial in trials if "forked" in trial.usage]
    if not found:
        return ""
    share = f"{sum(found)} of {len(found)} trials ({100 * sum(found) / len(found):.0f} %)"
    return f"Preloaded: {share} were forked from a process that had imported the modules."


def warm_document(state: ExperimentState) -> dict[str, Any]:
    """Return the same as a document."""
    figures = state.warm.figures()
    return {
        "jobs": figures.jobs,
        "eligible_jobs": figures.eligible,
        "warm_jobs": figures.warm,
        "hit_rate": figures.hit_rate,
        "cold_start_s": figures.cold_s,
        "warm_start_s": figures.warm_s,
        "saved_s": figures.saved_s,
        "retained_s": state.money.retained_s,
        "retained_usd": state.money.retained_usd,
        "pools_kept": figures.kept,
        "pools_open": len(state.money.pools),
        "quotas_at_zero": list(figures.quotas_at_zero),
    }
