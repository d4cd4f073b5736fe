"""The live half of the adapter: an open back-end with its data, from which jobs are submitted and events taken."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from backends.adopted import AdoptedJob
from backends.backend_context import BackendContext
from backends.base import Backend
from backends.failures import Cause
from backends.job_spec import JobSpec
from backends.naming import job_prefix
from benchmarking.planning.feasibility import refusal
from benchmarking.planning.inputs import Inputs, upload_target
from benchmarking.planning.job_builder import JobBuilder
from definitions.scalars import plain
from definitions.schema import BenchmarkDefinition, Progressive
from definitions.trial import TrialSpec

MakeBackend = Callable[[BackendContext], Backend]


class BackendSession:
    """A back-end at work for one process.

    Args:
        definition: resolved for the back-end.
        backend_name: its name.
        make_backend: makes it.
        folder: for logs, jobs and checkpoints.
        environ: the controller's environment; OUTRIDER_CACHE in it names the folder for generated data sets.
        seed: the experiment's seed.
        openings: how many sessions came before, so that no job is called like one of theirs.
    """

    def __init__(
        self,
        definition: BenchmarkDefinition,
        backend_name: str,
        make_backend: MakeBackend,
        *,
        folder: Path,
        environ: Mapping[str, str],
        seed: int,
        openings: int,
    ) -> None:
        self._definition = definition
        self._backend_name = backend_name
        self._seed = seed
        self._stack = ExitStack()
        self._builders: dict[float | None, JobBuilder] = {}
        self.backend = make_backend(BackendContext(definition, folder, seed, environ))
        self._stack.callback(self.backend.close)
        cache = Path(environ.get("OUTRIDER_CACHE") or "~/.cache/outrider").expanduser()
        try:
            target = upload_target(definition, self.backend, environ, backend_name)
            self._inputs = self._stack.enter_context(Inputs(definition, backend_name, cache, seed=seed, target=target))
        except BaseException:
            self._stack.close()
            raise
        self._refuse = refusal(definition, backend_name, self.backend.capacity, there_is=self.backend.there_is)
        # A snapshot may know of fewer trials than were run after it, so names of different sessions must not meet;
        # on a virtual clock nothing outlives a session, and a fixed name keeps a seed's delays and failures.
        identity = f"{seed}-{openings}"
        virtual = self.backend.capabilities.virtual_time
        self._prefix = job_prefix(
            definition.name, folder.name, hashlib.sha256(identity.encode()).hexdigest() if virtual else secrets.token_hex(4)
        )

    def spec(self, trial: int, attempt: int, configuration: Mapping[str, Any], restore_from: str | None) -> JobSpec:
        """Return a trial's job; a key that the fidelity's argument is called says how far it goes."""
        full, rest = self._split(configuration)
        return self._builder(full).build(trial, attempt, TrialSpec(rest), restore_from)

    def price(self, configuration: Mapping[str, Any]) -> tuple[float | None, int]:
        """Return dollars per instance-hour, None where unknown, and the number of instances."""
        full, rest = self._split(configuration)
        return self._builder(full).price(rest)

    def refusal(self, configuration: Mapping[str, Any]) -> str | None:
        """Return why a configuration cannot run; None where it can."""
        return self._refuse(TrialSpec(self._split(configuration)[1]))

    def abandon(self, jobs: Sequence[AdoptedJob]) -> None:
        """Stop what an earlier session left running: the loop that is loaded from a snapshot does not know of it."""
        if jobs:
            self.backend.adopt(jobs, self.backend.now())
            for job in jobs:
                self.backend.stop(job.spec.name, Cause.INTERRUPTED)

    def close(self) -> None:
        """Stop everything and release everything."""
        self._stack.close()

    def _split(self, configuration: Mapping[str, Any]) -> tuple[float | None, dict[str, Any]]:
        fidelity = self._definition.fidelity
        rest = {key: plain(value) for key, value in configuration.items()}
        for old, new in (("st_instance_type", "instance_type"), ("st_instance_count", "instance_count")):
            if old in rest:
                rest[new] = rest.pop(old)
        full = None if fidelity is None or fidelity.argument is None else rest.pop(fidelity.argument, None)
        return full, rest

    def _builder(self, full: float | None) -> JobBuilder:
        if full not in self._builders:
            definition = self._definition
            if full is not None and definition.fidelity is not None:
                level = int(full) if isinstance(definition.fidelity, Progressive) else float(full)
                definition = definition.model_copy(update={"fidelity": definition.fidelity.model_copy(update={"full": level})})
            self._builders[full] = JobBuilder(
                definition,
                self._backend_name,
                self._prefix,
                self._inputs.channels,
                self._inputs.environment,
                self._seed,
                region=self.backend.region,
            )
        return self._builders[full]
