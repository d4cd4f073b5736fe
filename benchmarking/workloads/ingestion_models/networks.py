"""The usual networks for images in plain torch: residual ones (He et al., 2016) and a vision transformer (Dosovitskiy et al., 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .base import ModelOptions, Samples, check_labels
from .images import LoadImage, pixels_of

_CLASSES = 1000


class Network:
    """A network of images and its optimiser; subclasses say which."""

    takes = ("images",)

    def __init__(self, options: ModelOptions) -> None:
        import torch

        self.load_sample = LoadImage(options.image_size)
        self._device = options.device
        self._network = self.built(options).to(options.device)
        self._optimiser = torch.optim.SGD(self._network.parameters(), lr=options.learning_rate, momentum=0.9)

    def built(self, options: ModelOptions) -> Any:
        """Return the network, from (batch, 3, size, size) to (batch, 1000)."""
        raise NotImplementedError

    def train(self, batch: Samples) -> float | None:
        """Take one step on all samples of a batch."""
        import torch

        check_labels(batch.labels, _CLASSES, type(self).__name__)
        self._optimiser.zero_grad(set_to_none=True)
        labels = batch.labels.to(self._device, non_blocking=True)
        loss = torch.nn.functional.cross_entropy(self._network(pixels_of(batch.values, self._device)), labels)
        torch.autograd.backward(loss)
        self._optimiser.step()
        # The value of a loss on a device would be waited for; on a processor it is there.
        return float(loss.detach()) if self._device == "cpu" else None

    def finish_epoch(self) -> Mapping[str, float]:
        """Return nothing: no sample is held out."""
        return {}

    def state(self) -> Mapping[str, Any]:
        """Return weights and the optimiser's state."""
        return {"model": self._network.state_dict(), "optimiser": self._optimiser.state_dict()}

    def save(self, path: Path) -> None:
        """Write that to a file."""
        import torch

        torch.save(self.state(), path)


class TrainedResNet18(Network):
    """ResNet-18: two basic blocks a stage."""

    def built(self, options: ModelOptions) -> Any:
        """Return the network."""
        return residual_network((2, 2, 2, 2), bottleneck=False)


class TrainedResNet50(Network):
    """ResNet-50: bottleneck blocks."""

    def built(self, options: ModelOptions) -> Any:
        """Return the network."""
        return residual_network((3, 4, 6, 3), bottleneck=True)


class TrainedVit(Network):
    """A small vision transformer (ViT-Ti): 12 layers of width 192, patches of 16 pixels."""

    def built(self, options: ModelOptions) -> Any:
        """Return the network."""
        return vision_transformer(options.image_size)


def residual_network(blocks: Sequence[int], *, bottleneck: bool) -> Any:
    """Return a residual network of four stages, with so many blocks in each (He et al., Deep Residual Learning, 2016, table 1)."""
    from torch import nn

    layers: list[Any] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for stage, count in enumerate(blocks):
        width = 64 * 2**stage
        for block in range(count):
            stride = 2 if stage and not block else 1
            out = width * 4 if bottleneck else width
            layers.append(_residual(channels, width, out, stride, bottleneck=bottleneck))
            channels = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, _CLASSES))


def _residual(channels: int, width: int, out: int, stride: int, *, bottleneck: bool) -> Any:
    from torch import nn

    def step(before: int, after: int, size: int, by: int = 1) -> list[Any]:
        return [nn.Conv2d(before, after, size, by, size // 2, bias=False), nn.BatchNorm2d(after)]

    relu = nn.ReLU(inplace=True)
    if bottleneck:
        body = [*step(channels, width, 1), relu, *step(width, width, 3, stride), relu, *step(width, out, 1)]
    else:
        body = [*step(channels, width, 3, stride), relu, *step(width, out, 3)]
    short = nn.Sequential(*step(channels, out, 1, stride)) if stride > 1 or channels != out else nn.Identity()

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.short = nn.Sequential(*body), short

        def forward(self, values: Any) -> Any:
            return nn.functional.relu(self.body(values) + self.short(values))

    return Block()


def vision_transformer(image_size: int, patch: int = 16, width: int = 192, depth: int = 12, heads: int = 3) -> Any:
    """Return a vision transformer that reads its class from the mean of its patches.

    Args:
        image_size: pixels of an image's side, at least one patch.
        patch: pixels of a patch's side.
        width: of a token.
        depth: layers.
        heads: of the attention.
    """
    import torch
    from torch import nn

    class Transformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(3, width, patch, patch)
            self.places = nn.Parameter(torch.randn(1, (image_size // patch) ** 2, width) * 0.02)
            layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
            self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, _CLASSES)

        def forward(self, images: Any) -> Any:
            tokens = self.patches(images).flatten(2).transpose(1, 2) + self.places
            return self.head(self.norm(self.layers(tokens).mean(1)))

    return Transformer()
