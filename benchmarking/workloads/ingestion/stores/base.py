"""What a store is."""

from __future__ import annotations

from typing import Any, Protocol


class Store(Protocol):
    """Where objects lie. Copied to loader workers, so connections are made when they are first used."""

    def names(self) -> list[str]:
        """Return the names of all objects under the channel's location."""
        ...

    def open(self, name: str) -> Any:
        """Return a binary file object for one of them."""
        ...
