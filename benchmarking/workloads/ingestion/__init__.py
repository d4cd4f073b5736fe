"""How samples reach a training script: channels, stores, formats, and who reads what. Jobs import it from beside their script."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .channel import Channel
    from .knobs import Knobs, add_knobs, knobs_from
    from .loader import make_loader
    from .loading import GuardedLoad
    from .opening import Opened, open_channel
    from .samples import BadSampleError, RawSample
    from .served import served
    from .share import ReaderShare
    from .tolerance import Tolerance

__all__ = [
    "BadSampleError",
    "Channel",
    "GuardedLoad",
    "Knobs",
    "Opened",
    "RawSample",
    "ReaderShare",
    "Tolerance",
    "add_knobs",
    "knobs_from",
    "make_loader",
    "open_channel",
    "served",
]

_PLACES = {
    "Channel": "channel",
    **dict.fromkeys(("Knobs", "add_knobs", "knobs_from"), "knobs"),
    "GuardedLoad": "loading",
    "make_loader": "loader",
    **dict.fromkeys(("Opened", "open_channel"), "opening"),
    **dict.fromkeys(("BadSampleError", "RawSample"), "samples"),
    "ReaderShare": "share",
    "served": "served",
    "Tolerance": "tolerance",
}


def __getattr__(name: str) -> Any:
    """Return what is imported from here, imported when asked for, so that who writes records need not have torch."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
