"""What a back-end tells about itself before one is made: the options of its block, its instance types, its data, its words.

The core asks these questions and names no back-end. A back-end of your own is a subclass of `BackendDescription`, an instance of it that an
entry point of the group `outrider.backends` names, and the class that `implementation` names:

    class OtherBlock(Overrides):
        python: str | None = None

    class OtherDescription(BackendDescription[OtherBlock]):
        name = "other"
        implementation = "outrider_other.backend:OtherBackend"
        block = OtherBlock

    DESCRIPTION = OtherDescription()

A description is imported whenever a definition or a command names its back-end, so its module imports nothing that takes time.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from definitions.instance_tables import LISTED_REGION, InstanceFacts, Price, Tables
from definitions.parts import KeyPath, Overrides

DEFAULT_MAX_RUN_S = 3600.0
"""Seconds that a job may run where nobody says and something has to limit it."""

Block = TypeVar("Block", bound=Overrides)


class DataAccess(enum.StrEnum):
    """What the jobs of a back-end can read."""

    MACHINE = "machine"
    """The disk of this machine and servers on its loopback; an S3 server of Outrider's own is started where one is needed."""

    BUCKET = "bucket"
    """What lies in the bucket that `Backend.storage` names, into which data sets are copied."""

    NOTHING = "nothing"
    """Nothing at all: no data set is prepared."""


class BackendDescription(Generic[Block]):
    """What Outrider has to know of a back-end; every default is that of a plain one, which runs scripts and nothing else."""

    name: ClassVar[str]
    """What users call it, also the name of its block in a definition; the name of its entry point too."""

    implementation: ClassVar[str]
    """`module:class` of the `backends.base.Backend`; imported when one is made."""

    endpoint_implementation: ClassVar[str] = ""
    """The same of definitions that have their models served by an endpoint; empty where `implementation` does that too, or nothing does."""

    block: type[Block]
    """Model of its block: a subclass of `definitions.parts.Overrides`, whose own fields are the back-end's options, each optional."""

    builds_on: ClassVar[tuple[str, ...]] = ()
    """Back-ends whose blocks lie below its own, the lowest first; their options are its options too."""

    unhashed: ClassVar[frozenset[str]] = frozenset()
    """Options that do not determine results, so that they may change when an experiment is resumed."""

    paths: ClassVar[tuple[str, ...]] = ()
    """Options that hold a path; a relative one is relative to the file that says it."""

    instance_pattern: ClassVar[str] = ""
    """Regular expression of the names of its instance types, also of malformed ones; empty where it has none of its own."""

    instance_form: ClassVar[str] = ""
    """How the names of its instance types begin, in words: `local.`."""

    nominal: ClassVar[bool] = False
    """Whether nobody is billed for its instances, so that their price is a yardstick only."""

    default_instance_type: ClassVar[str | None] = None
    """What a job runs on where nobody says; None where somebody has to."""

    example_instance_type: ClassVar[str] = ""
    """One that people may write, for advice."""

    default_max_run_s: ClassVar[float | None] = DEFAULT_MAX_RUN_S
    """Seconds that a job may run where nobody says; None for as long as it takes, fit for where nobody pays."""

    data_access: ClassVar[DataAccess] = DataAccess.MACHINE
    """What its jobs can read."""

    input_modes: ClassVar[tuple[str, ...]] = ("local", "none")
    """How it puts data before a script: some of `definitions.ingestion.INPUT_MODES`; `none` hands over the URI alone."""

    emulated_modes: ClassVar[tuple[str, ...]] = ()
    """Those of its input modes that it does not put into place: jobs get the URI, and their reader does what a platform would do."""

    sampled_modes: ClassVar[tuple[str, ...]] = ("local",)
    """Those of its input modes in which it can put a part of the files into place, for canaries."""

    default_ingestion: ClassVar[str] = "local"
    """The ingestion of a channel for which nobody names one."""

    runs_commands: ClassVar[bool] = False
    """Whether its jobs start a definition's `command`, and what comes before and after the script; else they run scripts alone."""

    starts_in_source: ClassVar[bool] = False
    """Whether its jobs start in the folder of the source, whatever a definition's `working_dir` says."""

    reads_files: ClassVar[bool] = False
    """Whether it reads metrics from files that its jobs write."""

    shares_this_machine: ClassVar[bool] = False
    """Whether jobs take cores of this machine: then no more run than fit, and one at a time where nothing may disturb a measurement."""

    keeps_warm: ClassVar[bool] = False
    """Whether instances are kept for later jobs, whose use and cost a report then shows."""

    logs: ClassVar[str] = "logs/"
    """Where the logs of its jobs are, in words: a folder of the experiment's own, or somewhere else."""
    log_group: ClassVar[str] = ""
    """The log group of CloudWatch that they are in; empty where they are in none."""

    warm_variant: ClassVar[str] = ""
    """Name of the back-end that runs the same jobs on instances which are kept for the next one, its own where it does; empty for none."""

    runs_programs: ClassVar[bool] = True
    """Whether it runs a definition's program, so that its script has to be there."""

    price_refresher: ClassVar[str] = ""
    """`module:function` that asks its service what instances cost, and keeps it; empty where nobody can be asked. It is given a region,
    instance types (None for all), the environment and UTC seconds, and returns what it did as a sentence."""

    travels: ClassVar[str] = ""
    """`module:function` that says in lines what of a definition goes to jobs elsewhere, and what does not; empty where nothing does. It is
    given the definition and by name `whole`: whether the files are listed, or what somebody has to know is said."""

    engine_builder: ClassVar[str] = ""
    """`module:function` that makes TensorRT engines for its endpoints, of a `backends.engine_order.EngineOrder`, the experiment's
    `backends.backend_context.BackendContext` and what is told of it; empty where it makes none."""

    past_jobs: ClassVar[str] = ""
    """`module:function` that reads jobs which its service still knows, a `backends.past_jobs.PastJobReader`; empty where it keeps none."""

    late_logs: ClassVar[str] = ""
    """`module:function` that reads the log of a closed job again, a `backends.late_logs.LateLogReader`; empty where logs are never late."""

    tracker: ClassVar[str] = ""
    """`module:factory` of the `backends.tracked.Tracker` that its service keeps experiments in, made of the environment without a call;
    empty where it keeps none."""

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the blocks that are laid over one another for it, its own last."""
        return (*self.builds_on, self.name)

    def option_problems(
        self, block: Block, script: str | None, objectives: Sequence[str], max_run_s: float | None
    ) -> Iterator[tuple[KeyPath, str]]:
        """Yield what is wrong with the program that is to run and with its options, as pairs of the path of a key and the text.

        Args:
            block: the back-end's options.
            script: the definition's; None where it gives none.
            objectives: names of the definition's objectives.
            max_run_s: seconds that a job may run; None where the definition does not say.
        """
        if script is None:
            yield ("script",), f"is missing; back-end {self.name} runs nothing else"

    def instance_problem(self, instance_type: str) -> str | None:
        """Return why no job can run on an instance type, as a sentence about it, or None where some may."""
        return None

    def room_is_final(self, block: Block) -> bool:
        """Return whether a job that has no room with nothing else running never will have, so that it is refused before anything starts."""
        return self.shares_this_machine

    def endpoint_room_is_final(self, block: Block) -> bool:
        """Return the same of a job whose models are served by an endpoint."""
        return self.room_is_final(block)

    def outlives_controller(self, block: Block) -> bool:
        """Return whether jobs go on where their controller dies, so that only the next controller of their experiment can end them."""
        return False

    def instance_type_here(self, environ: Mapping[str, str]) -> str | None:
        """Return what a job runs on where nobody says, given what this machine has; None where somebody has to say."""
        return self.default_instance_type

    def finds_interpreters_here(self, environ: Mapping[str, str]) -> bool:
        """Return whether the interpreters of this machine are there for its jobs too, given the controller's environment."""
        return self.shares_this_machine

    def remarks(self, block: Block, instance_types: Sequence[str], region: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield one sentence for each thing that the back-end decides for the user, and how to have it otherwise.

        Args:
            block: the back-end's options.
            instance_types: that configurations can ask for.
            region: whose prices count.
            environ: the controller's environment.
        """
        yield from ()

    def endpoint_remarks(self, block: Block, instance_types: Sequence[str], region: str, environ: Mapping[str, str]) -> Iterator[str]:
        """Yield in place of `remarks` what is decided where models are served by endpoints; arguments as there."""
        yield from self.remarks(block, instance_types, region, environ)

    def facts(self, instance_type: str, tables: Tables) -> InstanceFacts | None:
        """Return what an instance type of its own has, or None where that is not known.

        Raises:
            UserError: the name is malformed.
        """
        return tables.facts.get(instance_type)

    def price(self, instance_type: str, region: str, tables: Tables, block: Block) -> Price | None:
        """Return what an instance-hour costs, or None where that is not known (never zero).

        Args:
            instance_type: one of its own.
            region: whose price is asked for, as `region` or the back-end says.
            tables: facts and prices that come with Outrider, and the user's own prices.
            block: the back-end's options; one that says nothing where an instance type is asked about and no definition.

        Raises:
            UserError: the name is malformed.
        """
        return tables.prices.get((instance_type, region))

    def region(self, block: Block, environ: Mapping[str, str]) -> str:
        """Return the region whose prices count, before a back-end is made: that of the AWS configuration, else the one that is listed."""
        return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or LISTED_REGION

    def store_faults(self, block: Block) -> Sequence[Mapping[str, Any]]:
        """Return the faults of the S3 server that serves its runs, where there is one."""
        del block
        return ()

    def grace_s(self, block: Block) -> float:
        """Return the seconds between the request that a job ends and the moment when it is killed."""
        return 5.0

    def billed_beside_s(self, block: Block) -> float:
        """Return the seconds beside a job's own run that a worst case allows it to be billed for, e.g. for downloads."""
        return 0.0

    def deletion_s(self, block: Block) -> float:
        """Return the seconds that a worst case allows an endpoint to be billed for once its job's script has ended."""
        return 0.0

    def fallback_instance_types(self, block: Block) -> tuple[str, ...]:
        """Return the instance types that a job may run on in place of the one that it asks for; its worst case counts them."""
        return ()
