"""Where the state of a command's experiments is kept."""

from __future__ import annotations

import os
import secrets
import time
from functools import cache
from typing import TYPE_CHECKING

from benchmarking.archive.keeper import FolderKeeper, Keeper
from launch.remote.sharing import CONTROLLER_VARIABLE, GENERATION_VARIABLE
from launch.remote.stores import store_at

if TYPE_CHECKING:
    from benchmarking.remote.keeping import StoreKeeper


def keeper_at(uri: str) -> Keeper:
    """Return what keeps the experiments of a command.

    Args:
        uri: of the run in the store, e.g. `s3://bucket/outrider/runs/TAG`; empty to keep them in their folders alone.

    Raises:
        UserError: it is no such URI.
    """
    return _remote(uri) if uri else FolderKeeper()


@cache
def _remote(uri: str) -> StoreKeeper:
    # What a run kept in its folders alone does not need: a start takes a tenth less without.
    from benchmarking.live_status import live_status
    from benchmarking.remote.keeping import StoreKeeper
    from benchmarking.remote.live import LiveWords
    from benchmarking.remote.marked import MarkedEnds
    from benchmarking.remote.segments import Writer
    from benchmarking.remote.shipping import ShippingPace

    generation = os.environ.get(GENERATION_VARIABLE, "")
    writer = Writer(secrets.token_hex(8), os.environ.get(CONTROLLER_VARIABLE, ""), int(generation) if generation.isdigit() else 0)
    store, pace = store_at(uri, os.environ), ShippingPace(time.monotonic)
    words = LiveWords(store, writer, live_status(time.time), time.time, pace)
    return StoreKeeper(store, writer, pace, words, MarkedEnds(store, pace))
