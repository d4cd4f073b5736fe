"""What the script of a load is told of an endpoint: which targets it can call, and what each takes and has to answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backends.deployment import Deployment, Tensor


def targets_document(deployment: Deployment, *, client_shares_cores: bool) -> dict[str, Any]:
    """Return the content of the file that `OUTRIDER_ENDPOINT_TARGETS` names.

    Args:
        deployment: that is called.
        client_shares_cores: whether the load has no cores of its own.
    """
    platforms = sorted({one.platform for one in deployment.packages})
    return {
        "mode": deployment.mode,
        "server": deployment.server,
        "platform": "+".join(platforms),
        "instance_type": deployment.instance_type,
        "targets": [{"target": one.name, "package": one.package.name} for one in deployment.targets],
        "packages": {
            one.name: {
                "inputs": [_tensor(tensor) for tensor in one.inputs],
                "outputs": [_tensor(tensor) for tensor in one.outputs],
                "max_batch_size": one.max_batch_size,
                "platform": one.platform,
                "reference": json.loads(Path(one.reference).read_text(encoding="utf-8")) if one.reference else None,
            }
            for one in deployment.packages
        },
        "client_shares_cores": client_shares_cores,
    }


def _tensor(tensor: Tensor) -> dict[str, Any]:
    return {"name": tensor.name, "datatype": tensor.datatype, "shape": [*tensor.shape]}
