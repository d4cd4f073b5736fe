"""Where the state of a launched run is kept: region, bucket and prefix, which trials and controllers have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backends.object_store import ObjectStore
from backends.sagemaker.aws.buckets import ensure_bucket
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import as_cloud_errors
from backends.sagemaker.aws.object_store import S3ObjectStore
from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.jobs.options import DEFAULT_PREFIX
from backends.sagemaker.jobs.resolve_options import default_bucket
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.remote.layout import run_uri
from definitions.backend_registry import backend_description
from definitions.errors import UserError
from definitions.program import command
from definitions.remote import RemoteOptions
from launch.remote.run_places import place_flags


@dataclass(frozen=True)
class RunPlace:
    """Where a run is.

    Args:
        tag: of the run.
        bucket: that it is in; `prefix`: of all of Outrider's keys there.
        clients: of AWS.
        is_own: whether the bucket is the account's default one, which is made where it is missing.
        region: as it was given; None for that of the AWS configuration.
    """

    tag: str
    bucket: str
    prefix: str
    clients: Clients
    is_own: bool = False
    region: str | None = None

    @property
    def uri(self) -> str:
        """The root of the run."""
        return run_uri(self.bucket, self.prefix, self.tag)

    @property
    def shared_uri(self) -> str:
        """The root that all runs have in common."""
        return f"s3://{self.bucket}/{self.prefix}" if self.prefix else f"s3://{self.bucket}"

    @property
    def store(self) -> ObjectStore:
        """The objects of the run."""
        return S3ObjectStore(self.uri, self.clients)

    @property
    def shared(self) -> ObjectStore:
        """What all runs have in common: packages by content."""
        return S3ObjectStore(self.shared_uri, self.clients)

    def found_by(self, *words: str) -> str:
        """Return a command of a verb and its words that finds this run; a verb that launches has flags of its own for its place."""
        prefix = None if self.prefix == DEFAULT_PREFIX else self.prefix
        flags = place_flags(self.region, None if self.is_own else self.bucket, prefix, "--remote_" if words[0] == "launch" else "--")
        return command(*words, *flags)

    def make_bucket(self) -> None:
        """Make the account's default bucket where it is missing."""
        if self.is_own:
            ensure_bucket(self.clients.get("s3"), self.bucket, self.clients.region)


def place_of(specs: Sequence[ExperimentSpec], asked: RemoteOptions, tag: str, environ: Mapping[str, str]) -> RunPlace:
    """Return where the run of some experiments is kept; asks AWS for the account where no bucket is named.

    Args:
        specs: the experiments.
        asked: what the `remote:` blocks say.
        tag: of the run.
        environ: of the launcher.

    Raises:
        UserError: back-end and `remote:` name different places, as trials find their code where controllers look for it.
        CloudError: the account cannot be asked for.
    """
    said = [(f"{spec.definition.name} ({spec.backend})", _block(spec)) for spec in specs]
    found: dict[str, str | None] = {}
    for key in ("region", "bucket", "prefix"):
        named = {name: getattr(block, key) for name, block in (*said, ("remote", asked)) if block is not None and getattr(block, key)}
        if len({*named.values()}) > 1:
            one, first = next(iter(named.items()))
            other, second = next((name, value) for name, value in named.items() if value != first)
            raise UserError(
                f"launch: {key}: {one} says {first}, {other} says {second}",
                "the run and all its trials are in one place",
                f"say it once: --remote_{key}",
            )
        found[key] = next(iter(named.values()), None)
    return place_named(tag, environ, region=found["region"], bucket=found["bucket"], prefix=found["prefix"])


def place_named(
    tag: str, environ: Mapping[str, str], *, region: str | None = None, bucket: str | None = None, prefix: str | None = None
) -> RunPlace:
    """Return where the run of a tag is kept, by what was said of it: see `place_of`; nothing is created."""
    clients = Clients(region, environ)
    own = bucket is None
    with as_cloud_errors("launch: AWS is asked whose account this is"):
        name = default_bucket(clients, create=False) if bucket is None else bucket
    return RunPlace(tag, name, DEFAULT_PREFIX if prefix is None else prefix.strip("/"), clients, own, region)


def _block(spec: ExperimentSpec) -> SageMakerBlock | None:
    described = backend_description(spec.backend)
    if not issubclass(described.block, SageMakerBlock):
        return None
    return spec.definition.block(spec.backend, described.block)
