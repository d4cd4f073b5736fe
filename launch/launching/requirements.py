"""What is installed in a controller: what the methods and back-ends of its study need, pinned as the launcher has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.methods.searchers.registry import extra_of
from definitions.backend_description import DataAccess
from definitions.backend_registry import backend_description
from definitions.datasets import TableDataset
from definitions.errors import UserError

BASE = ("pydantic", "PyYAML", "rich", "numpy", "scipy", "pathspec", "boto3")
"""What every controller needs: a base installation, and what talks to AWS."""
OF_EXTRAS: Mapping[str, tuple[str, ...]] = {"syne-tune": ("syne-tune",), "trees": ("xgboost-cpu",)}
"""What an extra that a method needs means here; trees are grown without a GPU, by the build that is small."""
OF_DATA: Mapping[str, tuple[str, ...]] = {"images": ("pillow", "scikit-learn"), "caltech256": ("pillow",)}
"""What makes data sets of a type, in a controller as well."""
OF_MODELS = ("torch", "onnx", "onnxruntime", "onnxscript")
"""What exports models for endpoints and compares them, in a controller as well."""
OWN, ASKED = "outrider", "remote.requirements"
"""Who needs something, in messages, where it is no benchmark."""
AS_PINNED: Mapping[str, str] = {"xgboost-cpu": "xgboost"}
"""Packages that have their pin under another name."""

LOCK = Path(__file__).resolve().parents[2] / "requirements.lock"
"""The pins of a checkout; a wheel has none."""
NO_LOCK = Path("/dev/null")
"""Pins of jobs that run on this very machine: what is installed."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;#]+)")
_EXTRA = re.compile(r"\bextra\s*==")


def needed(specs: Sequence[ExperimentSpec], *, emulated: bool = False) -> list[str]:
    """Return the names of the packages that controllers of these experiments import, those that others bring left out.

    Args:
        specs: the experiments.
        emulated: whether jobs run on this machine, with the builds that it has.
    """
    extras = {extra_of(_base(spec)) for spec in specs}
    names = [*BASE, *(name for extra, names in OF_EXTRAS.items() if extra in extras for name in names)]
    types = {dataset.type for spec in specs for dataset in spec.definition.datasets.values() if _prepares(spec)}
    names += [name for kind, made_by in OF_DATA.items() if kind in types for name in made_by]
    if any(spec.definition.models for spec in specs):
        names += OF_MODELS
    if _prepares_parquet(specs):
        names.append("pyarrow")
    return [AS_PINNED.get(name, name) if emulated else name for name in names]


def pinned(names: Iterable[str], lock: Path = LOCK) -> list[str]:
    """Return packages and all that they need, each with its version: as the lock says it, else as it is installed here.

    Args:
        names: of packages.
        lock: a file of pins; an installed wheel has none.
    """
    pins = _pins(lock)
    found: dict[str, str] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        key = canonical(name)
        if key in found:
            continue
        known = canonical(AS_PINNED.get(name, name))
        try:
            there = metadata.distribution(known)
        except metadata.PackageNotFoundError:
            # A package for other systems, or one that was left out here.
            if known in pins:
                found[key] = f"{name}=={pins[known]}"
            continue
        version = pins.get(known) or there.version.partition("+")[0]
        found[key] = f"{name}=={version}"
        if name not in AS_PINNED:
            waiting += [match[0] for line in there.requires or () if not _EXTRA.search(line) and (match := _NAME.match(line)) is not None]
    return sorted(found.values(), key=str.lower)


def joined(own: Sequence[str], beside: Mapping[str, Sequence[str]]) -> list[str]:
    """Return our requirements with those of others.

    Args:
        own: pinned.
        beside: whose requirements -> lines of theirs, which are installed into the same environment.

    Raises:
        UserError: one of theirs excludes what another, or we, need.
    """
    said: dict[str, tuple[str, str]] = {}
    for line in own:
        said[_name_of(line)] = (OWN, line)
    lines = list(own)
    for who, theirs in beside.items():
        for line in (text for raw in theirs if (text := raw.split(" #")[0].strip()) and not text.startswith("#")):
            name = _name_of(line)
            there = said.get(name)
            if there is None:
                said[name] = (who, line)
                lines.append(line)
            elif there[1] != line:
                if _excludes(there[1], line):
                    raise _conflict(there, (who, line))
                lines.append(line)
    return list(dict.fromkeys(lines))


def _conflict(one: tuple[str, str], other: tuple[str, str]) -> UserError:
    """Return what is wrong where two need what excludes each other, each said by whom and what."""
    asked = f"requirements: {one[0]} needs {one[1]}, {other[0]} needs {other[1]}"
    if {one[0], other[0]} <= {OWN, ASKED}:
        return UserError(asked, "both are installed in the controllers, where one of them can be", f"leave it out of {ASKED}, or loosen it")
    return UserError(
        asked,
        "trials on the controller's own instance share its environment, which can hold one of them",
        "loosen one, or run the trials as jobs of their own, where each has its own environment",
    )


def of_benchmarks(specs: Iterable[ExperimentSpec]) -> dict[str, list[str]]:
    """Return the requirements of the benchmarks whose trials run on the controller's own instance, by their names."""
    found: dict[str, list[str]] = {}
    for spec in specs:
        path = Path(spec.definition.source_dir) / "requirements.txt"
        described = backend_description(spec.backend)
        if described.shares_this_machine and spec.definition.python is None and path.is_file():
            found[spec.definition.name] = path.read_text(encoding="utf-8").splitlines()
    return found


def canonical(name: str) -> str:
    """Return a package's name as all its spellings are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _prepares(spec: ExperimentSpec) -> bool:
    return backend_description(spec.backend).data_access is not DataAccess.NOTHING


def _prepares_parquet(specs: Sequence[ExperimentSpec]) -> bool:
    made = [dataset for spec in specs if _prepares(spec) for dataset in spec.definition.datasets.values()]
    return any(isinstance(dataset, TableDataset) and dataset.format == "parquet" for dataset in made)


def _base(spec: ExperimentSpec) -> str:
    variant = spec.definition.methods.get(spec.method)
    return spec.method if variant is None else variant.base


def _pins(lock: Path) -> dict[str, str]:
    try:
        lines = lock.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    return {canonical(match[1]): match[2] for line in lines if (match := _PIN.match(line)) is not None}


def _name_of(line: str) -> str:
    match = _NAME.match(line)
    return canonical(match[0]) if match is not None else line


def _excludes(one: str, other: str) -> bool:
    """Return whether two requirements of one package cannot both be; what cannot be read is for pip to judge."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        from pip._vendor.packaging.requirements import Requirement  # type: ignore[assignment,import-untyped,unused-ignore]
    try:
        first, second = Requirement(one), Requirement(other)
    except ValueError:
        return False
    pairs = ((first, second), (second, first))
    pins = [(pin.version, rest) for one_of, rest in pairs for pin in one_of.specifier if pin.operator == "==" and "*" not in pin.version]
    return any(not rest.specifier.contains(version, prereleases=True) for version, rest in pins)
