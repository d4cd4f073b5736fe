"""launch.json: what was launched, as data. It names no role, no bucket and no account."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from definitions import strict_json
from definitions.errors import UserError

SCHEMA_VERSION = 1
"""Of launch.json."""
TUNING_METRICS = "tuning_metrics"
"""Key of its `controller`: whether controllers write for the console how the study stands."""
REQUIREMENTS = "requirements"
"""Key of its `controller`: what is installed beside what the study needs, where whoever went on asked for other than the definitions."""


@dataclass(frozen=True)
class CommitState:
    """Which version of a folder under git something is.

    Args:
        commit: the last one; empty where the folder is in none.
        dirty: whether files were changed since.
        diff: hash of these changes; empty where there are none.
    """

    commit: str = ""
    dirty: bool = False
    diff: str = ""


@dataclass(frozen=True)
class SentPackage:
    """Something that travelled by content.

    Args:
        key: of its folder, relative to the root that all runs have in common.
        hash: of its content.
        source_dir: where it was on the launcher's machine; empty for Outrider's own packages.
        git: its version there.
    """

    key: str
    hash: str
    source_dir: str = ""
    git: CommitState = CommitState()


@dataclass(frozen=True)
class RunMoney:
    """How the limit of money of a run is divided. Dollars; all None in what was launched before it was.

    Args:
        max_cost: the whole limit; None where there is none for the whole run.
        controllers_usd: what its controllers cost at most, all generations; set aside from the limit where there is one.
        trials_usd: what its experiments share; the whole limit where trials cost nothing beside their controllers.
    """

    max_cost: float | None = None
    controllers_usd: float | None = None
    trials_usd: float | None = None


@dataclass(frozen=True)
class LaunchRecord:
    """What was launched.

    Args:
        tag: of the run.
        nonce: tells it from every other run of that tag; part of the names of its controllers.
        created_at: UTC.
        version: of Outrider.
        code: Outrider's own packages.
        sources: benchmark -> its source, packed as its trials get it.
        data: path on the launcher's machine -> the folder or file that definitions name by it.
        controller: options of the controllers, as far as they name no account.
        child: further words for the command that runs the study in a controller.
        money: how its limit is divided.
    """

    tag: str
    nonce: str
    created_at: str
    version: str
    code: SentPackage
    sources: Mapping[str, SentPackage] = field(default_factory=dict)
    data: Mapping[str, SentPackage] = field(default_factory=dict)
    controller: Mapping[str, Any] = field(default_factory=dict)
    child: tuple[str, ...] = ()
    money: RunMoney = RunMoney()

    @property
    def count(self) -> int:
        """How many controllers share the experiments."""
        return int(self.controller.get("count", 1))


def as_json(record: LaunchRecord) -> str:
    """Return the text of launch.json."""
    return strict_json.dumps({"schema_version": SCHEMA_VERSION, **asdict(record)}) + "\n"


def from_json(text: str | bytes, name: str) -> LaunchRecord:
    """Return what the text of a launch.json says.

    Args:
        text: of the object.
        name: of the object, for messages.

    Raises:
        UserError: it is damaged, or of a version that this Outrider does not read.
    """
    try:
        data = strict_json.loads(text if isinstance(text, str) else text.decode())
        version = data.get("schema_version") if isinstance(data, dict) else None
        if version != SCHEMA_VERSION:
            raise UserError(
                f"{name} has {'no version' if version is None else f'version {version}'}",
                f"this Outrider reads version {SCHEMA_VERSION}; nothing was changed",
                "use the Outrider that launched the run, or a later one",
            )
        return LaunchRecord(
            tag=str(data["tag"]),
            nonce=str(data["nonce"]),
            created_at=str(data["created_at"]),
            version=str(data["version"]),
            code=_package(data["code"]),
            sources={str(key): _package(value) for key, value in data["sources"].items()},
            data={str(key): _package(value) for key, value in data.get("data", {}).items()},
            controller=dict(data["controller"]),
            child=tuple(str(word) for word in data["child"]),
            money=RunMoney(**data.get("money", {})),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{name} is damaged", f"{type(error).__name__}: {error}", "launch the study under another tag") from error


def commit_state(folder: Path) -> CommitState:
    """Return which version of its repository a folder is, as git says; changes are those below the folder, files that are new included."""
    commit = _git(folder, "rev-parse", "HEAD")
    status = _git(folder, "status", "--porcelain", "--", ".")
    if commit is None or status is None:
        return CommitState()
    dirty = bool(status.strip())
    changes = f"{_git(folder, 'diff', 'HEAD', '--binary', '--', '.')}\0{status}" if dirty else ""
    return CommitState(commit.strip(), dirty, hashlib.sha256(changes.encode("utf-8", "surrogateescape")).hexdigest()[:16] if dirty else "")


def _package(data: Mapping[str, Any]) -> SentPackage:
    return SentPackage(**{**data, "git": CommitState(**data["git"])})


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, timeout=20, check=True, encoding="utf-8", errors="surrogateescape"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
