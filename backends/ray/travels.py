"""What of a definition travels to the nodes of a cluster, and how; what has to be there. In lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backends.common.source_tree import look_through
from backends.ray.description import RayBlock
from backends.ray.parcel import own_code, parcel_of
from definitions.datasets import FilesystemDataset, PathDataset, S3Dataset
from definitions.quantities import size_text
from definitions.schema import BenchmarkDefinition

_MOST_FILES, _MOST_NAMED = 12, 12


def what_travels(definition: BenchmarkDefinition, *, whole: bool) -> list[str]:
    """Return lines on what goes to nodes.

    Args:
        definition: resolved for the back-end.
        whole: whether the files are listed; else what somebody has to know of data, checkpoints, and what stays behind.

    Raises:
        UserError: the source cannot travel.
    """
    block = definition.block("ray", RayBlock)
    if not block.address:
        return ["nothing travels: the cluster is this machine's own, and jobs read what is here"] if whole else []
    has_source = definition.program is not None and bool(definition.source_dir)
    folder = Path(definition.source_dir or ".")
    if whole:
        return [
            *(_files(folder, definition) if has_source else []),
            f"Outrider's own code goes with it: {size_text(len(own_code().archive))}",
        ]
    return [*(_left_behind(folder, definition) if has_source else []), *_data(definition), *_checkpoints(block)]


def _files(folder: Path, definition: BenchmarkDefinition) -> Iterator[str]:
    parcel = parcel_of(folder, definition.include)
    sizes = dict(sorted(parcel.sizes.items(), key=lambda one: -one[1]))
    yield (
        f"to each node travels the source, once per content and by the cluster's own object store: {len(sizes)} files, "
        f"{size_text(sum(sizes.values()))} (content {parcel.digest[:12]}):"
    )
    for name in [*sizes][:_MOST_FILES]:
        yield f"  {name}  {size_text(sizes[name])}"
    left = [*sizes][_MOST_FILES:]
    if left:
        yield f"  and {len(left)} smaller ones, {size_text(sum(sizes[name] for name in left))}"


def _left_behind(folder: Path, definition: BenchmarkDefinition) -> Iterator[str]:
    secrets = sorted(one.name for one in look_through(folder, definition.include) if one.is_secret)
    if secrets:
        more = f" and {len(secrets) - _MOST_NAMED} more" if len(secrets) > _MOST_NAMED else ""
        yield f"left behind, as they may hold secrets: {', '.join(secrets[:_MOST_NAMED])}{more}; `include` takes along what a job needs"


def _data(definition: BenchmarkDefinition) -> Iterator[str]:
    for name, dataset in definition.datasets.items():
        if isinstance(dataset, PathDataset):
            yield f"data set {name} does not travel: each node has to have {dataset.path}, as on a file system that they share"
        elif isinstance(dataset, S3Dataset):
            yield f"data set {name} does not travel: each job reads {dataset.uri} itself"
        elif isinstance(dataset, FilesystemDataset):
            yield f"data set {name} does not travel: each node has to have {dataset.id} mounted"
        else:
            yield (
                f"data set {name} does not travel: it is made on this machine, below $OUTRIDER_CACHE, which each node has to have under "
                "the same path; `type: s3` with what `outrider datagen` uploads does without"
            )


def _checkpoints(block: RayBlock) -> Iterator[str]:
    if block.checkpoints:
        yield f"checkpoints are kept in {block.checkpoints}, so that a trial goes on on any node"
    else:
        anew = "a trial that is started again begins anew"
        yield f"checkpoints stay on their node, and {anew}; `ray: {{checkpoints: ...}}` names a place for all"
