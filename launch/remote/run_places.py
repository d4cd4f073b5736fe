"""Where the state of a run is, or would be, for whoever has its tag alone, or its folder of results as well."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarking.remote.layout import run_uri
from definitions.errors import UserError

if TYPE_CHECKING:
    from backends.object_store import ObjectStore
    from backends.sagemaker.aws.clients import Clients


@dataclass(frozen=True)
class RunPlaces:
    """Where a run is looked for.

    Args:
        clients: of the region of its jobs.
        places: buckets and prefixes, those first that are more likely.
        tag: of the run.
        flags: by which the same places are found again, as `launch --resume` calls them.
    """

    clients: Clients
    places: tuple[tuple[str, str], ...]
    tag: str
    flags: tuple[str, ...] = ()

    @property
    def stores(self) -> list[ObjectStore]:
        """Where its state is kept, or would be."""
        from backends.sagemaker.aws.object_store import S3ObjectStore

        return [S3ObjectStore(run_uri(bucket, prefix, self.tag), self.clients) for bucket, prefix in self.places]


def places_of(
    tag: str,
    folders: Sequence[Path] = (),
    *,
    bucket: str | None = None,
    prefix: str | None = None,
    region: str | None = None,
    environ: Mapping[str, str] = os.environ,
    connections: int = 16,
) -> RunPlaces:
    """Return where a run is looked for.

    Args:
        tag: of the run.
        folders: of its experiments on this machine, whose definitions say where their jobs' things are.
        bucket: as a flag says it, and so `prefix` and `region`; None where it does not.
        prefix: see `bucket`.
        region: see `bucket`.
        environ: of this program.
        connections: that are kept open at most.

    Raises:
        UserError: no region is known.
        CloudError: AWS does not say whose account this is, where that names the bucket.
    """
    from backends.sagemaker.aws.clients import Clients
    from backends.sagemaker.aws.errors import as_cloud_errors
    from backends.sagemaker.jobs.options import DEFAULT_PREFIX
    from backends.sagemaker.jobs.resolve_options import default_bucket

    blocks, regions = _blocks(folders)
    clients = Clients(region or next(iter(regions), None), environ, connections)
    found: dict[tuple[str, str], None] = {}
    default = ""
    for block_bucket, block_prefix in blocks or [(None, None)]:
        name = bucket or block_bucket or default
        if not name:
            with as_cloud_errors(f"where {tag} is kept is not known, as AWS does not say whose account this is"):
                name = default = default_bucket(clients, create=False)
        where = prefix if prefix is not None else block_prefix if block_prefix is not None else DEFAULT_PREFIX
        found[name, where.strip("/")] = None
    return RunPlaces(clients, tuple(found), tag, place_flags(region, bucket, prefix, "--remote_"))


def place_flags(region: str | None, bucket: str | None, prefix: str | None, before: str = "--") -> tuple[str, ...]:
    """Return the flags that say where a run is, for what is not where runs are looked for first, which is None here.

    Args:
        region: of the run, and so `bucket` and `prefix`.
        bucket: see `region`.
        prefix: see `region`.
        before: what the flags' names begin with.
    """
    named = {"region": region, "bucket": bucket, "prefix": prefix}
    return tuple(word for name, value in named.items() if value is not None for word in (f"{before}{name}", value))


def may_be_elsewhere(environ: Mapping[str, str]) -> bool:
    """Return whether a run can be looked for in the cloud: a region is known, by the environment or by boto3's configuration."""
    if "AWS_REGION" in environ or "AWS_DEFAULT_REGION" in environ:
        return True
    try:
        from backends.sagemaker.aws.clients import Clients

        return bool(Clients(None, environ).region)
    except UserError:  # boto3 is not installed, or no region is configured
        return False


def check_region(asked: str, results_dir: Path, region: str | None, environ: Mapping[str, str]) -> None:
    """Raise `UserError` where no region is known in which a run could be looked for of which this machine knows nothing.

    Args:
        asked: the command, for messages.
        results_dir: folder of results, which has nothing of it.
        region: as a flag says it; None where it does not.
        environ: of this program.
    """
    from backends.sagemaker.aws.clients import Clients, NoRegionError

    try:
        Clients(region, environ).region  # noqa: B018 (asked for what it raises)
    except NoRegionError as error:
        raise UserError(
            f"{asked}: there is nothing of this tag in {results_dir}",
            "nor is an AWS region known in which it could be looked for",
            "give --results_dir, if its results are elsewhere; or --region (or AWS_DEFAULT_REGION), where its jobs run",
        ) from error


def _blocks(folders: Sequence[Path]) -> tuple[list[tuple[str | None, str | None]], list[str]]:
    """Return bucket and prefix of the experiments of this machine whose jobs outlive their controller, and their regions."""
    from backends.sagemaker.block import SageMakerBlock
    from benchmarking.archive.stored import load
    from definitions.backend_registry import backend_description

    blocks, regions = [], []
    for folder in folders:
        try:
            stored = load(folder)
        except UserError:
            continue
        described = backend_description(stored.spec.backend)
        if issubclass(described.block, SageMakerBlock):
            block = stored.spec.definition.block(stored.spec.backend, SageMakerBlock)
            blocks.append((block.bucket, block.prefix))
            regions.append(stored.region)
    return list(dict.fromkeys(blocks)), list(dict.fromkeys(regions))
