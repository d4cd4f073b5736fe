"""Models, configurations and endpoints by name, and what deleted endpoints were billed for; what is there outlives the process."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from backends.emulator.core.database import Database
from backends.emulator.endpoints.resource import HostingResource, from_json, to_json
from backends.emulator.http.errors import ServiceError

HOSTING_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS hosting (kind TEXT, name TEXT, number INTEGER, data TEXT, PRIMARY KEY (kind, name));"
    "CREATE TABLE IF NOT EXISTS hosting_billed (name TEXT, instance_type TEXT, instance_count INTEGER, created_at REAL, deleted_at REAL);"
)


@dataclass(frozen=True)
class BilledEndpoint:
    """What an endpoint that is deleted was billed for; times in seconds since the epoch."""

    name: str
    instance_type: str
    instance_count: int
    created_at: float
    deleted_at: float


class HostingStore:
    """Keeps them; to be used under one lock.

    Args:
        database: with the tables of `HOSTING_SCHEMA`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        rows = database.run("SELECT data FROM hosting ORDER BY number")
        resources = [from_json(json.loads(data)) for (data,) in rows]
        self._resources = {(one.kind, one.name): one for one in resources}
        self._number = max((one.number for one in resources), default=0)

    def next_number(self) -> int:
        """Return the number of the next that is made."""
        self._number += 1
        return self._number

    def all(self, kind: str) -> list[HostingResource]:
        """Return all of a kind, in the order of their creation."""
        return [one for (known, _), one in self._resources.items() if known == kind]

    def find(self, kind: str, name: str) -> HostingResource | None:
        """Return one; None where there is none."""
        return self._resources.get((kind, name))

    def save(self, resource: HostingResource) -> None:
        """Keep one as it is now; raises the service's error where the disk takes nothing."""
        row = (resource.kind, resource.name, resource.number, json.dumps(to_json(resource), separators=(",", ":")))
        try:
            self._database.run("INSERT OR REPLACE INTO hosting VALUES (?, ?, ?, ?)", row)
        except sqlite3.OperationalError as error:
            raise ServiceError("InternalError", f"The emulator's disk failed: {error}", 500) from None
        self._resources[resource.kind, resource.name] = resource

    def delete(self, resource: HostingResource) -> None:
        """Forget one."""
        self._database.run("DELETE FROM hosting WHERE kind = ? AND name = ?", (resource.kind, resource.name))
        self._resources.pop((resource.kind, resource.name), None)

    def bill(self, billed: BilledEndpoint) -> None:
        """Keep what an endpoint is billed for."""
        self._database.run("INSERT INTO hosting_billed VALUES (?, ?, ?, ?, ?)", tuple(vars(billed).values()))

    def billed(self) -> list[BilledEndpoint]:
        """Return what deleted endpoints were billed for, in the order of their deletion."""
        return [BilledEndpoint(*row) for row in self._database.run("SELECT * FROM hosting_billed ORDER BY rowid")]
