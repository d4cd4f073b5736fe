"""What a back-end is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from definitions.schema import BenchmarkDefinition


@dataclass(frozen=True)
class BackendContext:
    """What a back-end is made from.

    Args:
        definition: resolved for this back-end; its block holds the back-end's options.
        folder: the experiment's folder, for logs, jobs and checkpoints.
        seed: the experiment's seed; `environ`: the controller's environment; `tag`: of the invocation that the experiment belongs to.
        prefix: with which the names of all its jobs begin, and those of no other experiment.
        trackers: kinds of trackers that are told of it while it runs.
        run_uri: where the state of its whole run is kept beside the folder, e.g. `s3://bucket/prefix/runs/tag`; empty where the definition
            alone says where that would be.
    """

    definition: BenchmarkDefinition
    folder: Path
    seed: int = 0
    environ: Mapping[str, str] = field(default_factory=dict)
    tag: str = ""
    prefix: str = ""
    trackers: tuple[str, ...] = ()
    run_uri: str = ""
