"""How every completed configuration compares with the leader, as rows: the numbers that the verdict's sentence is made of. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarking.analysis.verdict import Measured, Ranking


def comparison_rows(ranking: Ranking | None, primary: str, keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a row for each completed configuration, the leader first, then the nearest.

    Args:
        ranking: None where nothing was completed.
        primary: name of the objective that is compared.
        keys: of the configurations that are shown.

    Yields:
        `config` (its number), the keys, the objective (mean over `n` measurements), and of the leader's lead over it: `factor` (how many
        times better; None for shares, and where values are not all positive), `difference` (in units of the objective), `low` and `high`
        (joint 95 % interval of the factor, else of the difference; None where nothing was measured twice), `decided` (whether the leader is
        better), `verdict` (one of four words), `p` (adjusted for all pairs; None where it could not be significant).
    """
    if ranking is None:
        return
    nothing = dict.fromkeys(("factor", "difference", "low", "high", "decided", "verdict", "p"))
    yield {**_about(ranking.leader, primary, keys), **nothing}
    for one in ranking.comparisons:
        low, high = one.interval or (None, None)
        lead: dict[str, Any] = {"factor": one.factor, "difference": one.difference, "low": low, "high": high, "decided": one.decided}
        lead |= {"verdict": f"{one.word}: emulated" if one.emulated else str(one.word), "p": one.p}
        yield {**_about(one.other, primary, keys), **lead}


def _about(measured: Measured, primary: str, keys: Sequence[str]) -> dict[str, Any]:
    point = {key: measured.configuration.get(key) for key in keys}
    return {"config": measured.evaluation, **point, primary: measured.mean, "n": len(measured.values)}
