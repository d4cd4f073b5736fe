import pytest
import torch

from benchmarking.workloads.ingestion_models.networks import residual_network, vision_transformer


def parameters(network):
    return sum(one.numel() for one in network.parameters())


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        # As published: 11.69 and 25.56 million.
        (lambda: residual_network((2, 2, 2, 2), bottleneck=False), 11_689_512),
        (lambda: residual_network((3, 4, 6, 3), bottleneck=True), 25_557_032),
        # ViT-Ti/16 at 224 pixels: 5.72 million, of which 384 are a class token and its place, which this one has not.
        (lambda: vision_transformer(224), 5_717_416 - 384),
    ],
)
def test_networks_have_as_many_parameters_as_published(network, expected):
    assert parameters(network()) == expected


def test_images_of_any_size_become_scores():
    assert residual_network((2, 2, 2, 2), bottleneck=False)(torch.zeros(2, 3, 48, 48)).shape == (2, 1000)
    assert vision_transformer(48)(torch.zeros(2, 3, 48, 48)).shape == (2, 1000)
