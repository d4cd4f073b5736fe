"""Who writes checkpoints: one module a writer, behind one interface (`base.CheckpointWriter`)."""

from .base import CheckpointWriter
from .registry import make_store

__all__ = ["CheckpointWriter", "make_store"]
