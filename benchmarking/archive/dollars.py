"""What kind of dollars an experiment's costs are: nominal or emulated ones never stand beside real ones."""

from __future__ import annotations

from pathlib import Path

from benchmarking.archive.stored import read_identity
from definitions.backend_registry import backend_description
from definitions.errors import UserError


def kind_of_dollars(folder: Path, backend: str) -> str:
    """Return what costs are: `real`, or what the back-end called them, e.g. `emulated`; empty where neither the folder nor it says.

    Args:
        folder: of the experiment.
        backend: name of the back-end, which need not be installed any more.
    """
    identity = read_identity(folder)
    real, label = identity.get("real_money"), identity.get("price_label")
    if real:
        return "real"
    if label and isinstance(label, str):
        return label
    try:
        nominal = backend_description(backend).nominal
    except UserError:
        return ""
    # What had no label at all was written when emulated costs had none.
    return "nominal" if nominal else "" if real is None or label == "" else "emulated"
