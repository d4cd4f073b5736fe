"""Whether an exported model answers as torch does. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ABSOLUTE, RELATIVE = 1e-4, 1e-3
"""What an answer may differ by: kernels add up in other orders. An export that went wrong differs by as much as the answers are large."""


def batches(max_batch_size: int) -> tuple[int, ...]:
    """Return the numbers of samples that a model is compared at: 1, 2 and most; one run without any for a model without batches."""
    if max_batch_size == 0:
        return (0,)
    return tuple(sorted({1, min(2, max_batch_size), max_batch_size}))


def difference(expected: Sequence[NDArray[Any]], found: Sequence[NDArray[Any]]) -> str:
    """Return what differs between the outputs of two runs, in words; empty where nothing does that counts.

    Args:
        expected: torch's, one array an output.
        found: of the exported model.
    """
    if len(expected) != len(found):
        return f"{len(found)} outputs, where torch has {len(expected)}"
    for number, (wanted, got) in enumerate(zip(expected, found, strict=True)):
        text = _difference(wanted, got)
        if text:
            return f"output {number}: {text}"
    return ""


def _difference(wanted: np.ndarray[Any, Any], got: np.ndarray[Any, Any]) -> str:
    import numpy as np

    if wanted.shape != got.shape:
        return f"shape {[*got.shape]}, where torch has {[*wanted.shape]}"
    if not np.isfinite(wanted.astype(float)).all():
        return "torch's own answer is not finite, so that nothing can be compared with it"
    off = np.abs(wanted.astype(float) - got.astype(float))
    allowed = ABSOLUTE + RELATIVE * np.abs(wanted.astype(float))
    # A comparison with NaN is false, so this asks what is within, not what is beyond.
    within = off <= allowed
    if bool(within.all()):
        return ""
    worst = float(np.nanmax(off)) if np.isfinite(off).any() else float("nan")
    return f"{int((~within).sum())} of {wanted.size} numbers differ, by {worst:.3g} at most"
