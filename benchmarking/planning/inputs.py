"""The data of an experiment: which data sets its configurations can ask for, prepared once, and the channels of each job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.base import Backend
from backends.job_input import DataFacts, JobInput
from benchmarking.planning.checkpoints import needs_checkpoint_store, saves_checkpoints
from benchmarking.planning.needs import IsThere, here, is_on_path, missing_text, packages_of
from definitions.backend_description import DataAccess
from definitions.backend_registry import backend_description
from definitions.datasets import Dataset, PathDataset
from definitions.errors import UserError
from definitions.ingestion import REQUIREMENTS, ingestion, needs_s3, problem, settings_problem
from definitions.scaling import datasets_of
from definitions.schema import BenchmarkDefinition, InputChannel, PerJob
from definitions.trial import TrialSpec

if TYPE_CHECKING:
    from benchmarking.datasets import Prepared, S3Target
    from benchmarking.planning.manifests import Manifests


@dataclass(frozen=True)
class ChannelChoice:
    """What one channel reads for one configuration: names of a data set and of an ingestion."""

    channel: str
    dataset: str
    ingestion: str


def channel_choices(definition: BenchmarkDefinition, backend: str, configuration: Mapping[str, Any]) -> tuple[ChannelChoice, ...]:
    """Return what each channel reads; the configuration's `dataset` and `ingestion` mean the channel `train`.

    Raises:
        UserError: a channel for which neither the definition nor the configuration names a data set.
    """
    fixed: dict[str, Any] = {key: definition.arguments[key] for key in ("dataset", "ingestion") if key in definition.arguments}
    configuration = {**fixed, **configuration}
    channels = dict(definition.inputs)
    if definition.datasets and "train" not in channels and ("dataset" in configuration or "ingestion" in configuration):
        channels["train"] = InputChannel()
    return tuple(_choice(definition, backend, name, channel, configuration) for name, channel in channels.items())


def _choice(
    definition: BenchmarkDefinition, backend: str, name: str, channel: InputChannel, configuration: Mapping[str, Any]
) -> ChannelChoice:
    chosen = configuration if name == "train" else {}
    only = next(iter(definition.datasets)) if len(definition.datasets) == 1 else None
    dataset = channel.dataset or chosen.get("dataset") or only
    if dataset is None:
        raise UserError(f"inputs.{name}: no data set", "neither the channel nor the configuration names one", f"give inputs.{name}.dataset")
    if dataset not in definition.datasets:
        raise UserError(f"inputs.{name}: data set {dataset!r} is not defined", f"datasets: {', '.join(definition.datasets) or 'none'}")
    usual = definition.datasets[dataset].own_ingestion or backend_description(backend).default_ingestion
    return ChannelChoice(name, dataset, channel.ingestion or chosen.get("ingestion") or usual)


def input_problem(
    definition: BenchmarkDefinition,
    backend: str,
    configuration: Mapping[str, Any],
    is_installed: IsThere | None = None,
    on_path: IsThere = is_on_path,
) -> str | None:
    """Return why the configuration's data cannot be read the way it asks for, or None where it can.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        configuration: one of its own.
        is_installed: whether a package can be imported where jobs run, asked where that is this machine; as it is where not given.
        on_path: whether there is a program, likewise.
    """
    described = backend_description(backend)
    settings = {**definition.arguments, **configuration}
    for choice in channel_choices(definition, backend, configuration):
        dataset = definition.datasets[choice.dataset]
        modes = (described.input_modes, dataset.type, dataset.own_ingestion or "", described.emulated_modes)
        found = problem(choice.ingestion, dataset.layout, backend, *modes)
        found = found or settings_problem(choice.ingestion, settings)
        if found is None and described.data_access is DataAccess.MACHINE:
            entry = ingestion(choice.ingestion)
            is_emulated = entry.input_mode in described.emulated_modes
            packages = packages_of(definition, entry, dataset.layout, settings, is_emulated=is_emulated)
            found = missing_text(choice.ingestion, entry, packages, is_installed or here(definition.python), on_path)
        if found is not None:
            return f"inputs.{choice.channel}: {found}"
    return None


def possible_choices(definition: BenchmarkDefinition, backend: str) -> set[ChannelChoice]:
    """Return every valid pair of data set and ingestion that some configuration can ask for."""
    choices: set[ChannelChoice] = set()
    for configuration in _data_configurations(definition):
        if input_problem(definition, backend, configuration) is None:
            choices.update(channel_choices(definition, backend, configuration))
    return choices


def check_folders(definition: BenchmarkDefinition, backend: str) -> None:
    """Raise `UserError` where a folder that some configuration reads is missing, or holds nothing of its format."""
    from benchmarking.datasets.existing import check_folder

    for name in sorted({choice.dataset for choice in possible_choices(definition, backend)}):
        dataset = definition.datasets[name]
        if isinstance(dataset, PathDataset):
            check_folder(name, dataset)


def unreadable(definition: BenchmarkDefinition, backend: str) -> tuple[str, ...]:
    """Return why some of the pairs of data set and ingestion that a space lists cannot be read, each reason once."""
    found = (input_problem(definition, backend, configuration) for configuration in _data_configurations(definition))
    # What is there instead depends on the layout; why it cannot be is the same.
    return tuple({one.partition("; ")[0]: one for one in found if one is not None}.values())


def _data_configurations(definition: BenchmarkDefinition) -> Iterator[Mapping[str, Any]]:
    if definition.trials:
        yield from definition.explicit_configurations
        return
    domains = definition.search_space.domains
    values = {key: domains[key].grid(0) if key in domains and domains[key].is_listed else (None,) for key in ("dataset", "ingestion")}
    for dataset in values["dataset"]:
        for mode in values["ingestion"]:
            yield {key: value for key, value in (("dataset", dataset), ("ingestion", mode)) if value is not None}


def upload_target(
    definition: BenchmarkDefinition, backend: Backend, environ: Mapping[str, str], backend_name: str | None = None
) -> S3Target | None:
    """Return where data sets and checkpoints have to be uploaded; None where there are none, or jobs read this machine's disk.

    Args:
        definition: the resolved definition.
        backend: where its jobs run.
        environ: of the controller.
        backend_name: its name, where jobs may save checkpoints.
    """
    saves = backend_name is not None and needs_checkpoint_store(definition, backend_name)
    storage = backend.storage() if definition.datasets or saves else None
    if storage is None:
        return None
    from benchmarking.datasets.s3target import S3Target

    endpoint_url = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or None
    return S3Target(storage.bucket, f"{storage.prefix}/datasets", endpoint_url, region=storage.region)


@dataclass
class Inputs:
    """Prepared data sets of one experiment; a context manager, inside which an embedded S3 server runs where data or checkpoints need one.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        cache: folder for generated data sets.
        seed: of the samples that canaries read.
        target: where data sets are uploaded to, for jobs that read a bucket; for those that read this machine a server of its own is
            started where one is needed.
        say: called with how far a data set is that takes a while to make.
    """

    definition: BenchmarkDefinition
    backend: str
    cache: Path
    environment: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    data_notes: list[str] = field(default_factory=list)
    seed: int = 0
    target: S3Target | None = None
    say: Callable[[str], None] = lambda line: None
    _prepared: dict[str, Prepared] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)
    _manifests: Manifests | None = None

    def __enter__(self) -> Inputs:
        described = backend_description(self.backend)
        if described.data_access is DataAccess.NOTHING:
            return self
        choices = possible_choices(self.definition, self.backend)
        saved = needs_checkpoint_store(self.definition, self.backend)
        if self.definition.scale != 1 and saves_checkpoints(self.definition):
            self.environment["OUTRIDER_SCALE"] = f"{self.definition.scale:g}"
        if not choices and not saved:
            return self
        self.check_sampled(choices)
        remote = {choice.dataset for choice in choices if needs_s3(choice.ingestion)}
        uploaded = {name for name in remote if self.definition.datasets[name].type != "s3"}
        cloud = described.data_access is DataAccess.BUCKET
        target = self.target if cloud else None
        if uploaded and cloud and target is None:
            raise UserError(f"data sets {', '.join(sorted(uploaded))} have to be in S3", "no bucket is known that they could be copied to")
        if saved and cloud and target is None:
            raise UserError("checkpoints have to be in S3", "no bucket is known that jobs could save them to", "give checkpoint_to")
        try:
            if (uploaded or saved) and not cloud:
                target = self._served()
            if saved and target is not None:
                prefix = _beside(target.prefix)
                if not cloud:
                    # Nobody reads there once the server has ended, so that it goes with it, also what jobs left that were stopped.
                    prefix = f"{prefix}/{self.environment['OUTRIDER_STORE_PID']}"
                    self._stack.callback(_forget, target, prefix)
                self.environment["OUTRIDER_CHECKPOINT_S3"] = f"s3://{target.bucket}/{prefix}"
            from benchmarking.datasets import prepare

            datasets = datasets_of(self.definition)
            for name in sorted({choice.dataset for choice in choices}):
                s3 = target if cloud or name in uploaded else None
                self._prepared[name] = prepare(name, datasets[name], cache=self.cache, s3=s3, say=self.say)
                self.data_notes += self._prepared[name].notes
        except BaseException:
            self._stack.close()
            raise
        if cloud and target is not None:
            from benchmarking.planning.manifests import Manifests

            self._manifests = Manifests(target, self.seed)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _served(self) -> S3Target:
        """Start a server of ours, tell jobs of it, and return where to upload to."""
        from benchmarking.datasets import EmbeddedS3

        described = backend_description(self.backend)
        faults = described.store_faults(self.definition.block(self.backend, described.block))
        server = self._stack.enter_context(EmbeddedS3(self.cache / "s3", faults=faults))
        self.environment.update(server.environment)
        said = f", with faults: {', '.join(str(fault.get('kind')) for fault in faults)}" if faults else ""
        self.notes.append(f"embedded S3 server on {server.endpoint_url}{said}")
        # So that a job can tell the store's load and pages from others'.
        self.environment.update(OUTRIDER_STORE_PID=str(server.pid), OUTRIDER_STORE_FOLDER=str(server.contents))
        return server.target

    def channels(self, spec: TrialSpec) -> tuple[JobInput, ...]:
        """Return the input channels of a trial's jobs; those of a canary hold its fraction of what is `sampled`."""
        fidelity = self.definition.fidelity
        fraction = spec.level / fidelity.full if spec.level is not None and isinstance(fidelity, PerJob) else 1.0
        choices = channel_choices(self.definition, self.backend, spec.configuration)
        return tuple(self._channel(choice, spec.configuration, fraction, spec.repeat) for choice in choices)

    def check_sampled(self, choices: Iterable[ChannelChoice]) -> None:
        """Raise `UserError` where a channel is to be sampled that its ingestion does not put into place."""
        modes = backend_description(self.backend).sampled_modes
        for choice in choices:
            channel = self.definition.inputs.get(choice.channel)
            if channel is not None and channel.sampled and ingestion(choice.ingestion).input_mode not in modes:
                raise UserError(
                    f"inputs.{choice.channel}: sampled, with ingestion {choice.ingestion}",
                    "whole files are sampled where a back-end puts them into place",
                    f"use ingestion {' or '.join(modes)}; or let the script read its fraction itself, and leave out `sampled`",
                )

    def _channel(self, choice: ChannelChoice, settings: Mapping[str, Any], fraction: float, repeat: int) -> JobInput:
        entry = ingestion(choice.ingestion)
        dataset = self.definition.datasets[choice.dataset]
        prepared = self._prepared.get(choice.dataset)
        uri = "" if prepared is None else prepared.location(entry.input_mode)
        channel = self.definition.inputs.get(choice.channel)
        is_sampled = bool(uri) and channel is not None and bool(channel.sampled) and fraction < 1.0
        if is_sampled:
            if self._manifests is not None:
                uri = self._manifests.uri(uri, fraction, repeat)
            else:
                from benchmarking.planning.sampling import sample_folder

                uri = str(sample_folder(Path(uri), self.cache, fraction, self.seed, repeat))
        reader = entry.layouts[dataset.layout]
        facts = _facts(dataset, prepared, is_sampled)
        is_emulated = entry.input_mode in backend_description(self.backend).emulated_modes
        packages = packages_of(self.definition, entry, dataset.layout, {**self.definition.arguments, **settings}, is_emulated=is_emulated)
        requirements = tuple(REQUIREMENTS.get(name, name) for name in packages)
        return JobInput(choice.channel, choice.dataset, dataset.layout, entry.input_mode, reader, uri, facts, requirements)


def _forget(target: S3Target, prefix: str) -> None:
    """Delete all objects below a prefix; what cannot be deleted stays."""
    from benchmarking.datasets.s3target import pages_under

    with suppress(Exception):
        client = target.client()
        for page in pages_under(client, target.bucket, f"{prefix}/"):
            for entry in page:
                client.delete_object(Bucket=target.bucket, Key=entry["Key"])


def _beside(prefix: str) -> str:
    """Return the prefix of checkpoints, beside that of data sets."""
    above = prefix.strip("/").rpartition("/")[0]
    return f"{above}/checkpoints" if above else "checkpoints"


def _facts(dataset: Dataset, prepared: Prepared | None, is_sampled: bool) -> DataFacts:
    """Return what a job is told of its data; of a part of them nobody counted the samples."""
    form, labels, content = dataset.format, dataset.label_place, dataset.sample_content
    if prepared is None:
        return DataFacts(form, labels, content=content)
    if is_sampled:
        return DataFacts(form, labels, classes=prepared.classes, content=content)
    return DataFacts(form, labels, prepared.samples, prepared.classes, prepared.bytes, content)
