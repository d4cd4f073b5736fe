"""Models by name whose checkpoints can be written without having them: the shapes of their parameters and of an optimiser's state. Pure."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .architectures import Shapes, Tower, clip, llama, t5, vit

DTYPES: Mapping[str, int] = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Bytes of a number of each type."""


OPTIMISERS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "momentum": ("momentum_buffer",),
    "adam": ("exp_avg", "exp_avg_sq"),
    "adam_master": ("exp_avg", "exp_avg_sq", "master"),
}
"""What each keeps of a parameter, as float32; `adam_master` has the parameters too, of a training in numbers of two bytes."""

_OF_OPTIMISER = "float32"


@dataclass(frozen=True)
class ModelShapes:
    """A published model.

    Args:
        shapes: makes the shapes of its parameters.
        parameters: how many there are, as published or counted from its weights.
        source: where its dimensions are from.
    """

    shapes: Callable[[], Shapes]
    parameters: int
    source: str


_T5 = "Raffel et al. 2020, arXiv:1910.10683, and the configuration of T5 1.1; T0: Sanh et al. 2022, arXiv:2110.08207"
_LLAMA = "Touvron et al. 2023, arXiv:2302.13971, table 2"

MODELS: Mapping[str, ModelShapes] = {
    "vit_base": ModelShapes(
        lambda: vit(Tower(768, 12, 3072), 224, 16),
        86_389_248,
        "Dosovitskiy et al. 2021, arXiv:2010.11929, table 1 (ViT-B/16 at 224 pixels)",
    ),
    "clip_vit": ModelShapes(
        lambda: clip(Tower(1024, 24, 4096), Tower(768, 12, 3072), 224, 14, 49_408, 77, 768),
        427_616_513,
        "Radford et al. 2021, arXiv:2103.00020, tables 19 and 20 (ViT-L/14 at 224 pixels)",
    ),
    "t0_3b": ModelShapes(lambda: t5(Tower(2048, 24, 5120), 2048, 32), 2_849_757_184, _T5),
    "t0pp": ModelShapes(lambda: t5(Tower(4096, 24, 10_240), 4096, 64), 11_135_332_352, _T5),
    "llama_7b": ModelShapes(lambda: llama(4096, 32, 32), 6_738_415_616, _LLAMA),
    "llama_13b": ModelShapes(lambda: llama(5120, 40, 40), 13_015_864_320, _LLAMA),
    "llama_30b": ModelShapes(lambda: llama(6656, 60, 52), 32_528_943_616, _LLAMA),
    "llama_65b": ModelShapes(lambda: llama(8192, 80, 64), 65_285_660_672, _LLAMA),
    "llama_70b": ModelShapes(
        lambda: llama(8192, 80, 64, kv_heads=8, inner=28_672), 68_976_648_192, "Touvron et al. 2023, arXiv:2307.09288, table 1 (LLaMA 2)"
    ),
}
"""All of them, by name."""


def shapes_of(model: str, scale: float = 1.0) -> Shapes:
    """Return the shapes of a model's parameters.

    A share of a model has as many parameters by name; of each it has that share of the rows, at least one.

    Args:
        model: one of `MODELS`.
        scale: the share, in (0, 1].

    Raises:
        ValueError: there is no such model, or no such share.
    """
    if model not in MODELS:
        near = difflib.get_close_matches(model, MODELS, 1)
        raise ValueError(
            f"checkpoint_model is {model!r}: it is one of {', '.join(MODELS)}" + (f"; did you mean {near[0]}?" if near else "")
        )
    if not 0 < scale <= 1:
        raise ValueError(f"checkpoint_scale is {scale:g}: it is a share, above 0 and at most 1")
    return {name: (max(round(shape[0] * scale), 1), *shape[1:]) for name, shape in MODELS[model].shapes().items()}


def groups_of(model: str, scale: float = 1.0, dtype: str = "float32", optimiser: str = "none") -> tuple[tuple[Shapes, str], ...]:
    """Return the tensors of a checkpoint in groups of one type of numbers: the parameters, and the optimiser's state where it has one.

    Args:
        model: one of `MODELS`.
        scale: share of it, see `shapes_of`.
        dtype: of the parameters, one of `DTYPES`.
        optimiser: one of `OPTIMISERS`.

    Raises:
        ValueError: there is no such model, share, type or optimiser.
    """
    for name, value, known in (("checkpoint_dtype", dtype, DTYPES), ("checkpoint_optimiser", optimiser, OPTIMISERS)):
        if value not in known:
            raise ValueError(f"{name} is {value!r}: it is one of {', '.join(known)}")
    shapes = shapes_of(model, scale)
    kept = {f"optimiser.{part}.{name}": shape for part in OPTIMISERS[optimiser] for name, shape in shapes.items()}
    return ((shapes, dtype), (kept, _OF_OPTIMISER)) if kept else ((shapes, dtype),)


def bytes_of(model: str, scale: float = 1.0, dtype: str = "float32", optimiser: str = "none") -> int:
    """Return the bytes of a checkpoint's tensors; arguments and errors are those of `groups_of`."""
    groups = groups_of(model, scale, dtype, optimiser)
    return sum(DTYPES[kind] * math.prod(shape) for shapes, kind in groups for shape in shapes.values())


def label_of(model: str, scale: float, optimiser: str = "none") -> str:
    """Return how a share of a model is called in tables: `vit_base`, or `0.05 of vit_base with adam`."""
    share = model if scale == 1 else f"{scale:g} of {model}"
    return share if optimiser == "none" else f"{share} with {optimiser}"
