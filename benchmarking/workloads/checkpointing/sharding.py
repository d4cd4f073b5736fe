"""A state as it lies on one rank: whole, or a part of it; what of it is handed over, loaded, and compared."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from .filling import bytes_in, difference, local_of, made_up, sharded
from .knobs import CheckpointKnobs
from .models import groups_of
from .saver import Saver

Loaded = tuple[int, float, float]
"""Bytes that this rank has now, seconds and processor seconds that it took."""


def held_state(asked: argparse.Namespace, knobs: CheckpointKnobs, rank: int, world: int) -> HeldState:
    """Return this rank's state, filled by seed.

    Args:
        asked: `checkpoint_model`, `checkpoint_scale`, `checkpoint_dtype`, `checkpoint_optimiser`, `seed`.
        knobs: of checkpoints.
        rank: of this process.
        world: how many there are.

    Raises:
        SystemExit: sharding needs several ranks.
    """
    groups = groups_of(asked.checkpoint_model, asked.checkpoint_scale, asked.checkpoint_dtype, asked.checkpoint_optimiser)
    if knobs.checkpoint_sharding == "ddp":
        return HeldState(made_up(groups, asked.seed))
    if world == 1:
        raise SystemExit(f"checkpoint_sharding is {knobs.checkpoint_sharding}, and there is one rank: use processes of at least 2, or ddp")
    module = sharded(groups, asked.seed, knobs.checkpoint_sharding, world)
    return ShardedState(module) if knobs.kind.writer == "dcp" else GatheredState(module, rank)


class HeldState:
    """A state that each rank has whole."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.state = state
        self._found: Any = None

    def gathered(self) -> Mapping[str, Any]:
        """Return what is saved."""
        return self.state

    def load(self, saver: Saver) -> Loaded:
        """Read the last checkpoint back; into tensors that hold something else, so that one which is not written to is noticed."""
        import torch

        self._found, seconds, cpu_s = saver.load({name: torch.zeros_like(value) for name, value in self.state.items()})
        return bytes_in(self._found), seconds, cpu_s

    def difference(self) -> str:
        """Return where what was read back differs from what was saved; empty where it does not."""
        found, self._found = difference(self.state, self._found), None
        return found


class ShardedState(HeldState):
    """A state of which each rank has a part, and saves it."""

    def __init__(self, module: Any) -> None:
        super().__init__(module.state_dict())


class GatheredState(HeldState):
    """A state of which each rank has a part, and which the first rank saves whole: it is gathered for each save, and given out again."""

    def __init__(self, module: Any, rank: int) -> None:
        super().__init__(module.state_dict())
        self._module, self._rank = module, rank

    def gathered(self) -> Mapping[str, Any]:
        """Return the whole state on the first rank, nothing on the others."""
        from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

        found: Mapping[str, Any] = get_model_state_dict(self._module, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
        return found

    def load(self, saver: Saver) -> Loaded:
        """Read it on the first rank, and give each its part."""
        import time

        import torch
        from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict

        kept = {name: local_of(value).clone() for name, value in self.state.items()}
        with torch.no_grad():
            for value in self.state.values():
                local_of(value).zero_()
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        whole = saver.load({})[0] if self._rank == 0 else {}
        options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
        set_model_state_dict(self._module, dict(whole), options=options)
        seconds, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
        self._found, self.state = kept, self._module.state_dict()
        return bytes_in(self.state), seconds, cpu_s
