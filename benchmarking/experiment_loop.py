"""The loop of an experiment, put together: its method, its state, what it takes over from earlier ones, and who watches it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from backends.base import Backend
from backends.late_logs import late_log_reader
from benchmarking.archive.code_version import CodeVersion, code_version
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.late_logs import read_late_logs
from benchmarking.archive.measured import Measurements, PastMeasurements
from benchmarking.archive.past_results import warm_start
from benchmarking.archive.reusing import ReusingBackend, ReusingJobs, why_not
from benchmarking.archive.stored import state_setup
from benchmarking.controller.interfaces import checkpoint_key
from benchmarking.controller.journal import Journal
from benchmarking.controller.kept_files import KeptFiles
from benchmarking.controller.method import Method
from benchmarking.controller.method_adapter import MethodAdapter
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.tuner import Tuner
from benchmarking.decided import decided
from benchmarking.methods.registry import build_method
from benchmarking.planning.feasibility import Refuse
from benchmarking.planning.job_builder import JobBuilder
from benchmarking.surroundings import Surroundings
from benchmarking.watches import disk_watch, overrun_watch
from definitions.backend_registry import backend_description
from definitions.errors import OutriderError
from definitions.instances import default_instance_type

logger = logging.getLogger(__name__)


def make_tuner(
    spec: ExperimentSpec,
    backend: Backend,
    journal: Journal,
    jobs: JobBuilder,
    n_workers: int,
    refuse: Refuse,
    surroundings: Surroundings,
) -> Tuner:
    """Return the loop of an experiment, not yet run."""
    definition = spec.definition
    method = build_method(
        spec.method,
        definition,
        spec.seed,
        spec.method_arguments,
        region=backend.region,
        instance_type=default_instance_type(spec.backend),
    )
    decisions = decided(
        spec, backend, n_workers, finite=method.finite, environ=surroundings.environ, trials=lambda: _planned(spec, backend)
    )
    surroundings.decided([*([method.about] if method.about else []), *decisions])
    version = code_version(spec)
    has_begun = next(journal.records(), None) is not None
    learned, lines = (None, []) if has_begun else warm_start(spec, method)
    state = ExperimentState(state_setup(spec))
    measured, said = _measured(spec, method, version, state, journal, has_begun=has_begun)
    reader = late_log_reader(spec.backend) if has_begun else None
    late = [] if reader is None else read_late_logs(spec, journal, backend.region, reader, spec.folder / "logs")
    surroundings.decided([*lines, *said, *late])
    # Where checkpoints fill this machine's disk they go as early as can be; elsewhere at the end, as deleting them is a call.
    gives_up_early = backend_description(spec.backend).shares_this_machine and not method.copies_checkpoints
    kept = KeptFiles(definition.objectives, definition.keep, lambda trial: give_up([trial], backend, jobs))
    keeping = (kept.observe,) if gives_up_early and backend.capabilities.checkpoints else ()
    watch = disk_watch(spec, backend, n_workers, gives_up_early=gives_up_early, tuner=lambda: tuner)
    overruns = overrun_watch(definition, jobs, tuner=lambda: tuner)
    tuner = Tuner(
        state=state,
        adapter=MethodAdapter(method, refuse),
        backend=backend if measured is None else ReusingBackend(backend, measured.find, measured.left, measured.key),
        journal=journal,
        jobs=jobs if measured is None else ReusingJobs(jobs, measured.find),
        budget=definition.budget,
        n_workers=n_workers,
        wallet=surroundings.wallet,
        learned=learned,
        code={"code": version.code, "files": dict(version.files)} if version.code else None,
        # What is given up first is room for what is looked at then.
        observers=(
            *surroundings.observers,
            *surroundings.keeper.observers(spec),
            *keeping,
            *watch,
            *overruns,
            *([] if measured is None else [measured.observe]),
        ),
    )
    return tuner


def _measured(
    spec: ExperimentSpec, method: Method, version: CodeVersion, state: ExperimentState, journal: Journal, *, has_begun: bool
) -> tuple[Measurements | None, Sequence[str]]:
    """Return what earlier experiments measured that need not be measured again, None where nothing is taken over; and what to say of it."""
    if not spec.definition.reuse:
        return None, ()
    no_reuse = why_not(method, spec.method, version.code)
    if no_reuse:
        return None, [no_reuse]
    past = PastMeasurements(spec, version, has_begun=has_begun)
    return Measurements(spec, version, past, state, journal), past.lines


def _planned(spec: ExperimentSpec, backend: Backend) -> int | None:
    """Return how many trials there will be; None where that is open."""
    most = spec.definition.budget.max_num_trials
    usual = default_instance_type(spec.backend)
    # One of its own, as a method that has planned suggests nothing any more.
    method = build_method(spec.method, spec.definition, spec.seed, spec.method_arguments, region=backend.region, instance_type=usual)
    planned = method.plan() if method.finite else None
    counts = [*([] if most is None else [most]), *([] if planned is None else [len(planned) * spec.repeats])]
    return min(counts, default=None)


def give_up(trials: Sequence[TrialState], backend: Backend, jobs: JobBuilder) -> None:
    """Delete what trials left and nobody needs: checkpoints, and the models of their jobs; what cannot be deleted stays and is said."""
    if not trials:
        return
    try:
        # All at once, as elsewhere each is a call.
        backend.checkpoints.delete([checkpoint_key(trial.trial) for trial in trials])
        backend.discard([jobs.name(trial.trial, attempt) for trial in trials for attempt in range(1, trial.submissions + 1)])
    except OutriderError as error:
        # What was measured does not depend on what is left lying about.
        which = f"trial {trials[0].trial}" if len(trials) == 1 else f"{len(trials)} trials, or some of them,"
        logger.warning("files of %s are kept: %s", which, error)
