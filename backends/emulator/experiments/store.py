"""Experiments, trials and components by name, within SageMaker's limits; what is there outlives the process."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backends.emulator.core.database import Database
from backends.emulator.http.errors import ServiceError, invalid

EXPERIMENTS_SCHEMA = "CREATE TABLE IF NOT EXISTS experiments (kind TEXT, name TEXT, data TEXT, PRIMARY KEY (kind, name));"

COMPONENTS_A_TRIAL = 50
TRIALS_AN_EXPERIMENT = 300
"""Limits that users report; neither is in the service's model."""

_WORDS = {"experiment": "Experiment", "trial": "Trial", "component": "Trial component"}


@dataclass
class Entity:
    """An experiment, a trial or a component.

    Args:
        kind: `experiment`, `trial` or `component`.
        request: what it was made of, and what was changed since.
        parents: the experiment of a trial, the trials of a component.
        metrics: of a component: values as (step, time, value) by name, in the order of their arrival.
        job: name of the training job that it was made for; empty for none.
    """

    kind: str
    name: str
    request: dict[str, Any]
    created_at: float
    modified_at: float
    parents: list[str] = field(default_factory=list)
    metrics: dict[str, list[tuple[int, float, float]]] = field(default_factory=dict)
    job: str = ""


class ExperimentStore:
    """Keeps them; its methods raise the service's errors. Safe to use from several threads.

    Args:
        database: with the table of `EXPERIMENTS_SCHEMA`.
        now: seconds since the epoch.
    """

    def __init__(self, database: Database, now: Callable[[], float]) -> None:
        self._database, self._now = database, now
        self._lock = threading.RLock()
        self._entities: dict[tuple[str, str], Entity] = {}
        self._children: dict[tuple[str, str], set[str]] = {}
        for (data,) in database.run("SELECT data FROM experiments ORDER BY rowid"):
            self._take(Entity(**json.loads(data)))

    def all(self, kind: str) -> list[Entity]:
        """Return all of a kind, in the order of their creation."""
        with self._lock:
            return [entity for (known, _), entity in self._entities.items() if known == kind]

    def get(self, kind: str, name: str) -> Entity:
        """Return one; raises `ResourceNotFound`."""
        found = self._entities.get((kind, name))
        if found is None:
            raise ServiceError("ResourceNotFound", f"{_WORDS[kind]} '{name}' does not exist.")
        return found

    def children(self, kind: str, name: str) -> list[str]:
        """Return the names of an experiment's trials or a trial's components."""
        with self._lock:
            return sorted(self._children.get((kind, name), ()))

    def create(self, kind: str, name: str, request: dict[str, Any], parents: Sequence[str] = (), job: str = "") -> Entity:
        """Make one; raises the service's error for a name that exists, a parent that does not, and a parent that is full."""
        with self._lock:
            if (kind, name) in self._entities:
                raise invalid(
                    f"{_WORDS[kind]} names must be unique within an AWS account. {_WORDS[kind]} with name ({name}) already exists."
                )
            for parent in parents:
                self.check_count(kind, parent)
            now = self._now()
            made = Entity(kind, name, request, now, now, [*parents], job=job)
            self._take(made)
            self._save(made)
            return made

    def create_for_job(self, name: str, request: dict[str, Any], trials: Sequence[str], job: str) -> None:
        """Make the component of a training job; one that somebody made before becomes its own."""
        with self._lock:
            found = self._entities.get(("component", name))
            if found is None:
                self.create("component", name, request, trials, job)
                return
            found.job, found.request = job, {**request, **found.request}
            for trial in trials:
                self.associate(name, trial)
            self._save(found)

    def check_count(self, kind: str, parent: str) -> None:
        """Raise the service's error where a parent does not exist, or has as many children of this kind as it can."""
        above = _above(kind)
        self.get(above, parent)
        count = len(self._children.get((above, parent), ()))
        limit, what, where = (
            (TRIALS_AN_EXPERIMENT, "trials", "experiment") if kind == "trial" else (COMPONENTS_A_TRIAL, "trial components", "trial")
        )
        if count >= limit:
            raise ServiceError(
                "ResourceLimitExceeded",
                f"The account-level service limit 'Total number of {what} allowed in a single {where}' is {limit} {what.title()}, with "
                f"current utilization of {count} {what.title()} and a request delta of 1 {what.title()}. Please contact AWS support to "
                "request an increase for this limit.",
            )

    def associate(self, component: str, trial: str) -> None:
        """Put a component into a trial; one that is there stays."""
        with self._lock:
            found = self.get("component", component)
            self.get("trial", trial)
            if trial not in found.parents:
                self.check_count("component", trial)
                found.parents.append(trial)
                self._children.setdefault(("trial", trial), set()).add(component)
                self._save(found)

    def disassociate(self, component: str, trial: str) -> None:
        """Take a component out of a trial."""
        with self._lock:
            found = self.get("component", component)
            self.get("trial", trial)
            if trial in found.parents:
                found.parents.remove(trial)
                self._children[("trial", trial)].discard(component)
                self._save(found)

    def update(self, component: str, changes: dict[str, Any]) -> Entity:
        """Change a component: mappings are merged, `...ToRemove` takes keys out of them, the rest replaces what was."""
        with self._lock:
            found = self.get("component", component)
            for name, value in changes.items():
                if name.endswith("ToRemove"):
                    kept = found.request.get(name.removesuffix("ToRemove"), {})
                    found.request[name.removesuffix("ToRemove")] = {key: one for key, one in kept.items() if key not in value}
                elif name in ("Parameters", "InputArtifacts", "OutputArtifacts"):
                    found.request[name] = {**found.request.get(name, {}), **value}
                else:
                    found.request[name] = value
            found.modified_at = self._now()
            self._save(found)
            return found

    def put_metrics(self, component: str, values: Iterable[tuple[str, int, float, float]]) -> None:
        """Add values of metrics as (name, step, time, value)."""
        with self._lock:
            found = self.get("component", component)
            for name, step, at, value in values:
                found.metrics.setdefault(name, []).append((step, at, value))
            found.modified_at = self._now()
            self._save(found)

    def delete(self, kind: str, name: str) -> None:
        """Delete one; raises the service's error where something is in it, or a component still is in a trial."""
        with self._lock:
            found = self.get(kind, name)
            if self._children.get((kind, name)):
                raise invalid(f"{_WORDS[kind]} '{name}' cannot be deleted, as it is not empty.")
            if kind == "component" and found.parents:
                raise invalid(f"Trial component '{name}' is associated with trials and cannot be deleted.")
            del self._entities[kind, name]
            self._children.pop((kind, name), None)
            for parent in found.parents:
                self._children[_above(kind), parent].discard(name)
            self._database.run("DELETE FROM experiments WHERE kind = ? AND name = ?", (kind, name))

    def _take(self, entity: Entity) -> None:
        self._entities[entity.kind, entity.name] = entity
        for parent in entity.parents:
            self._children.setdefault((_above(entity.kind), parent), set()).add(entity.name)

    def _save(self, entity: Entity) -> None:
        row = (entity.kind, entity.name, json.dumps(vars(entity), separators=(",", ":")))
        try:
            self._database.run("INSERT INTO experiments VALUES (?, ?, ?) ON CONFLICT (kind, name) DO UPDATE SET data = excluded.data", row)
        except sqlite3.OperationalError as error:
            raise ServiceError("InternalError", f"The emulator's disk failed: {error}", 500) from None


def _above(kind: str) -> str:
    return "experiment" if kind == "trial" else "trial"
