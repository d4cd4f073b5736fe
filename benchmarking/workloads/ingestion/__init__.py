"""How samples reach a training script: channels, stores, formats, and who reads what. Jobs import it from beside their script."""

from .channel import Channel
from .opening import open_channel
from .samples import Sample, held_out

__all__ = ["Channel", "Sample", "held_out", "open_channel"]
