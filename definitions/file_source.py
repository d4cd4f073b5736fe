"""One source of metrics that is a file the script writes; standard library only, as it travels to jobs."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FORMATS = ("csv", "jsonl", "json", "tensorboard")
RANKS = ("rank", "global_rank", "local_rank", "process_index")
"""What the number of a process is called, unless the script has an argument of that name."""


@dataclass(frozen=True)
class FileSource:
    """A file, or all that a pattern matches, and how metrics stand in it.

    Args:
        path: relative to where the job starts, with `*`, `?`, `[...]` and `**`; `${place}` is filled in where the job runs.
        format: one of `FORMATS`.
        level: column, key or tag that says how far the job is; of event files the empty text is their step. None where nothing does.
        reported_as: what the level is called in reports; empty for its own name.
        counts_from: what the first level is in the file, 0 or 1; reports count what is done.
        names: what columns are called in reports, by their own names.
        wanted: metrics that the report of a level waits for.
        ranks: columns that say which of several processes wrote a row; those of another than 0 are not counted.
    """

    path: str
    format: str
    level: str | None = None
    reported_as: str = ""
    counts_from: int = 1
    names: Mapping[str, str] = field(default_factory=dict)
    wanted: tuple[str, ...] = ()
    ranks: tuple[str, ...] = RANKS
