"""Every request gets an answer: what goes wrong while one is made becomes an error response."""

from __future__ import annotations

import sqlite3
import sys
import traceback
from collections.abc import Callable

from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Response


def answered(call: Callable[[], Response], failed: Callable[[ServiceError], Response]) -> Response:
    """Return what `call` returns, or the response that `failed` makes of its error: 500 where the fault is ours.

    Raises:
        ConnectionError: the client went away.
    """
    try:
        return call()
    except ServiceError as error:
        return failed(error)
    except ConnectionError:
        raise
    except (OSError, sqlite3.OperationalError) as error:
        # The disk is full or gone: the caller is told, as the real service would, by an internal error.
        return failed(ServiceError("InternalError", f"The emulator's disk failed: {error}", 500))
    except Exception as error:  # noqa: BLE001 (answered with 500, and shown)
        traceback.print_exc(file=sys.stderr)
        return failed(ServiceError("InternalFailure", f"The emulator failed: {type(error).__name__}: {error}", 500))
