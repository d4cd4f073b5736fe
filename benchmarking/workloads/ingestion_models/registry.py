"""Models by name, and the user's own as `module:Class`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from .base import ModelOptions, PipelineModel

MODELS: Mapping[str, str] = {
    "entitlement": "without_network:Entitlement",
    "sleep": "without_network:Sleep",
    "cnn": "cnn:Cnn",
    "resnet18": "networks:TrainedResNet18",
    "resnet50": "networks:TrainedResNet50",
    "vit": "networks:TrainedVit",
    "mlp": "rows:Mlp",
}
"""Module of this package and class of each."""

_TRAINS_ON: Mapping[str, tuple[str, ...]] = {"images": ("cnn", "resnet18", "resnet50", "vit"), "rows": ("mlp",)}

_NEEDED, _INTERFACE = {"load_sample", "train", "save"}, ("load_sample", "train", "finish_epoch", "save")


def make_model(name: str, options: ModelOptions) -> PipelineModel:
    """Return a model.

    Args:
        name: one of `MODELS`, or `module:Class` of the user's own, which is called with the options.
        options: what it is made with.

    Raises:
        SystemExit: there is none of this name, it cannot be imported, it lacks a part of the interface, or trains on other data.
    """
    if name in MODELS:
        module, _, attribute = MODELS[name].partition(":")
        found = getattr(import_module(f".{module}", __package__), attribute)
        takes = getattr(found, "takes", ())
        if takes and options.content and options.content not in takes:
            fit = [*_TRAINS_ON.get(options.content, ()), "sleep", "entitlement"]
            raise SystemExit(f"model {name!r} trains on {takes[0]}, and the data set holds {options.content}: use {', '.join(fit)}")
        return _checked(name, found(options))
    module, colon, attribute = name.partition(":")
    if not colon:
        near = difflib.get_close_matches(name, MODELS, 1)
        raise SystemExit(f"model {name!r}: there is none of this name (known: {', '.join(MODELS)}, module:Class)" + _meant(near))
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SystemExit(f"model {name!r} cannot be imported: {error}; its module has to be on the path of the job") from error
    return _checked(name, found(options))


def is_loss(value: Any) -> bool:
    """Return whether what `train` returned is a loss: a number, or None for none; also one that a device still works on."""
    return value is None or (hasattr(value, "__float__") and not isinstance(value, bool))


def _checked(name: str, model: Any) -> PipelineModel:
    missing = [part for part in _INTERFACE if not callable(getattr(model, part, None))]
    if _NEEDED & {*missing}:
        raise SystemExit(f"model {name!r} has no {', '.join(missing)}; a model has {', '.join(_INTERFACE)}")
    found: PipelineModel = model
    return found


def _meant(near: list[str]) -> str:
    return f"; did you mean {near[0]}?" if near else ""
