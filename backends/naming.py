"""How jobs are called: valid everywhere, readable, found by experiment and by tag; and how buckets may be. Pure."""

from __future__ import annotations

import hashlib
import re

TAG_FORM = re.compile(r"[A-Za-z0-9](?:-*[A-Za-z0-9]){0,40}")
"""What a tag looks like: part of S3 keys, of job names by its mark, and of job tags."""

TAG_KEY = "outrider:tag"
"""Key of the tag by which jobs say which invocation they belong to."""


_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
_RESERVED_BEGINNINGS = ("xn--", "sthree-", "amzn-s3-demo-")
_RESERVED_ENDS = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")


def tag_mark(tag: str) -> str:
    """Return six hexadecimal digits that are part of the names of all jobs of a tag."""
    return hashlib.sha256(tag.encode()).hexdigest()[:6]


def controller_mark(tag: str) -> str:
    """Return what the names of the jobs begin with in which controllers of a tag run: no experiment's jobs do."""
    return f"ctl-{tag_mark(tag)}-"


def job_prefix(benchmark: str, tag: str, identity: str) -> str:
    """Return the beginning of an experiment's job names, at most 40 characters.

    Args:
        benchmark: its name, of which the beginning is kept.
        tag: of the invocation.
        identity: a hash that no other experiment has, of which the first eight digits are kept.
    """
    slug = re.sub(r"[^A-Za-z0-9]+", "-", benchmark).strip("-")[:24].rstrip("-") or "job"
    return f"{slug}-{tag_mark(tag)}-{identity[:8]}"


def is_bucket_name(name: str) -> bool:
    """Return whether S3 allows a general purpose bucket of this name (S3 user guide, "General purpose bucket naming rules")."""
    return (
        _BUCKET.fullmatch(name) is not None
        and ".." not in name
        and _ADDRESS.fullmatch(name) is None
        and not name.startswith(_RESERVED_BEGINNINGS)
        and not name.endswith(_RESERVED_ENDS)
    )
