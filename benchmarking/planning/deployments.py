"""What each trial of an experiment deploys: packages of its models, made once for all trials that share them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.deployment import Deployment, ModelPackage
from backends.engine_order import EngineBuilder
from benchmarking.planning.job_builder import instance_type_of
from benchmarking.planning.model_store import fetch_by
from benchmarking.planning.served import (
    endpoint_configurations,
    platform_of,
    refusal_of,
    served_models,
    served_problem,
    server_of,
    server_refusal,
)
from definitions.backend_registry import backend_description
from definitions.configuration import configuration_id
from definitions.endpoint import ENDPOINT_KEYS, EndpointBlock, endpoint_of
from definitions.errors import UserError
from definitions.instances import instance_facts
from definitions.quantities import size_text
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec

if TYPE_CHECKING:
    # What packages models is imported where there are any.
    from benchmarking.models.preparation import Batching, ModelSource


class Deployments:
    """The endpoints of one experiment.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        cache: folder of what is kept between runs.
        environ: of the controller.
        say: called with what takes a while.
        engine: makes TensorRT engines; None where the back-end makes none.
    """

    def __init__(
        self,
        definition: BenchmarkDefinition,
        backend: str,
        cache: Path,
        environ: Mapping[str, str],
        say: Callable[[str], None] = lambda line: None,
        engine: EngineBuilder | None = None,
    ) -> None:
        self._definition, self._backend = definition, backend
        self._cache, self._environ, self._say, self._engine = cache, environ, say, engine
        self._made: dict[tuple[str, str, Batching, str], ModelPackage | UserError] = {}
        self._found: dict[str, Deployment] = {}

    def prepare(self) -> None:
        """Make the packages of all configurations, where they can be counted.

        Raises:
            UserError: that of the first one, where none of them can be made.
        """
        if self._definition.endpoint is None:
            return
        errors, made = [], 0
        for configuration in endpoint_configurations(self._definition):
            if served_problem(self._definition, self._backend, configuration) is not None:
                continue
            try:
                self.of(TrialSpec(configuration))
                made += 1
            except UserError as error:
                errors.append(error)
        if errors and not made:
            raise errors[0]

    def problem(self, spec: TrialSpec) -> str | None:
        """Return why a trial's models cannot be packaged or do not fit its instance; None where they can."""
        try:
            found = self.of(spec)
        except UserError as error:
            return "; ".join(str(error).split("\n  "))
        return None if found is None else self._not_served_here(found) or self._too_large(found)

    def of(self, spec: TrialSpec) -> Deployment | None:
        """Return what a trial deploys; None where its definition has no endpoint.

        Raises:
            UserError: a model cannot be made, fetched, exported or packaged.
        """
        if self._definition.endpoint is None:
            return None
        configuration = spec.configuration
        key = configuration_id(
            {name: value for name, value in configuration.items() if name in (*ENDPOINT_KEYS, "instance_type", "instance_count")}
        )
        if key not in self._found:
            try:
                block = endpoint_of(self._definition.endpoint, configuration)
                self._found[key] = self._deployment(block, configuration)
            except ValueError as error:
                raise UserError(f"benchmark {self._definition.name}: endpoint", str(error)) from error
        return self._found[key]

    def _deployment(self, block: EndpointBlock, configuration: Mapping[str, Any]) -> Deployment:
        from benchmarking.models.preparation import Batching

        batching = Batching(block.max_batch_size, block.batch_delay_ms, block.server_threads)
        models = served_models(self._definition, block)
        instance_type = instance_type_of(self._definition, self._backend, configuration)
        packages = tuple(self._package(name, platform_of(block, model), batching, instance_type) for name, model in models.items())
        count = configuration.get("instance_count") or self._definition.arguments.get("instance_count") or 1
        return Deployment(
            packages,
            block.mode,
            server_of(block, self._backend, models),
            block.copies,
            instance_type,
            int(count),
            block.max_batch_size,
            block.batch_delay_ms,
            block.server_threads,
            block.memory,
            block.client_cores,
            block.deploy_s,
            block.existing or "",
        )

    def _source(self) -> ModelSource:
        from benchmarking.models.preparation import ModelSource

        here = backend_description(self._backend).shares_this_machine
        python = self._definition.python or sys.executable
        fetch = fetch_by(self._environ)
        return ModelSource(self._cache, self._definition.source_dir, python, fetch, brings_here=here, say=self._say, engine=self._engine)

    def _package(self, name: str, platform: str, batching: Batching, instance_type: str) -> ModelPackage:
        from benchmarking.models.preparation import package

        key = (name, platform, batching, instance_type if platform == "trt" else "")
        if key not in self._made:
            try:
                self._made[key] = package(name, self._definition.models[name], platform, batching, self._source(), instance_type)
            except UserError as error:
                self._made[key] = error
        found = self._made[key]
        if isinstance(found, UserError):
            raise found
        return found

    def _not_served_here(self, deployment: Deployment) -> str:
        """Return why an emulated endpoint cannot serve a deployment; empty where it can, or is none."""
        described = backend_description(self._backend)
        if described.shares_this_machine or not described.finds_interpreters_here(self._environ):
            return ""
        platforms = dict.fromkeys(one.platform for one in deployment.packages)
        texts = (refusal_of(deployment.server, platform, server_refusal) for platform in platforms)
        return next((f"{text}; the emulator serves on this machine" for text in texts if text), "")

    def _too_large(self, deployment: Deployment) -> str | None:
        facts = instance_facts(deployment.instance_type)
        has = None if facts is None else facts.memory_bytes
        limit = deployment.memory_bytes or has
        for one in deployment.packages:
            size = Path(one.path).stat().st_size if one.path else 0
            # A lower bound: weights hardly become smaller in an archive, and a server takes more than them.
            if limit is not None and size > limit:
                return f"model {one.name} is {size_text(size)} as a file, and models have {size_text(limit)} of memory"
        return None
