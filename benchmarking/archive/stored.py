"""Experiments as they were left, read back from their folders by one loader, which needs nothing that made them."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarking.archive.identity import SCHEMA_VERSION, ExperimentSpec
from benchmarking.archive.kept_source import check_there
from benchmarking.archive.version_1 import method_traits
from benchmarking.controller.experiment_clock import ExperimentClock
from benchmarking.controller.journal import Journal
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.controller.state import ExperimentState
from definitions import strict_json
from definitions.backend_registry import backend_description, backend_names
from definitions.errors import UserError
from definitions.instance_tables import LISTED_REGION
from definitions.instances import default_instance_type
from definitions.metrics import expressions_of
from definitions.resolve import Resolved, resolve
from definitions.schema import Budget, Progressive
from definitions.yaml_source import read_yaml

BUDGET = "budget"
"""Of experiment.json: the limits under which the experiment went on last, as definition.yaml has those that it began with."""
_READABLE = (1, SCHEMA_VERSION)


@dataclass(frozen=True)
class StoredExperiment:
    """An experiment in its folder.

    Args:
        folder: where it was found.
        spec: what it is.
        region: the region whose prices count for it.
    """

    folder: Path
    spec: ExperimentSpec
    region: str

    @property
    def is_started(self) -> bool:
        """Whether it has a journal."""
        return (self.folder / "journal.sqlite").is_file()

    @property
    def outlives_controller(self) -> bool:
        """Whether its jobs go on where its controller dies, so that only the next one can end them."""
        described = backend_description(self.spec.backend)
        return described.outlives_controller(self.spec.definition.block(self.spec.backend, described.block))

    @contextlib.contextmanager
    def journal(self) -> Iterator[Journal]:
        """Give its journal for reading; another process may be writing it.

        Raises:
            UserError: there is none that this Outrider reads.
        """
        with contextlib.closing(SqliteJournal(self.folder / "journal.sqlite", read_only=True)) as journal:
            yield journal

    def state(self, journal: Journal) -> ExperimentState:
        """Return the state that its journal amounts to, without running anything."""
        state, clock = ExperimentState(state_setup(self.spec)), ExperimentClock(journal.sessions())
        for record in journal.records():
            clock.before(record.sequence, state)
            state.apply(record)
        return state


def experiments_of(tag_folder: Path) -> list[Path]:
    """Return the folders of the experiments in a tag's folder, also of damaged ones; empty where there are none."""
    return sorted({path.parent for name in ("experiment.json", "journal.sqlite") for path in tag_folder.glob(f"*/*/{name}")})


def load(folder: Path, seen: MutableMapping[tuple[str, str], Resolved] | None = None) -> StoredExperiment:
    """Return the experiment in a folder, for reading: neither its method nor its back-end nor its script need be there any more.

    Args:
        folder: of the experiment.
        seen: definitions by text and back-end, kept by who reads many experiments: resolving one takes most of the time.

    Raises:
        UserError: it holds no experiment, a damaged one, or one of a later version.
    """
    known = read_identity(folder)
    resolved = _under_last_budget(folder, known, _resolved(folder / "definition.yaml", str(known["backend"]), seen))
    return StoredExperiment(folder, _spec(folder, known, resolved), _region(known, resolved))


def _resolved(path: Path, backend: str, seen: MutableMapping[tuple[str, str], Resolved] | None) -> Resolved:
    try:
        key = (path.read_text(encoding="utf-8"), backend)
    except (OSError, ValueError):
        key = ("", backend)  # what is wrong with it is said where it is read
    if seen is not None and key in seen:
        return seen[key]
    resolved = resolve(read_yaml(path), backend, check_files=False, keep_foreign=True)
    if seen is not None:
        seen[key] = resolved
    return resolved


def _under_last_budget(folder: Path, known: Mapping[str, Any], resolved: Resolved) -> Resolved:
    """Return the definition with the limits that were raised since; raises `UserError` where what stands for them is none."""
    if BUDGET not in known:
        return resolved  # of an earlier version
    try:
        budget = Budget.model_validate(known[BUDGET])
    except ValueError as error:
        raise UserError(f"{folder / 'experiment.json'} is damaged", f"{BUDGET}: {error}", "take it from a copy of the folder") from error
    if budget == resolved.definition.budget:
        return resolved
    return dataclasses.replace(resolved, definition=resolved.definition.model_copy(update={"budget": budget}))


def load_to_run(folder: Path, settings: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> StoredExperiment:
    """Return the experiment in a folder, to go on with it.

    Args:
        folder: of the experiment.
        settings: `key=value` texts, as after `--set`, that are laid over its definition and the limits under which it went on last.
        environ: of the controller, as in `resolve`.

    Raises:
        UserError: as `load`; its back-end is not installed, its script is gone, or a setting is wrong.
    """
    known = read_identity(folder)
    backend = str(known["backend"])
    if backend not in backend_names():
        raise not_installed(folder, "back-end", backend, backend_names())
    source = read_yaml(folder / "definition.yaml")
    check_there(folder, source.data, settings, (folder / "source").glob("*/"))
    raised = known.get(BUDGET)
    kept = [f"budget.{name}={value}" for name, value in raised.items()] if isinstance(raised, dict) else []
    resolved = resolve(source, backend, [*kept, *settings], environ=environ)
    return StoredExperiment(folder, _spec(folder, known, resolved), _region(known, resolved))


def not_installed(folder: Path, kind: str, name: str, known: Sequence[str]) -> UserError:
    """Return the error for a plug-in that an experiment needs to go on."""
    return UserError(
        f"{folder}: its {kind} {name!r} is not installed, so it cannot go on",
        f"installed: {', '.join(known)}",
        f"install the package that brings {name!r}, then resume; its results can be read and exported without",
    )


def read_identity(folder: Path) -> Mapping[str, Any]:
    """Return what experiment.json says.

    Raises:
        UserError: there is none, it is damaged, or of a version that this Outrider does not read.
    """
    path = folder / "experiment.json"
    try:
        known = strict_json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"{folder}: there is no experiment.json", "without it nothing says what was run there", "take it from a copy of the folder"
        ) from None
    except OSError as error:
        raise UserError(f"cannot read {path}", str(error)) from error
    except ValueError as error:
        raise UserError(f"{path} is damaged", str(error), "take it from a copy of the folder") from error
    version = known.get("schema_version") if isinstance(known, dict) else None
    if version not in _READABLE:
        raise UserError(
            f"{path} has {'no version' if version is None else f'version {version}'}",
            f"this Outrider reads the versions {' and '.join(map(str, _READABLE))}; nothing was changed",
            "use the Outrider that wrote it or a later one, or another tag",
        )
    lacking = [name for name in ("backend", "hash", "method", "method_arguments", "number", "seed") if name not in known]
    if lacking:
        raise UserError(f"{path} is damaged", f"it lacks {', '.join(lacking)}", "take it from a copy of the folder")
    found: Mapping[str, Any] = known
    return found


def _region(known: Mapping[str, Any], resolved: Resolved) -> str:
    """Return the region whose prices count: as recorded, else (in folders of earlier versions) as the back-end says, if it is installed."""
    if isinstance(known.get("region"), str):
        return str(known["region"])
    try:
        described = backend_description(resolved.backend)
    except UserError:
        return LISTED_REGION
    return described.region(resolved.definition.block(resolved.backend, described.block), {})


def _shares_this_machine(backend: str) -> bool:
    """Return whether jobs of a back-end share this machine with others; not where it is not installed any more."""
    try:
        return backend_description(backend).shares_this_machine
    except UserError:
        return False


def state_setup(spec: ExperimentSpec) -> StateSetup:
    """Return what the fold of an experiment's journal depends on besides the records."""
    definition = spec.definition
    fidelity = definition.fidelity if isinstance(definition.fidelity, Progressive) else None
    return StateSetup(
        objectives=definition.objectives,
        repeats=spec.repeats,
        order=definition.order if spec.repeats == definition.repeats else "default",
        seed=spec.seed,
        level_name=fidelity.reported_as if fidelity is not None and spec.hears_levels else None,
        reported_level=None if fidelity is None else fidelity.reported_as,
        full_level=None if fidelity is None else fidelity.full,
        waits_for_others=_shares_this_machine(spec.backend),
        expressions=expressions_of(definition.metrics),
        default_instance_type=str(definition.arguments.get("instance_type") or default_instance_type(spec.backend)),
    )


def _spec(folder: Path, known: Mapping[str, Any], resolved: Resolved) -> ExperimentSpec:
    if known["schema_version"] == 1:
        hears_levels, repeats = method_traits(known["method"], resolved.definition)
    else:
        hears_levels, repeats = known["hears_levels"], known["repeats"]
    tag_folder = folder.parent.parent
    return ExperimentSpec(
        resolved=resolved,
        method=known["method"],
        seed=known["seed"],
        tag=tag_folder.name,
        results_dir=tag_folder.parent,
        method_arguments=known["method_arguments"],
        number=known["number"],
        hears_levels=hears_levels,
        repeats=repeats,
    )
