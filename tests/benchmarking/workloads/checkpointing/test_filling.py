import pytest
import torch

from benchmarking.workloads.checkpointing.filling import add_parameters, bytes_in, difference, fill, filled, made_up

SHAPES = {"a.weight": (3, 4), "a.bias": (3,), "b": (0, 2)}


def test_content_depends_on_seed_name_and_part_alone():
    one = filled(SHAPES, 7)
    assert difference(one, filled(dict(reversed(SHAPES.items())), 7)) == ""
    assert difference(one, filled(SHAPES, 8)) == "a.weight has other values"
    tensors = [torch.empty(100) for _ in range(3)]
    for tensor, (name, part) in zip(tensors, [("x", 0), ("x", 1), ("y", 0)], strict=True):
        fill(tensor, 7, name, part)
    assert len({tuple(tensor.tolist()) for tensor in tensors}) == 3
    assert -1 <= float(tensors[0].min()) < -0.5 < 0.5 < float(tensors[0].max()) < 1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_bytes_are_those_of_the_type(dtype):
    state = {"model": filled(SHAPES, 0, dtype), "epoch": 3, "lists": [torch.zeros(2, dtype=torch.int64)]}
    assert bytes_in(state) == 15 * torch.finfo(getattr(torch, dtype)).bits // 8 + 16


def test_groups_have_numbers_of_their_own_type():
    state = made_up([({"a": (2,)}, "float16"), ({"optimiser.a": (2,)}, "float32")], 3)
    assert {name: value.dtype for name, value in state.items()} == {"a": torch.float16, "optimiser.a": torch.float32}


def test_names_with_dots_become_modules():
    module = torch.nn.Module()
    add_parameters(module, SHAPES, torch.float32)
    assert {name: tuple(one.shape) for name, one in module.named_parameters()} == SHAPES
    assert list(dict(module.named_children())) == ["a"]


@pytest.mark.parametrize(
    ("loaded", "said"),
    [
        ({"w": torch.tensor([1.0, float("nan")]), "n": [1, "x"]}, ""),
        ({"w": torch.tensor([1.0, 2.0]), "n": [1, "x"]}, "w has other values"),
        ({"w": torch.tensor([1.0]), "n": [1, "x"]}, "w was (2,) of torch.float32 and is (1,) of torch.float32"),
        ({"w": torch.tensor([1.0, 2.0], dtype=torch.float64), "n": [1, "x"]}, "w was (2,) of torch.float32 and is (2,) of torch.float64"),
        ({"w": 3, "n": [1, "x"]}, "w is not a tensor any more"),
        ({"n": [1, "x"]}, "the state: not in both are w"),
        ({"w": torch.tensor([1.0, float("nan")]), "n": [1]}, "n has another length"),
        ({"w": torch.tensor([1.0, float("nan")]), "n": [1, "y"]}, "n[1] was 'x' and is 'y'"),
    ],
)
def test_what_differs_is_named_and_equal_bits_are_equal(loaded, said):
    assert difference({"w": torch.tensor([1.0, float("nan")]), "n": [1, "x"]}, loaded) == said
