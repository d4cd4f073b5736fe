"""One experiment: benchmark x method x seed on one back-end, in one folder. Opens what it needs, runs the loop, leaves the files."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backends.backend_context import BackendContext
from backends.base import Backend
from backends.worker_needs import WorkerNeeds
from benchmarking.archive.code_version import code_version
from benchmarking.archive.folder import note_end, prepare_folder, read_nonce
from benchmarking.archive.folder_lock import locked
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.kept_source import keep_source
from benchmarking.archive.stop_requests import listening
from benchmarking.archive.stored import StoredExperiment, state_setup
from benchmarking.comparison.kept_fold import keep_fold
from benchmarking.controller.ending import Ending, Reason
from benchmarking.controller.engine_money import EngineMoney
from benchmarking.controller.journal import Journal, JournalLostError
from benchmarking.controller.kept_files import disposable
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.tuner import Tuner
from benchmarking.experiment_loop import give_up, make_tuner
from benchmarking.planning.checkpoints import check_disk_for_checkpoints, checkpoint_disk
from benchmarking.planning.concurrency import instance_types, worker_count
from benchmarking.planning.deployments import Deployments
from benchmarking.planning.engine_builder import engine_builder
from benchmarking.planning.feasibility import Refuse, check_capacity, check_listed, refusal
from benchmarking.planning.inputs import Inputs, upload_target
from benchmarking.planning.job_builder import JobBuilder
from benchmarking.planning.shared_memory import shared_memory
from benchmarking.surroundings import Surroundings
from benchmarking.workloads.ingestion.shared_memory import free_bytes
from definitions.backend_description import BackendDescription
from definitions.backend_registry import backend_description
from definitions.errors import UserError
from definitions.instances import price_of
from definitions.program import command
from definitions.schema import BenchmarkDefinition, PerJob

if TYPE_CHECKING:
    # What is needed where there is data, where there are canaries, and at the end, is imported there.
    from benchmarking.report.summary import Summary
    from definitions.trial import TrialSpec

logger = logging.getLogger(__name__)

_HURRIED_GRACE_S = 0.5
"""Seconds that jobs get when the user interrupts for the second time."""


@dataclass(frozen=True)
class ExperimentResult:
    """What an experiment came to; `region` is that whose prices counted, `survivors` are jobs that could not be stopped."""

    spec: ExperimentSpec
    ending: Ending
    state: ExperimentState = field(repr=False)
    price_label: str
    region: str
    survivors: tuple[str, ...] = ()

    @property
    def described(self) -> BackendDescription[Any]:
        """What its back-end tells about itself."""
        return backend_description(self.spec.backend)

    @property
    def summary(self) -> Summary:
        """Verdict, table and best value, as they are printed."""
        from benchmarking.report.described import summary_of

        spec = self.spec
        keeps_warm = self.described.keeps_warm
        return summary_of(spec.definition, spec.backend, self.state, self.price_label, spec.folder, keeps_warm=keeps_warm)

    @property
    def warm(self) -> dict[str, Any] | None:
        """What warm instances did and cost; None where none were asked for."""
        if not self.described.keeps_warm:
            return None
        from benchmarking.report.warm import warm_document

        return warm_document(self.state)

    @property
    def verdict(self) -> str:
        """Which configuration wins, by how much, and whether the measurements can carry that."""
        return self.summary.verdict

    @property
    def best(self) -> float | None:
        """Primary objective of the leading configuration (mean over repeats); None where nothing was completed."""
        return self.summary.best

    @property
    def trials(self) -> list[dict[str, Any]]:
        """The rows of trials.csv."""
        from benchmarking.export.trials_csv import trials_table

        return trials_table(self.spec.definition, self.state)


def run_experiment(spec: ExperimentSpec, surroundings: Surroundings) -> ExperimentResult:
    """Run an experiment, or go on with it where its journal ends.

    Raises:
        UserError: see the message; what was measured is kept.
    """
    # First the lock: two controllers that begin at the same time must not each write down what the experiment is.
    with locked(spec.folder):
        result = _run_locked(spec, surroundings)
        if result.ending.reason is Reason.DETACHED:
            return result
        # Who compares would fold the journal, and say what is wrong with it.
        with contextlib.suppress(UserError):
            keep_fold(StoredExperiment(spec.folder, spec, result.region))
        surroundings.keeper.ended(spec)
    return result


def _run_locked(spec: ExperimentSpec, surroundings: Surroundings) -> ExperimentResult:
    surroundings.keeper.fetch(spec)
    prepare_folder(spec, surroundings.environ, accept_changes=surroundings.accept_changes, cache=surroundings.cache)
    surroundings.keeper.prepared(spec)
    with contextlib.closing(surroundings.keeper.journal(spec)) as journal:
        prefix = spec.job_prefix(read_nonce(spec.folder))
        context = context_of(spec, surroundings, prefix)
        backend = surroundings.make_backend(spec.backend, context)
        journal.when_lost(backend.wake)
        survivors: list[str] = []
        left = hurried = False
        try:
            tuner, ending = _run(spec, surroundings, backend, journal, prefix)
            left = ending.reason is Reason.DETACHED
        except JournalLostError:
            left = True
            raise
        except KeyboardInterrupt:
            hurried = True
            raise
        finally:
            survivors += backend.detach() if left else backend.close(_HURRIED_GRACE_S if hurried else None)
            for name in survivors:
                logger.error("job %s could not be stopped and may still run", name)
        result = ExperimentResult(spec, ending, tuner.state, backend.capabilities.price_label, backend.region, tuple(survivors))
        if left:
            return result
        try:
            # Not needed before the first job runs, and no job waits for it.
            from benchmarking.results import write_results

            write_results(spec, tuner.state, journal, backend.region)
        except UserError as error:
            if ending.reason is not Reason.DISK_FULL:
                raise
            logger.warning("%s; once there is room, `%s` writes them", error.asked, command("export", spec.tag))
        else:
            note_end(spec)
        return result


def context_of(spec: ExperimentSpec, surroundings: Surroundings, prefix: str) -> BackendContext:
    """Return what the back-end of an experiment is made from; `prefix` is that of its jobs' names."""
    return BackendContext(
        spec.definition, spec.folder, spec.seed, surroundings.environ, spec.tag, prefix, surroundings.trackers, surroundings.keeper.uri
    )


def _run(spec: ExperimentSpec, surroundings: Surroundings, backend: Backend, journal: Journal, prefix: str) -> tuple[Tuner, Ending]:
    definition = spec.definition
    ruled_out, longest_s = _by_forecasts(spec, backend.region)
    decided = surroundings.decided
    context = context_of(spec, surroundings, prefix)
    engine = _engines(spec, context, backend, journal, surroundings)
    deployments = Deployments(definition, spec.backend, surroundings.cache, surroundings.environ, lambda line: decided((line,)), engine)
    no_room = _no_room(spec)

    def no_way(trial: TrialSpec) -> str | None:
        return no_room(trial) or deployments.problem(trial)

    refuse = refusal(definition, spec.backend, backend.capacity, lambda trial: ruled_out(trial) or no_way(trial), backend.there_is)
    check_capacity(definition, spec.backend, backend.capacity, backend.there_is)
    deployments.prepare()
    check_listed(definition, refusal(definition, spec.backend, backend.capacity, no_way, backend.there_is))
    target = upload_target(definition, backend, surroundings.environ, spec.backend)
    with Inputs(definition, spec.backend, surroundings.cache, seed=spec.seed, target=target, say=lambda line: decided((line,))) as inputs:
        surroundings.decided(inputs.data_notes)
        jobs = JobBuilder(
            definition,
            spec.backend,
            prefix,
            inputs.channels,
            {**inputs.environment, **_shared(spec)},
            spec.seed,
            region=backend.region,
            longest_s=longest_s,
            deployment=deployments.of,
        )
        check_money(definition, spec.backend, jobs)
        n_workers = worker_count(definition, spec.backend, backend.capacity)
        tuner = make_tuner(spec, backend, journal, jobs, n_workers, refuse, surroundings)
        if engine is not None:
            engine.record, engine.funds = tuner.record, lambda: (tuner.spent_usd, tuner.state.money.reserved_usd)
        surroundings.decided(keep_source(spec, code_version(spec)))
        surroundings.started(tuner, n_workers)
        with listening(spec.folder, tuner.request_stop):
            # Before the first job, so that no second of its time goes by while others have what it needs.
            needs = WorkerNeeds(instance_types(definition, spec.backend), n_workers, definition.is_exclusive)
            backend.reserve(needs, surroundings.waiting, lambda: tuner.is_ending)
            ending = tuner.run()
        if ending.reason is not Reason.DETACHED:
            _tidy(tuner.state, backend, jobs, definition)
        return tuner, ending


def _no_room(spec: ExperimentSpec) -> Refuse:
    """Return what says of a trial that this machine's disk is too small for its checkpoints, or its shared memory for its batches.

    Raises:
        UserError: the disk is too small for all.
    """
    if not backend_description(spec.backend).shares_this_machine:
        return lambda trial: None
    check_disk_for_checkpoints(spec.definition, spec.folder)
    too_small = checkpoint_disk(spec.definition, spec.folder)
    overflows = shared_memory(spec.definition, free_bytes())
    return lambda trial: too_small(trial.configuration) or overflows(trial.configuration)


def _engines(
    spec: ExperimentSpec, context: BackendContext, backend: Backend, journal: Journal, surroundings: Surroundings
) -> EngineMoney | None:
    """Return what makes engines for trials before there is a loop, and keeps their bills in the journal; None where nothing makes any."""
    build = engine_builder(spec.backend, context, lambda line: surroundings.decided((line,)))
    if build is None:
        return None

    def price(instance_type: str) -> float | None:
        found = price_of(instance_type, backend.region, options=spec.definition.block)
        return None if found is None else found.usd_per_hour

    def record(kind: str, body: Mapping[str, Any]) -> None:
        journal.append(backend.now(), kind, body)
        journal.commit()

    def funds() -> tuple[float, float]:
        state = ExperimentState(state_setup(spec))
        for one in journal.records():
            state.apply(one)
        return surroundings.wallet.spent_usd + state.money.spent_usd, state.money.reserved_usd

    return EngineMoney(build, spec.definition.budget, price, record, funds)


def _shared(spec: ExperimentSpec) -> dict[str, str]:
    """Return what tells jobs of this machine where those of one tag keep what they measure once for all of them."""
    if not spec.definition.datasets or not backend_description(spec.backend).shares_this_machine:
        return {}
    return {"OUTRIDER_CEILINGS": str((spec.results_dir / spec.tag / ".ceilings").absolute())}


def _by_forecasts(spec: ExperimentSpec, region: str) -> tuple[Refuse, Callable[[TrialSpec], float | None]]:
    """Return what earlier canaries say of a trial: why it cannot succeed, and how many seconds its job may run; None where nothing."""
    if not isinstance(spec.definition.fidelity, PerJob):
        return (lambda trial: None), (lambda trial: None)
    from benchmarking.forecasting.lookup import latest_forecasts

    forecasts = latest_forecasts(spec.definition, spec.results_dir, spec.backend, region)
    return forecasts.problem, forecasts.longest_s


def check_money(definition: BenchmarkDefinition, backend: str, jobs: JobBuilder) -> None:
    """Raise `UserError` where money is limited but some configuration's price, or that of what it falls back to, is unknown."""
    if definition.budget.max_cost is None:
        return
    described = backend_description(backend)
    fallbacks = described.fallback_instance_types(definition.block(backend, described.block))
    types = dict.fromkeys([*instance_types(definition, backend), *fallbacks])
    unknown = [name for name in types if jobs.price({"instance_type": name})[0] is None]
    if unknown:
        raise UserError(
            f"max_cost = {definition.budget.max_cost:g}: the price of {', '.join(unknown)} is unknown",
            "what cannot be priced cannot be capped",
            f"`{command('prices', '--refresh')}` asks AWS for it; or drop max_cost",
        )


def _tidy(state: ExperimentState, backend: Backend, jobs: JobBuilder, definition: BenchmarkDefinition) -> None:
    """At the end delete what no trial that is over needs; with `keep: none` that of paused ones too."""
    if not backend.capabilities.checkpoints:
        return
    trials = [*state.trials.values()]
    gone = {*disposable(trials, definition.objectives, definition.keep)}
    give_up([trial for trial in trials if definition.keep == "none" or trial.trial in gone], backend, jobs)
