"""ResNet-18 in its form for images of 32 x 32 pixels (He et al. 2016, https://arxiv.org/abs/1512.03385).

As in the paper's networks for CIFAR-10 the stem is one 3 x 3 convolution without pooling; blocks and widths are ResNet-18's.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional

BLOCKS = (2, 2, 2, 2)


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions around which the input is carried, by a 1 x 1 convolution where the shape changes."""

    def __init__(self, width_in: int, width: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width_in, width, 3, stride=stride, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(width)
        self.carry: nn.Module = nn.Identity()
        if stride != 1 or width_in != width:
            self.carry = nn.Sequential(nn.Conv2d(width_in, width, 1, stride=stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, images: Tensor) -> Tensor:
        """Return the block's output for (n, width_in, h, w)."""
        inner = functional.relu(self.first_norm(self.first(images)))
        inner = self.second_norm(self.second(inner))
        return functional.relu(inner + self.carry(images))


class ResNet18(nn.Module):
    """The network: four stages of two blocks.

    Args:
        classes: scores per image.
        width: channels of the first stage, doubled by each further one; 64 is ResNet-18, less is a small likeness of it.
    """

    def __init__(self, classes: int = 10, width: int = 64) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.stem_norm = nn.BatchNorm2d(width)
        stages: list[Any] = []
        width_in = width
        for stage, count in enumerate(BLOCKS):
            width_out = width * 2**stage
            for number in range(count):
                stages.append(BasicBlock(width_in, width_out, stride=2 if stage and not number else 1))
                width_in = width_out
        self.stages = nn.Sequential(*stages)
        self.scores = nn.Linear(width_in, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, images: Tensor) -> Tensor:
        """Return scores (n, classes) for images (n, 3, 32, 32)."""
        found = self.stages(functional.relu(self.stem_norm(self.stem(images))))
        pooled = functional.adaptive_avg_pool2d(found, 1).flatten(1)
        return self.scores(pooled)  # type: ignore[no-any-return]  # a module's call has no type
