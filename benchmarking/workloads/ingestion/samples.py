"""What a sample is: its key, its content as it is stored, its label, and where it lies."""

from __future__ import annotations

from typing import Any, NamedTuple

UNLABELLED = 0
"""The label of a sample that has none, so that a loss can be computed."""


class RawSample(NamedTuple):
    """One sample as it is stored.

    Args:
        key: name without folders and ending.
        content: the encoded image, or the record's bytes; an array where the format holds numbers and no encoded content.
        label: the class's number, `UNLABELLED` where there is none.
        place: object, and member or record within it; for people.
    """

    key: str
    content: Any
    label: int
    place: str


class BadSampleError(ValueError):
    """A sample that cannot be read: says where it lies, and why."""


def key_of(name: str) -> str:
    """Return the key of a sample by the name of its file: without folders and ending."""
    return name.rpartition("/")[2].rpartition(".")[0]


def class_of(name: str) -> str:
    """Return the folder in which a file lies, which is its class."""
    return name.rpartition("/")[0].rpartition("/")[2]
