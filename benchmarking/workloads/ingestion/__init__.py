"""How samples reach a training script: channels, stores, formats, and who reads what. Jobs import it from beside their script."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .channel import Channel
    from .opening import open_channel
    from .samples import Sample, held_out

__all__ = ["Channel", "Sample", "held_out", "open_channel"]

_PLACES = {"Channel": "channel", "open_channel": "opening", "Sample": "samples", "held_out": "samples"}


def __getattr__(name: str) -> Any:
    """Return what is imported from here, imported when asked for, so that who writes records need not have torch."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
