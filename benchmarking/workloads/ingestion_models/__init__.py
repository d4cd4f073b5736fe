"""Models that a data pipeline feeds, behind one interface (`base.PipelineModel`): one module a model."""

from .base import PipelineModel
from .registry import is_loss, make_model

__all__ = ["PipelineModel", "is_loss", "make_model"]
