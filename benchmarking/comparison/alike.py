"""What has to be alike for experiments to be compared, and which of it is not: the field is named, and who differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.comparison.runs import ComparedRun
from definitions import strict_json
from definitions.configuration import configuration_id
from definitions.scalars import is_number

_PER_METHOD = frozenset({"definition"})
"""Fields in which methods may differ, but not the seeds of one."""


def environment_facts(folder: Path) -> dict[str, str]:
    """Return what environment.json of an experiment says that has to be alike; nothing where it cannot be read."""
    try:
        known: Mapping[str, Any] = strict_json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    memory = known.get("memory_bytes")
    found = {
        "machine": " ".join(str(known[name]) for name in ("system", "machine", "processor") if known.get(name)),
        "cores": str(known.get("cores", "")),
        "memory": f"{memory / 2**30:.0f} GiB" if is_number(memory) else "",
        "Python": str(known.get("python", "")),
        "packages": configuration_id(known["packages"]) if isinstance(known.get("packages"), dict) else "",
        "prices of": str(known.get("prices_as_of") or ""),
    }
    return {name: value for name, value in found.items() if value}


def differences(runs: Sequence[ComparedRun]) -> list[str]:
    """Return a sentence for each field in which runs of one benchmark differ that should be alike; empty where all are.

    Args:
        runs: (n_runs,) of one benchmark.
    """
    fields = list(dict.fromkeys(name for run in runs for name in run.facts))
    return [sentence for name in fields if (sentence := _difference(runs, name)) is not None]


def _difference(runs: Sequence[ComparedRun], name: str) -> str | None:
    if name in _PER_METHOD:
        methods = dict.fromkeys(run.method for run in runs)
        found = [_spread([run for run in runs if run.method == method], name) for method in methods]
        return next((sentence for sentence in found if sentence is not None), None)
    return _spread(runs, name)


def _spread(runs: Sequence[ComparedRun], name: str) -> str | None:
    by_value: dict[str, list[ComparedRun]] = {}
    for run in runs:
        if run.facts.get(name):
            by_value.setdefault(run.facts[name], []).append(run)
    if len(by_value) < 2:
        return None
    ordered = sorted(by_value.items(), key=lambda item: -len(item[1]))
    parts = [
        f"{value} ({len(mine)} {'run' if len(mine) == 1 else 'runs'}, e.g. {mine[0].method} seed {mine[0].number})"
        for value, mine in ordered
    ]
    shown = "; ".join(parts[:3]) + (f"; and {len(parts) - 3} more" if len(parts) > 3 else "")
    return f"{runs[0].benchmark}: not all alike in {name}: {shown}"
