"""What a look at mutants found so far, so that one which was interrupted goes on: in a folder, for one state of the tree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def digest_of(root: Path, folders: Sequence[str]) -> str:
    """Return a hash of all Python files in folders, with their names."""
    found = hashlib.sha256()
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*.py")):
        found.update(f"{path.relative_to(root)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return found.hexdigest()


class Kept:
    """What was found, kept in a folder; nothing is kept where there is none.

    Args:
        folder: where; what it holds of another tree is forgotten.
        digest: of the tree, see `digest_of`.
    """

    def __init__(self, folder: Path | None, digest: str) -> None:
        self._folder = folder
        self._outcomes: dict[str, list[str]] = {}
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        of = folder / "digest"
        if not of.exists() or of.read_text(encoding="utf-8") != digest:
            for name in ("watched.json", "outcomes.jsonl"):
                (folder / name).unlink(missing_ok=True)
            of.write_text(digest, encoding="utf-8")
        path = folder / "outcomes.jsonl"
        if path.exists():
            # The last line may have been cut.
            whole = [line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
            path.write_text("".join(whole), encoding="utf-8")
            self._outcomes = {key: found for key, found in map(json.loads, whole)}

    @property
    def watched(self) -> Any:
        """What the tests execute; None where that is not known yet."""
        path = self._folder / "watched.json" if self._folder is not None else None
        return json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else None

    def keep_watched(self, seen: Any) -> None:
        """Keep what the tests execute."""
        if self._folder is not None:
            new = self._folder / "watched.new"
            new.write_text(json.dumps(seen), encoding="utf-8")
            new.replace(self._folder / "watched.json")

    def outcome(self, mutant: str) -> tuple[str, str] | None:
        """Return what became of a mutant, and by what; None where that is not known yet."""
        found = self._outcomes.get(mutant)
        return None if found is None else (found[0], found[1])

    def keep_outcome(self, mutant: str, outcome: str, by: str) -> None:
        """Keep what became of a mutant."""
        self._outcomes[mutant] = [outcome, by]
        if self._folder is not None:
            with (self._folder / "outcomes.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps([mutant, [outcome, by]]) + "\n")
