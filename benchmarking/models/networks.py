"""The built-in networks with random weights, in torch; imported by the process that exports them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarking.workloads.resnet import BasicBlock

_BLOCKS: Mapping[str, tuple[int, ...]] = {"resnet18": (2, 2, 2, 2), "resnet50": (3, 4, 6, 3)}
_HIDDEN = -1e4
"""What is added to the score of a token that is masked: finite, so that a row without any token has an answer too."""


class SmallCnn(nn.Module):
    """Two convolutions, the mean over all places, and a linear layer.

    Args:
        width: channels of the first convolution; the second has twice as many.
        classes: scores per image.
    """

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.second = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.scores = nn.Linear(2 * width, classes)

    def forward(self, image: Tensor) -> Tensor:
        """Return scores (n, classes) for images (n, 3, h, w)."""
        found = functional.relu(self.second(functional.relu(self.first(image))))
        return self.scores(found.mean(dim=(2, 3)))  # type: ignore[no-any-return]  # a module's call has no type


class Bottleneck(nn.Module):
    """ResNet-50's block: 1 x 1, 3 x 3 and 1 x 1 convolutions around which the input is carried."""

    expansion = 4

    def __init__(self, width_in: int, width: int, stride: int) -> None:
        super().__init__()
        width_out = width * self.expansion
        self.inner = nn.Sequential(
            nn.Conv2d(width_in, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width_out, 1, bias=False),
            nn.BatchNorm2d(width_out),
        )
        self.carry: nn.Module = nn.Identity()
        if stride != 1 or width_in != width_out:
            self.carry = nn.Sequential(nn.Conv2d(width_in, width_out, 1, stride=stride, bias=False), nn.BatchNorm2d(width_out))

    def forward(self, images: Tensor) -> Tensor:
        """Return the block's output for (n, width_in, h, w)."""
        return functional.relu(self.inner(images) + self.carry(images))


class ResNet(nn.Module):
    """ResNet for photographs (He et al. 2016, https://arxiv.org/abs/1512.03385, table 1).

    Args:
        kind: `resnet18` or `resnet50`.
        width: channels of the first stage; 64 in the paper.
        classes: scores per image.
    """

    def __init__(self, kind: str, width: int, classes: int) -> None:
        super().__init__()
        block, grows = (Bottleneck, Bottleneck.expansion) if kind == "resnet50" else (BasicBlock, 1)
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        stages: list[nn.Module] = []
        width_in = width
        for stage, count in enumerate(_BLOCKS[kind]):
            for number in range(count):
                stages.append(block(width_in, width * 2**stage, 2 if stage and not number else 1))
                width_in = width * 2**stage * grows
        self.stages = nn.Sequential(*stages)
        self.scores = nn.Linear(width_in, classes)

    def forward(self, image: Tensor) -> Tensor:
        """Return scores (n, classes) for images (n, 3, h, w)."""
        found = functional.adaptive_avg_pool2d(self.stages(self.stem(image)), 1)
        return self.scores(found.flatten(1))  # type: ignore[no-any-return]  # a module's call has no type


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward layer, each carried around and normalised after (Vaswani et al. 2017, section 3).

    It is written out, as torch's own layer becomes one fused operation in inference, which not every exporter knows.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.mixed, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, tokens: Tensor, hidden: Tensor) -> Tensor:
        """Return (n, length, width) for the same and what is added to the scores, (n, 1, 1, length)."""
        count, length, width = tokens.shape
        parts = self.mixed(tokens).reshape(count, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].transpose(-2, -1) / (width // self.heads) ** 0.5 + hidden
        seen = (scores.softmax(dim=-1) @ parts[2]).transpose(1, 2).reshape(count, length, width)
        tokens = self.first_norm(tokens + self.joined(seen))
        return self.second_norm(tokens + self.narrow(functional.gelu(self.wide(tokens))))  # type: ignore[no-any-return]


class TextEncoder(nn.Module):
    """A transformer encoder with a classifier on its first token.

    Args:
        vocabulary: different tokens; `length`: most tokens of a text.
        width: numbers of a token; `layers`, `heads`: of the encoder.
        classes: scores per text.
    """

    def __init__(self, vocabulary: int, length: int, width: int, layers: int, heads: int, classes: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(EncoderLayer(width, heads) for _ in range(layers))
        self.pooled, self.scores = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return scores (n, classes) for tokens and their mask, (n, length) each, with 0 where there is no token."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        found = self.norm(self.tokens(input_ids) + self.places(places))
        hidden = (1 - attention_mask[:, None, None, :].to(found.dtype)) * _HIDDEN
        for layer in self.layers:
            found = layer(found, hidden)
        return self.scores(torch.tanh(self.pooled(found[:, 0])))  # type: ignore[no-any-return]  # a module's call has no type


def network(settings: Mapping[str, Any]) -> nn.Module:
    """Return a built-in network.

    Args:
        settings: the fields of a model of `models:`, `type` among them.
    """
    kind = settings["type"]
    if kind == "small_cnn":
        return SmallCnn(settings["width"], settings["classes"])
    if kind in _BLOCKS:
        return ResNet(kind, settings["width"], settings["classes"])
    if kind == "text_encoder":
        return TextEncoder(*(settings[key] for key in ("vocabulary", "length", "width", "layers", "heads", "classes")))
    raise ValueError(f"there is no built-in network {kind!r}")
