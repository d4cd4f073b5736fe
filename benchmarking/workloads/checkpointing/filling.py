"""States to save: tensors of given shapes, filled by seed so that no two parts are alike, whole on each rank or in shards."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from .architectures import Shapes

State = Mapping[str, Any]


def fill(tensor: Any, seed: int, name: str, part: int = 0) -> None:
    """Fill a tensor with numbers in [-1, 1) that depend on seed, name and part alone.

    Args:
        tensor: any shape, also without elements.
        seed: of the state.
        name: of the parameter.
        part: which shard of it this is.
    """
    import torch

    generator = torch.Generator().manual_seed(zlib.crc32(f"{seed}\0{name}\0{part}".encode()))
    with torch.no_grad():
        tensor.uniform_(-1.0, 1.0, generator=generator)


def filled(shapes: Shapes, seed: int, dtype: str = "float32") -> dict[str, Any]:
    """Return a tensor for each shape.

    Args:
        shapes: by name.
        seed: of all of them.
        dtype: type of the numbers, as torch calls it.
    """
    import torch

    found = {name: torch.empty(shape, dtype=getattr(torch, dtype)) for name, shape in shapes.items()}
    for name, tensor in found.items():
        fill(tensor, seed, name)
    return found


def made_up(groups: Sequence[tuple[Shapes, str]], seed: int) -> dict[str, Any]:
    """Return the tensors of all groups; each has shapes by name, and the type of their numbers."""
    return {name: tensor for shapes, dtype in groups for name, tensor in filled(shapes, seed, dtype).items()}


def sharded(groups: Sequence[tuple[Shapes, str]], seed: int, sharding: str, world: int) -> Any:
    """Return a module whose parameters are sharded over the ranks of the default group, each rank having filled its own part.

    Nothing is ever whole on a rank, so that a model may be larger than its memory.

    Args:
        groups: each has shapes by name, and the type of their numbers, as torch calls it; names with dots become modules within modules.
        seed: of all of them.
        sharding: `fsdp_full`, or `fsdp_hybrid` for two groups that each have all.
        world: number of ranks.

    Raises:
        SystemExit: so many ranks cannot be two groups.
    """
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    if sharding == "fsdp_hybrid" and world % 2:
        raise SystemExit(f"checkpoint_sharding is fsdp_hybrid, for two groups of ranks, and there are {world}: use an even number")
    hybrid = sharding == "fsdp_hybrid"
    mesh = init_device_mesh("cpu", (2, world // 2) if hybrid else (world,), mesh_dim_names=("replicate", "shard") if hybrid else ("shard",))
    with torch.device("meta"):
        root: Any = torch.nn.Module()
        for shapes, dtype in groups:
            add_parameters(root, shapes, getattr(torch, dtype))
    for child in root.children():
        fully_shard(child, mesh=mesh)
    fully_shard(root, mesh=mesh)
    root.to_empty(device="cpu")
    part = mesh.get_local_rank("shard")
    for name, parameter in root.named_parameters():
        fill(parameter.to_local(), seed, name, part)  # a DTensor, since it is sharded
    return root


def add_parameters(root: Any, shapes: Shapes, dtype: Any) -> None:
    """Give a module a parameter for each shape, on the default device.

    Args:
        root: the module.
        shapes: by name.
        dtype: of torch.
    """
    import torch
    from torch import nn

    for name, shape in shapes.items():
        *folders, last = name.split(".")
        at = root
        for folder in folders:
            if folder not in at._modules:
                at.add_module(folder, nn.Module())
            at = at.get_submodule(folder)
        at.register_parameter(last, nn.Parameter(torch.empty(shape, dtype=dtype), requires_grad=False))


def local_of(tensor: Any) -> Any:
    """Return this rank's part of a tensor; of one that is not sharded, all of it."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor


def bytes_in(state: Any) -> int:
    """Return the bytes of all tensors that this process has of a state, within mappings and lists."""
    import torch

    if isinstance(state, torch.Tensor):
        own = local_of(state)
        return int(own.numel() * own.element_size())
    parts = state.values() if isinstance(state, Mapping) else state if isinstance(state, list | tuple) else ()
    return sum(bytes_in(one) for one in parts)


def difference(saved: Any, loaded: Any, at: str = "") -> str:
    """Return where two states differ first, as a sentence; empty where they are equal bit for bit.

    Args:
        saved: tensors, numbers, texts, and mappings and lists of them; of what is sharded this rank's part counts.
        loaded: the same, as it was read back.
        at: where this is, for the sentence.
    """
    import torch

    place = at or "the state"
    if isinstance(saved, torch.Tensor):
        if not isinstance(loaded, torch.Tensor):
            return f"{place} is not a tensor any more"
        one, other = local_of(saved), local_of(loaded)
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"{place} was {tuple(one.shape)} of {one.dtype} and is {tuple(other.shape)} of {other.dtype}"
        return (
            "" if torch.equal(one.cpu().view(-1).view(torch.uint8), other.cpu().view(-1).view(torch.uint8)) else f"{place} has other values"
        )
    if isinstance(saved, Mapping):
        if not isinstance(loaded, Mapping) or set(saved) != set(loaded):
            missing = sorted(map(str, set(saved) ^ set(loaded if isinstance(loaded, Mapping) else ())))
            return f"{place}: not in both are {', '.join(missing[:3])}"
        pairs = [(f"{at}.{key}" if at else str(key), value, loaded[key]) for key, value in saved.items()]
    elif isinstance(saved, list | tuple):
        if not isinstance(loaded, list | tuple) or len(saved) != len(loaded):
            return f"{place} has another length"
        pairs = [(f"{at}[{number}]", value, loaded[number]) for number, value in enumerate(saved)]
    else:
        return "" if saved == loaded else f"{place} was {saved!r} and is {loaded!r}"
    return next((found for name, one, other in pairs if (found := difference(one, other, name))), "")
