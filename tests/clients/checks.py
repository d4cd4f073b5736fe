"""Checks that tell their results as lines, one after the other, whatever becomes of each."""

from __future__ import annotations

import sys
import traceback


def refused(call, kind, words):
    """Call something that has to raise an error of a kind, with these words in it."""
    try:
        call()
    except kind as error:
        found = str(error)
    else:
        raise AssertionError("it was not refused")
    assert words in found, found


def run(*checks):
    """Run functions in their order, and tell of each whether it went well; exits 1 where one did not."""
    failed = False
    for one in checks:
        try:
            one()
            result = "ok"
        except Exception as error:  # noqa: BLE001 (told, and the next is tried)
            failed = True
            result = f"FAILED: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
            traceback.print_exc()
        print(f"check: {one.__name__.replace('_', ' ')}: {result}", flush=True)
    sys.exit(1 if failed else 0)
