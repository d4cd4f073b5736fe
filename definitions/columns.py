"""Columns of the result files: ours by name, and the one of a configuration's key that is called like one of ours."""

from __future__ import annotations

from collections.abc import Collection

OUR_COLUMNS = frozenset(
    {
        "trial", "fidelity", "repeat", "attempts", "status", "cause", "started_at", "ended_at", "duration_s", "cost_usd", "method",
        "seed", "job", "attempt", "incarnation", "rank", "sequence", "at", "elapsed_s", "after_stop", "configuration_id", "message",
        "billable_s", "level", "benchmark", "peak_rss_bytes", "cpu_s",
    }
)  # fmt: skip
"""What our columns are called in any of the files, so that a key has the same column in all of them."""

PREFIX = "config_"
"""Before the name of a key that is called like one of our columns."""


def column_of(key: str) -> str:
    """Return the column of a configuration's key: its own name, or `config_seed` for `seed`."""
    return PREFIX + key if key.removeprefix(PREFIX) in OUR_COLUMNS else key


def column_in(key: str, header: Collection[str]) -> str:
    """Return the column of a key in a file that was read; files that others made have the key's own name."""
    return column_of(key) if column_of(key) in header else key
