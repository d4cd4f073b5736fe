"""What the back-ends sagemaker and warm_pool tell about themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from backends.sagemaker.block import DEFAULT_KEEP_ALIVE_S, LONGEST_KEY, LONGEST_VALUE, MOST_TAGS, OWN_TAGS, SageMakerBlock, allowed
from definitions.backend_description import DEFAULT_MAX_RUN_S, BackendDescription, DataAccess
from definitions.errors import UserError
from definitions.ingestion import FILE_SYSTEMS
from definitions.instance_tables import HOSTING, Tables, load_tables
from definitions.parts import DERIVED_OBJECTIVES, KeyPath
from definitions.program import command

GRACE_S = 120.0
"""Seconds between TERM and KILL on SageMaker."""

TRANSFER_S = 600.0
"""Seconds beside its run that a worst case allows a training job for downloads before and uploads after it."""

DELETION_S = 300.0
"""Seconds that a worst case allows an endpoint from the order to delete it until it is gone."""


class SageMakerDescription(BackendDescription[SageMakerBlock]):
    """Training jobs of Amazon SageMaker."""

    name: ClassVar[str] = "sagemaker"
    implementation: ClassVar[str] = "backends.sagemaker.backend:SageMakerBackend"
    endpoint_implementation: ClassVar[str] = "backends.endpoint.backend:EndpointBackend"
    runs_commands: ClassVar[bool] = True
    starts_in_source: ClassVar[bool] = True
    reads_files: ClassVar[bool] = True
    warm_variant: ClassVar[str] = "warm_pool"
    tracker: ClassVar[str] = "backends.sagemaker.experiments.tracker:SageMakerTracker"
    price_refresher: ClassVar[str] = "backends.sagemaker.admin.prices:refresh_prices"
    block = SageMakerBlock
    unhashed: ClassVar[frozenset[str]] = frozenset(
        (
            *("role", "tags", "subnets", "security_groups", "volume_kms_key", "output_kms_key"),
            *("max_wait", "keep_alive", "profiler", "profiler_interval_ms", "console_metrics", "retries", "log_settle_s", "mlflow"),
        )
    )

    instance_pattern: ClassVar[str] = r"ml\..*"
    instance_form: ClassVar[str] = "ml."
    data_access: ClassVar[DataAccess] = DataAccess.BUCKET
    input_modes: ClassVar[tuple[str, ...]] = ("file", "fastfile", "pipe", *FILE_SYSTEMS, "none")
    sampled_modes: ClassVar[tuple[str, ...]] = ("file", "fastfile", "pipe")
    default_ingestion: ClassVar[str] = "file"
    late_logs: ClassVar[str] = "backends.sagemaker.admin.late_logs:read_late_log"
    travels: ClassVar[str] = "backends.sagemaker.code.travels:what_travels"
    engine_builder: ClassVar[str] = "backends.sagemaker.engines:build_engine"
    past_jobs: ClassVar[str] = "backends.sagemaker.admin.past_jobs:read_past_jobs"
    log_group: ClassVar[str] = "/aws/sagemaker/TrainingJobs"
    logs: ClassVar[str] = f"logs in CloudWatch ({log_group})"
    example_instance_type: ClassVar[str] = "ml.m5.xlarge"

    def instance_problem(self, instance_type: str) -> str | None:
        """Return why no training job can run on it: its name is none of SageMaker's."""
        if instance_type.startswith("ml."):
            return None
        kind = "a share of this machine" if instance_type.startswith("local.") else "no type of SageMaker's"
        return f"instance type {instance_type} is {kind}; {self.name} needs one that begins with ml."

    def finds_interpreters_here(self, environ: Mapping[str, str]) -> bool:
        """Return whether jobs are emulated, as those run on this machine, without the image that has the interpreter."""
        from backends.sagemaker.aws.clients import is_emulated

        return is_emulated(environ)

    def region(self, block: SageMakerBlock, environ: Mapping[str, str]) -> str:
        """Return the block's region, else that of the AWS configuration."""
        from backends.sagemaker.aws.clients import Clients

        try:
            return Clients(block.region, environ).region
        except UserError:
            return super().region(block, environ)

    def grace_s(self, block: SageMakerBlock) -> float:
        """Return the seconds between TERM and KILL, which nobody can change."""
        return GRACE_S

    def billed_beside_s(self, block: SageMakerBlock) -> float:
        """Return the seconds of transfers, which are billed too."""
        return TRANSFER_S

    def deletion_s(self, block: SageMakerBlock) -> float:
        """Return the seconds until an endpoint is gone."""
        return DELETION_S

    def remarks(self, block: SageMakerBlock, instance_types: Sequence[str], region: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield where jobs run and by which prices, and what an interruption or a lack of instances means."""
        yield from self._priced("jobs run", instance_types, region, load_tables(environ=environ))
        if block.spot:
            wait = "an hour beyond max_run" if block.max_wait is None else f"{block.max_wait:g} s in all"
            yield f"spot: a job that is interrupted goes on from its checkpoint, and one may wait {wait}; only seconds that ran are billed"
        elif block.spot is None:
            yield "jobs run on demand; --set sagemaker.spot=true for spot, which is cheaper and may be interrupted"
        if block.fallback_instance_types:
            yield f"where there is no capacity a job runs on {' or '.join(block.fallback_instance_types)}, at its price and speed"

    def endpoint_room_is_final(self, block: SageMakerBlock) -> bool:
        """Return True: a quota of none is raised by people alone, and this machine has no more cores for the load later."""
        return True

    def endpoint_remarks(
        self, block: SageMakerBlock, instance_types: Sequence[str], region: str, environ: Mapping[str, str]
    ) -> Iterator[str]:
        """Yield where endpoints are and by which prices, and for how long they are billed."""
        yield from self._priced("endpoints are", instance_types, region, load_tables(environ=environ).used_for(HOSTING))
        yield "an endpoint is billed from its creation until it is deleted after its load, which runs on this machine"

    def _priced(self, what: str, instance_types: Sequence[str], region: str, tables: Tables) -> Iterator[str]:
        known = {name: self.price(name, region, tables, self.block()) for name in instance_types}
        priced = [f"{name} ${price.usd_per_hour:g} ({price.date})" for name, price in known.items() if price is not None]
        unknown = [name for name, price in known.items() if price is None]
        if priced:
            yield f"{what} in {region}, at the price of an hour on demand there: {', '.join(priced)}"
        if unknown:
            asks = command("prices", "--refresh")
            yield f"the price of {', '.join(unknown)} in {region} is unknown, so that nothing is added up for it; `{asks}` asks for it"

    def fallback_instance_types(self, block: SageMakerBlock) -> tuple[str, ...]:
        """Return the block's own."""
        return block.fallback_instance_types or ()

    def option_problems(
        self, block: SageMakerBlock, script: str | None, objectives: Sequence[str], max_run_s: float | None
    ) -> Iterator[tuple[KeyPath, str]]:
        """Yield what is wrong with the program, be it a script of the user's, an image's own, or an algorithm of AWS, and with options."""
        yield from self._tag_problems(block)
        run_s = DEFAULT_MAX_RUN_S if max_run_s is None else max_run_s
        if block.spot and block.max_wait is not None and block.max_wait < run_s:
            said = "" if max_run_s is not None else ", as long as nothing is said,"
            text = f"{block.max_wait:g} s to wait and run is less than budget.max_run{said} of {run_s:g} s to run"
            yield (self.name, "max_wait"), f"{text}; give at least that, or a smaller budget.max_run"
        if block.image is not None and block.algorithm_name is not None:
            yield (self.name, "algorithm_name"), "an image is given too; keep one of them"
        if block.algorithm_name is not None and script is not None:
            yield (self.name, "algorithm_name"), "an algorithm runs its own program; leave out `script`, or give an image"
        if script is None and block.image is None and block.algorithm_name is None:
            yield ("script",), f"is missing; without one, give {self.name}.image or {self.name}.algorithm_name"
        if block.algorithm_name is not None:
            for name in objectives:
                if name not in DERIVED_OBJECTIVES:
                    yield (
                        ("objectives", name),
                        f"an algorithm prints no reports; give metrics.{name}, a regular expression",
                    )

    def _tag_problems(self, block: SageMakerBlock) -> Iterator[tuple[KeyPath, str]]:
        for key, value in (block.tags or {}).items():
            if not key or key.lower().startswith("aws:"):
                yield (self.name, "tags", key), "AWS takes no empty keys, and keeps those that begin with aws:; call it differently"
            elif len(key) > LONGEST_KEY or len(value) > LONGEST_VALUE:
                text = f"{len(key)} and {len(value)} characters; AWS takes keys of {LONGEST_KEY} and values of {LONGEST_VALUE} at most"
                yield (self.name, "tags", key), text
            elif (allowed(key), allowed(value)) != (key, value):
                text = f"{key!r} = {value!r}: AWS takes letters, digits, spaces and _.:/=+-@ in a tag, and no others"
                yield (self.name, "tags", key), text
        if len(block.tags or {}) > MOST_TAGS - OWN_TAGS:
            text = f"{len(block.tags or {})} are given, but a job has at most {MOST_TAGS}, {OWN_TAGS} of them Outrider's; leave some out"
            yield (self.name, "tags"), text


class WarmPoolDescription(SageMakerDescription):
    """The same jobs on instances that are kept warm for the next one."""

    name: ClassVar[str] = "warm_pool"
    implementation: ClassVar[str] = "backends.sagemaker.warm_pool:WarmPoolBackend"
    endpoint_implementation: ClassVar[str] = "backends.endpoint.kept:KeptEndpointBackend"
    builds_on: ClassVar[tuple[str, ...]] = ("sagemaker",)
    keeps_warm: ClassVar[bool] = True

    def remarks(self, block: SageMakerBlock, instance_types: Sequence[str], region: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield the same, and for how long instances are kept."""
        yield from super().remarks(block, instance_types, region, environ)
        kept_s = block.keep_alive or DEFAULT_KEEP_ALIVE_S
        default = "" if block.keep_alive else " (default)"
        yield f"an instance is kept, and billed, for up to {kept_s:g} s{default} after its job; --set {self.name}.keep_alive=S for less"

    def deletion_s(self, block: SageMakerBlock) -> float:
        """Return the seconds until an endpoint is gone, and those that it is kept for the next trial."""
        return DELETION_S + (block.keep_alive or DEFAULT_KEEP_ALIVE_S)

    def billed_beside_s(self, block: SageMakerBlock) -> float:
        """Return the seconds of transfers and those that instances are kept after a job."""
        return TRANSFER_S + (block.keep_alive or DEFAULT_KEEP_ALIVE_S)


DESCRIPTION = SageMakerDescription()
WARM_POOL = WarmPoolDescription()
