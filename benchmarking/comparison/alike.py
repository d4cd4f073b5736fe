"""What has to be alike for experiments to be compared, and which of it is not: the field is named, and who differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarking.comparison.runs import ComparedRun
from definitions import strict_json
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.scalars import is_number

_PER_METHOD = frozenset({"definition"})
"""Fields in which methods may differ, but not the seeds of one."""

_FIELD_OF = {"backend": "back-end", "region": "region", "workers": "workers"}
"""What is compared -> the field that then differs as asked."""

_LOAD_FACTOR = 2.0
_LOAD_LEAST = 0.5
"""Loads per core differ where one is so many times another and so much above it: below that it is the noise of an idle machine."""


def environment_facts(folder: Path) -> dict[str, str]:
    """Return what environment.json of an experiment says that has to be alike; nothing where it cannot be read."""
    try:
        known: Mapping[str, Any] = strict_json.loads((folder / "environment.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(known, dict):
        return {}
    memory, load, cores = known.get("memory_bytes"), known.get("load_average"), known.get("cores")
    found = {
        "machine": " ".join(str(known[name]) for name in ("system", "machine", "processor") if known.get(name)),
        "cores": str(known.get("cores", "")),
        "memory": f"{memory / 2**30:.0f} GiB" if is_number(memory) else "",
        "Python": str(known.get("python", "")),
        "packages": _packages_id(tuple((name, str(version)) for name, version in known["packages"].items()))
        if isinstance(known.get("packages"), dict)
        else "",
        "data": str(known.get("data") or ""),
        "load": f"{load / cores:.2f} a core" if is_number(load) and is_number(cores) and cores else "",
        "prices of": str(known.get("prices_as_of") or ""),
    }
    return {name: value for name, value in found.items() if value}


@lru_cache(maxsize=8)
def _packages_id(packages: tuple[tuple[str, str], ...]) -> str:
    """Return a hash of names and versions: the same hundreds of them are in nearly all experiments that are compared."""
    return configuration_id(dict(packages))


def differences(runs: Sequence[ComparedRun], by: Sequence[str] = ("method",)) -> list[str]:
    """Return a sentence for each field in which runs of one benchmark differ that should be alike; empty where all are.

    Args:
        runs: (n_runs,) of one benchmark.
        by: what is compared: in that they may differ.
    """
    fields = list(dict.fromkeys(name for run in runs for name in run.facts))
    asked = {_FIELD_OF.get(key, key) for key in by}
    return [sentence for name in fields if name not in asked and (sentence := _difference(runs, name, by)) is not None]


def one_kind_of_dollars(runs: Sequence[ComparedRun], what: str) -> str:
    """Return what kind of dollars the runs count; empty where they count several, or that is not known.

    Args:
        runs: (n_runs,) that are compared.
        what: in dollars is asked for; empty where nothing is.

    Raises:
        UserError: something in dollars is asked for, and they count several kinds.
    """
    kinds = sorted({run.facts["dollars"] for run in runs if run.facts.get("dollars")})
    if len(kinds) > 1 and what:
        raise UserError(
            f"{what}: {runs[0].benchmark} has {' and '.join(kinds)} dollars",
            "they do not belong side by side",
            "compare by another axis or objective",
        )
    return kinds[0] if len(kinds) == 1 else ""


def _difference(runs: Sequence[ComparedRun], name: str, by: Sequence[str]) -> str | None:
    if name == "load":
        loads = [float(run.facts[name].split()[0]) for run in runs if run.facts.get(name)]
        if not loads or max(loads) < max(_LOAD_FACTOR * min(loads), min(loads) + _LOAD_LEAST):
            return None
        # A number of each run: where it lies says more than a list of them.
        return f"{runs[0].benchmark}: not all alike in load: {min(loads):.3g} to {max(loads):.3g} a core"
    if name in _PER_METHOD:
        groups = dict.fromkeys((run.method, run.tag if "tag" in by else "") for run in runs)
        found = [_spread([run for run in runs if run.method == method and tag in ("", run.tag)], name) for method, tag in groups]
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
