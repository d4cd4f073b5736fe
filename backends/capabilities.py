"""What a back-end can do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """What a back-end can do.

    Args:
        virtual_time: `now()` is simulated, so waiting costs nothing.
        checkpoints: a trial's checkpoint outlives its job.
        survives_controller: jobs go on when the controller dies, so that they can be adopted.
        real_money: what it spends is billed.
        price_label: how prices are labelled: `nominal`, `emulated`, or empty for real ones.
        warm_pools: instances of an ended job may be kept for the next one that asks for the same (`idle`).
        endpoints: jobs may have an endpoint (`JobSpec.endpoint`).
    """

    virtual_time: bool = False
    checkpoints: bool = False
    survives_controller: bool = False
    real_money: bool = False
    price_label: str = ""
    warm_pools: bool = False
    endpoints: bool = False
