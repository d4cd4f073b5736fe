"""From a trial to the job that runs it: name, arguments, environment, price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from backends.deployment import Deployment
from backends.job_input import JobInput
from backends.job_spec import JobSpec, Limits
from benchmarking.controller.budget import cost_usd, longest_run_s
from benchmarking.controller.interfaces import checkpoint_key
from benchmarking.planning.checkpoints import checkpoint_requirements, saves_checkpoints
from benchmarking.planning.command_line import CommandLine
from benchmarking.planning.option_words import writes_plain_numbers
from benchmarking.planning.own_forms import OwnForms
from benchmarking.planning.served import endpoint_configurations
from definitions.backend_registry import backend_description
from definitions.endpoint import EndpointBlock, endpoint_of
from definitions.errors import UserError
from definitions.instance_tables import HOSTING, TRAINING
from definitions.instances import price_of
from definitions.schema import BenchmarkDefinition, PerJob
from definitions.trial import TrialSpec, seed_of


def instance_type_of(definition: BenchmarkDefinition, backend: str, configuration: Mapping[str, Any]) -> str:
    """Return the instance type of a configuration: its own, the fixed argument, or what its back-end runs jobs on by default.

    Raises:
        UserError: none is given, and the back-end has no default.
    """
    found = configuration.get("instance_type") or definition.arguments.get("instance_type")
    if found:
        return str(found)
    described = backend_description(backend)
    if described.default_instance_type is not None:
        return described.default_instance_type
    raise UserError(
        f"benchmark {definition.name} on {backend}: no instance_type",
        "neither the space, the trials nor the arguments say what jobs run on, and each type has its price",
        f"give arguments.instance_type in the {backend} block, or --set arguments.instance_type={described.example_instance_type}",
    )


_BILLED_BY = ("existing", "deploy_s")
"""Keys of an endpoint that say for how long it is billed beside its load."""
_UNTIL_STOPPED_S = 60.0
"""By how much a prefix's time may be over before the back-end ends the job by itself."""


def _is_path(word: str) -> bool:
    """Return whether a word can be meant as the path of a file: `train.py`, `bin/train`; a plain word may be a value."""
    return "." in word or "/" in word


class JobBuilder:
    """Makes the jobs of one experiment.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        prefix: beginning of every job name, unique to the experiment.
        channels: input channels of a trial.
        environment: variables for every job, e.g. of an embedded S3 server.
        seed: the experiment's seed.
        region: for prices.
        longest_s: seconds that a forecast gives a trial's job, where the definition sets no `max_run`; None where there is none.
        deployment: what a trial's job deploys first; None where its script is all.
    """

    def __init__(
        self,
        definition: BenchmarkDefinition,
        backend: str,
        prefix: str,
        channels: Callable[[TrialSpec], tuple[JobInput, ...]] = lambda spec: (),
        environment: Mapping[str, str] | None = None,
        seed: int = 0,
        *,
        region: str,
        longest_s: Callable[[TrialSpec], float | None] = lambda spec: None,
        deployment: Callable[[TrialSpec], Deployment | None] = lambda spec: None,
    ) -> None:
        self._deployment = deployment
        self._longest_s, self._definition, self._backend, self._prefix = longest_s, definition, backend, prefix
        self._channels = channels
        self._environment = dict(environment or {})
        self._seed = seed
        self._region = region
        described = backend_description(backend)
        self._max_run_s = longest_run_s(definition.budget, described.default_max_run_s)
        block = definition.block(backend, described.block)
        self._grace_s = described.grace_s(block)
        # Nothing is transferred by the job of an endpoint, which comes up before it and goes after it; on this machine within its own time.
        self._served = None if described.shares_this_machine else definition.endpoint
        self._deletion_s = described.deletion_s(block)
        most_beside_s = described.billed_beside_s(block) if self._served is None else self._most_beside_s(self._served)
        self._fallbacks = described.fallback_instance_types(block)
        self._use = TRAINING if definition.endpoint is None else HOSTING
        self._prices: dict[str, float | None] = {}
        # What is the same in all jobs is made once: a simulated trial takes no longer than what is made for it.
        self._default_instance_type = definition.arguments.get("instance_type") or described.default_instance_type
        self._own_keys = definition.own_keys
        self._fixed_arguments = {key: value for key, value in definition.arguments.items() if key not in self._own_keys}
        self._fixed_consumed = {key: definition.arguments.get(key) for key in self._own_keys}
        self._script = "" if definition.script is None else str(Path(definition.source_dir) / definition.script)
        source = Path(definition.source_dir)
        is_file = (
            (lambda word: False) if definition.working_dir == "source" else (lambda word: _is_path(word) and (source / word).is_file())
        )
        self._saves_checkpoints = saves_checkpoints(definition)
        calling = replace(definition.calling, plain_numbers=writes_plain_numbers(definition))
        self._command_line = CommandLine(calling, definition.script or "", is_file)
        self._forms = OwnForms(definition)
        self._of_all_jobs: dict[str, Any] = {
            "source_dir": definition.source_dir,
            "working_dir": definition.source_dir if definition.working_dir == "source" else "",
            "warmup_runs": definition.warmup_runs,
            "is_silent": definition.is_silent,
            # What a process's peak begins with is that of whoever started it, here a program much smaller than the controller.
            "is_measured_alone": bool(
                definition.prepare or definition.cleanup or definition.warmup_runs or "peak_rss_bytes" in definition.objectives
            ),
            "exclusive": definition.is_exclusive,
            "metrics": definition.metric_sources,
            "log_cap_bytes": definition.log_cap,
        }
        self.after_stop_s = self._grace_s + most_beside_s
        self.worst_s = None if self._max_run_s is None else self._max_run_s + self.after_stop_s

    def worst_case_s(self, spec: TrialSpec) -> float | None:
        """Return the seconds that a trial's job can be billed for at most; None where nothing limits them."""
        may_run_s = self.may_run_s(spec)
        if may_run_s is None or self._served is None:
            return None if may_run_s is None else may_run_s + self.after_stop_s
        return may_run_s + self._grace_s + self._beside_s(self._served, spec.configuration)

    def _beside_s(self, served: EndpointBlock, configuration: Mapping[str, Any]) -> float:
        """Return the seconds that a configuration's endpoint is billed for beside its load: one that exists is there before, and stays."""
        try:
            asked = endpoint_of(served, configuration)
        except ValueError:
            asked = served  # such a trial is refused
        return 0.0 if asked.existing is not None else asked.deploy_s + self._deletion_s

    def _most_beside_s(self, served: EndpointBlock) -> float:
        """Return the most of any configuration."""
        found = [self._beside_s(served, one) for one in endpoint_configurations(self._definition, _BILLED_BY)]
        return max(found, default=self._beside_s(served, {}))

    def may_run_s(self, spec: TrialSpec) -> float | None:
        """Return the seconds that a trial's job may run; None where nothing limits them."""
        whole_s = self._whole_s(spec)
        if spec.prefix_s is None:
            return whole_s
        # Of a prefix the loop stops the job, and its reporter ends the script; the back-end's own limit is for when both are gone.
        stops_s = spec.prefix_s + _UNTIL_STOPPED_S
        return stops_s if whole_s is None else min(whole_s, stops_s)

    def _whole_s(self, spec: TrialSpec) -> float | None:
        if self._definition.budget.max_run is not None:
            return self._definition.budget.max_run
        return self._longest_s(spec) or self._max_run_s

    def name(self, trial: int, attempt: int) -> str:
        """Return a job name that is valid on every back-end (letters, digits and hyphens, at most 63)."""
        return f"{self._prefix}-t{trial}-a{attempt}"

    def build(self, trial: int, attempt: int, spec: TrialSpec, restore_from: str | None) -> JobSpec:
        """Return the job of a trial's attempt; where the method chose no level, it runs at the definition's full one."""
        definition, configuration = self._definition, spec.configuration
        may_run_s = self.may_run_s(spec)
        fidelity = definition.fidelity
        level = fidelity.full if fidelity is not None and spec.level is None else spec.level
        parameters = self.parameters(spec)
        consumed = {key: value for key, fixed in self._fixed_consumed.items() if (value := configuration.get(key, fixed)) is not None}
        seed = seed_of(self._seed, spec.repeat)
        started = self._command_line.start(parameters, {**consumed, "level": level, "seed": seed, "repeat": spec.repeat, "trial": trial})
        environment = {f"OUTRIDER_{key.upper()}": str(value) for key, value in consumed.items()}
        environment |= {"OUTRIDER_REPEAT": str(spec.repeat), "OUTRIDER_SEED": str(seed)}
        environment |= {} if spec.prefix_s is None else {"OUTRIDER_STOP_AFTER_S": f"{spec.prefix_s:g}"}
        inputs = self._channels(spec)
        return JobSpec(
            name=self.name(trial, attempt),
            trial=trial,
            attempt=attempt,
            script=self._script,
            arguments=started.arguments,
            environment={**environment, **self._environment, **started.environment},
            command=started.command,
            parameters=parameters,
            files=started.files,
            prepare=started.others.get("prepare", ()),
            cleanup=started.others.get("cleanup", ()),
            metric_files=definition.metric_files(started.paths) if started.paths else (),
            instance_type=self._instance_type(configuration),
            instance_count=self._count(configuration),
            inputs=inputs,
            requirements=self._requirements(inputs, configuration),
            configuration=configuration,
            level=level if isinstance(fidelity, PerJob) else None,
            repeat=spec.repeat,
            checkpoint=checkpoint_key(trial),
            restore_from=restore_from,
            limits=Limits(may_run_s, self._grace_s),
            endpoint=self._deployment(spec),
            **self._of_all_jobs,
        )

    def parameters(self, spec: TrialSpec) -> dict[str, Any]:
        """Return the arguments of a trial's script by name, each value as the definition writes it."""
        definition = self._definition
        found = dict(self._fixed_arguments)
        found |= {key: value for key, value in self._forms.of(spec.configuration).items() if key not in self._own_keys}
        if definition.fidelity is not None and definition.fidelity.argument is not None:
            found[definition.fidelity.argument] = definition.fidelity.full if spec.level is None else spec.level
        if definition.seed_argument is not None:
            found[definition.seed_argument] = seed_of(self._seed, spec.repeat)
        return found

    def _requirements(self, inputs: tuple[JobInput, ...], configuration: Mapping[str, Any]) -> tuple[str, ...]:
        found = {one for channel in inputs for one in channel.requirements}
        if self._saves_checkpoints:
            found.update(checkpoint_requirements(self._definition, configuration))
        return tuple(sorted(found)) if found else ()

    def _instance_type(self, configuration: Mapping[str, Any]) -> str:
        found = configuration.get("instance_type") or self._default_instance_type
        return str(found) if found else instance_type_of(self._definition, self._backend, configuration)

    def instances(self, configuration: Mapping[str, Any]) -> tuple[str, int]:
        """Return the instance type that a configuration's job asks for, and how many of it."""
        return self._instance_type(configuration), self._count(configuration)

    def deploy_key(self, configuration: Mapping[str, Any]) -> str:
        """Return the key of what a configuration's job deploys, by which endpoints are shared; empty where it deploys nothing."""
        deployment = self._deployment(TrialSpec(configuration))
        return "" if deployment is None else deployment.key

    def price(self, configuration: Mapping[str, Any]) -> tuple[float | None, int]:
        """Return dollars per instance-hour (None where unknown) and the number of instances."""
        instance_type = self._instance_type(configuration)
        return self._usd_per_hour(instance_type), self._count(configuration)

    def worst_usd(self, spec: TrialSpec) -> float | None:
        """Return what a trial's job costs at most, also on what it falls back to; None where a price or its longest time is unknown."""
        return self.most_usd(spec.configuration, self.worst_case_s(spec))

    def most_usd(self, configuration: Mapping[str, Any], seconds: float | None) -> float | None:
        """Return what so many seconds of a configuration's job cost on the dearest of what it may run on; None where one is unknown.

        Args:
            configuration: of a trial.
            seconds: per instance; None where nothing limits them.
        """
        own = self._instance_type(configuration)
        prices = [self._usd_per_hour(name) for name in (own, *self._fallbacks)]
        known = [price for price in prices if price is not None]
        dearest = max(known) if len(known) == len(prices) else None
        return cost_usd(seconds, dearest, self._count(configuration))

    def _usd_per_hour(self, instance_type: str) -> float | None:
        if instance_type not in self._prices:
            price = price_of(instance_type, self._region, use=self._use, options=self._definition.block)
            self._prices[instance_type] = None if price is None else price.usd_per_hour
        return self._prices[instance_type]

    def _count(self, configuration: Mapping[str, Any]) -> int:
        return int(configuration.get("instance_count") or self._definition.arguments.get("instance_count") or 1)
