"""What is said of an objective that a script does not report: which name is nearest, and how to report. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from definitions.errors import nearest

_MOST_NAMES, _MOST_EXPRESSIONS = 12, 3


def missing(objective: str, reported: Collection[str], what: str = "was never reported") -> str:
    """Return that an objective was not reported, what was, and the nearest of these names or how to report.

    Args:
        objective: its name.
        reported: names of the metrics that were.
        what: is said of the objective.
    """
    others = sorted(reported)
    shown = ", ".join(others[:_MOST_NAMES]) + (f", and {len(others) - _MOST_NAMES} more" if len(others) > _MOST_NAMES else "")
    near = nearest(objective, others)
    advice = f"; the nearest is {near!r}: name that under `objectives`" if near else "" if others else f"; {how_to_report([objective])}"
    return f"objective {objective!r} {what} (reported: {shown or 'nothing'}){advice}"


def how_to_report(objectives: Sequence[str]) -> str:
    """Return one line that says how a Python script reports its objectives, to be pasted."""
    names = [name for name in objectives if name.isidentifier()] or ["loss"]
    return "report with: from outrider_report import report; report(" + ", ".join(f"{name}={name}" for name in names) + ")"


def how_to_mend(expressions: Mapping[str, str], objectives: Sequence[str]) -> str:
    """Return what to do where the expressions of a definition found nothing in what a script printed.

    Args:
        expressions: by metric.
        objectives: names that the script has to report; what finds them comes first.
    """
    names = sorted(expressions, key=lambda name: name not in objectives)[:_MOST_EXPRESSIONS]
    shown = ", ".join(f"{name}: {expressions[name]!r}" for name in names)
    return f"no line of its output is what `metrics` looks for ({shown}): mend that in the definition"


class FirstReports:
    """Watches the first reports of an experiment for objectives that they lack.

    Args:
        objectives: names that the script has to report.
        allowed: reports without an objective after which it is said to be missing; one suffices where a name is near.
    """

    def __init__(self, objectives: Sequence[str], allowed: int = 3) -> None:
        self._awaited = set(objectives)
        self._allowed = allowed
        self._reports = 0
        self._seen: set[str] = set()

    def saw(self, metrics: Collection[str]) -> list[str]:
        """Take a report's names; return what is to be said now, each thing once."""
        if not self._awaited:
            return []
        self._reports += 1
        self._seen.update(metrics)
        self._awaited -= self._seen
        said = [name for name in sorted(self._awaited) if self._reports >= self._allowed or nearest(name, sorted(self._seen))]
        self._awaited.difference_update(said)
        return [missing(name, self._seen, "is not in the first reports") for name in said]
