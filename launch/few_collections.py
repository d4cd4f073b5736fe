"""A process that imports, runs and ends hardly ever looks for garbage, and not at all at its end."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def few_collections() -> Iterator[None]:
    """Inside the block, which is all that the process does, garbage is looked for seldom, and afterwards not among what is there."""
    # Imports and definitions leave next to nothing that only a collection would free, and would set off hundreds of them.
    gc.set_threshold(50_000, 20, 20)
    try:
        yield
    finally:
        # At its end the interpreter looks again and again; all goes with the process. It was a tenth of a short command's time.
        gc.freeze()
