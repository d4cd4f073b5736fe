"""When endpoints were deleted by `outrider stop`: kept beside the run's state, as the service forgets an endpoint that is gone."""

from __future__ import annotations

import json
from typing import Any

from backends.object_store import ObjectStore

FOLDER = ".stopped/"
"""Below the run's root: an object for each endpoint."""


def tell(store: ObjectStore, endpoint: str, gone_at: float) -> None:
    """Keep when an endpoint was deleted, so that whoever resumes the run knows until when it was billed; raises as `ObjectStore.put`.

    Args:
        store: of the run.
        endpoint: its name.
        gone_at: seconds since the epoch; a later call replaces it.
    """
    store.put(FOLDER + endpoint, json.dumps({"gone_at": gone_at}).encode())


def gone_at(store: ObjectStore, endpoint: str) -> float | None:
    """Return when somebody's `stop` deleted an endpoint; None where that is not known; raises as `ObjectStore.get`."""
    found = store.get(FOLDER + endpoint)
    if found is None:
        return None
    try:
        document: Any = json.loads(found.body)
        return float(document["gone_at"])
    except (ValueError, KeyError, TypeError):
        return None
