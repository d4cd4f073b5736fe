"""What a store is, and reading an object whole with another try where a read fails."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from ..samples import BadSampleError
from ..tolerance import Tolerance

ATTEMPTS = 3
"""Times that an object is asked for, beside what its client repeats by itself."""

_GONE = ("NoSuchKey", "NoSuchBucket", "404", "does not exist", "not found")


class StoredName(NamedTuple):
    """An object: name, and size in bytes, -1 where listing does not tell."""

    name: str
    size: int = -1


class Store(Protocol):
    """Where objects lie. Copied to loader workers, so connections are made when they are first used."""

    def entries(self) -> list[StoredName]:
        """Return all objects under the channel's location, in no particular order."""
        ...

    def open(self, name: str) -> Any:
        """Return a binary file object for one of them."""
        ...


def is_gone(error: Exception) -> bool:
    """Return whether a client's error says that there is no such object, so that asking again would not help."""
    return isinstance(error, FileNotFoundError) or any(word in str(error) for word in _GONE)


def content_of(store: Store, name: str, tolerance: Tolerance, opened: Any = None) -> bytes:
    """Return an object's content.

    Args:
        store: where it lies.
        name: of the object.
        tolerance: where failures are counted.
        opened: a file for the first attempt, where it is open already.

    Raises:
        BadSampleError: it is not there, or cannot be read; names it.
    """
    attempt = 1
    while True:
        try:
            with opened if opened is not None and attempt == 1 else store.open(name) as file:
                content: bytes = file.read()
                return content
        except MemoryError as error:
            raise BadSampleError(f"{name}: it does not fit into this process's memory") from error
        except Exception as error:  # each client has classes of its own
            if is_gone(error) or attempt == ATTEMPTS:
                tolerance.count("read_errors")
                times = "" if attempt == 1 else f", asked for {attempt} times"
                raise BadSampleError(f"{name}: it cannot be read{times}: {type(error).__name__}: {error}") from error
            tolerance.retry(name, error)
            attempt += 1
