"""From a raw sample to what a model trains on, with the place of one that cannot be loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .samples import BadSampleError, RawSample
from .tolerance import Tolerance


class GuardedLoad:
    """Loads samples; one that cannot be is counted and, where that is allowed, skipped. A class, so that it can be sent to workers.

    Args:
        load_sample: the model's, from a sample's content.
        tolerance: the channel's.
    """

    def __init__(self, load_sample: Callable[[Any], Any], tolerance: Tolerance) -> None:
        self._load_sample, self._tolerance = load_sample, tolerance

    def __call__(self, raw: RawSample) -> Any:
        """Return what the model trains on, None where the sample is skipped; raises `BadSampleError` where it may not be."""
        try:
            return self._load_sample(raw.content)
        except Exception as error:  # noqa: BLE001 (whatever a model's way of loading raises)
            # Pillow names the buffer, not what is in it.
            what = "it is empty" if not len(raw.content) else str(error).partition(" <_io.BytesIO")[0]
            place = f"{raw.place}: it cannot be loaded ({len(raw.content)} bytes): {type(error).__name__}: {what}"
            self._tolerance.skip(BadSampleError(place))
            return None
