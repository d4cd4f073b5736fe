"""The process that runs jobs on a node of a Ray cluster: that of any machine, with checkpoints in S3 where these are asked for.

Started as `python -m backends.ray.node_process`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from backends.processes.node import Mirror, main
from backends.processes.node_messages import NodeSettings


def mirror_of(
    settings: NodeSettings, folder: Path, post: Callable[[Callable[[], None]], None], say: Callable[[str], None]
) -> Mirror | None:
    """Return what keeps checkpoints in S3; None where they are kept in a folder."""
    if not settings.checkpoints.startswith("s3://"):
        return None
    from backends.ray.mirror import S3Mirror, checkpoints_at
    from backends.sagemaker.aws.clients import Clients

    environ = {**os.environ, **settings.store}
    clients = Clients(settings.store.get("AWS_DEFAULT_REGION"), environ)
    uri, _, experiment = settings.checkpoints.rpartition("#")
    return S3Mirror(checkpoints_at(uri, clients, experiment), lambda: clients.get("s3"), folder, post, say)


if __name__ == "__main__":
    main(mirror_of)
