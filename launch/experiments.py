"""The experiments of a command: one after the other or several at once, and what came of each."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from backends.common.cpu_quota import usable_cores
from backends.registry import backend_class
from benchmarking.archive.code_version import check_code, measured_code
from benchmarking.archive.folder import prepare_folder
from benchmarking.archive.folder_lock import locked
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.ending import Reason
from benchmarking.remote.layout import shared_root
from benchmarking.remote.shared_study import share_study
from benchmarking.studies.failing_alike import EndedExperiment, failing_alike
from benchmarking.studies.files import changing, discard_study, read_study, spending, write_study
from benchmarking.studies.standing import final_ending
from definitions.errors import EXIT_DONE, EXIT_FAILURES, OutriderError, UserError
from definitions.program import command
from definitions.results_folder import results_words
from launch.at_once import at_once
from launch.crew import Crew
from launch.crew_progress import CrewProgress
from launch.emulated import MARK
from launch.experiment_outcome import DENIED, ELSEWHERE, ExperimentOutcome, outcome_of, with_results
from launch.one_experiment import attempt, discard, run_one
from launch.planning import Planned, plan
from launch.progress import Progress
from launch.remote.sharing import SharedList, shared_list
from launch.remote.stores import store_at
from launch.request import RunRequest
from launch.shared_budget import SharedBudget, shared_budget_of
from launch.unfit import why_alone


def execute(planned: Planned, request: RunRequest, progress: Progress) -> list[ExperimentOutcome]:
    """Run the experiments in order, up to one that is interrupted; return what came of each.

    In a study one that is refused, fails or is run by another process does not end the others.

    Raises:
        UserError: a single experiment is refused, which leaves nothing; or a study that cannot be begun.
    """
    _lift_stops(planned.specs, request, progress)
    try:
        if planned.study is not None:
            return _execute_study(planned, request, progress)
        for note in planned.notes:
            progress.say(note)
        return _execute_alone(planned.specs, request, progress)
    except KeyboardInterrupt:
        # Nobody resumes from a folder of an instance that is gone with its job.
        resume = "" if request.launched_remotely else f"; resume with: {resume_command(planned.specs[0].tag, request)}"
        progress.say(f"stopped at once{resume}")
        raise


def _lift_stops(specs: Sequence[ExperimentSpec], request: RunRequest, progress: Progress) -> None:
    """Take back that somebody asked for the end of this run, as a person starts it now; a controller in the cloud starts by itself."""
    if request.launched_remotely:
        return
    for spec in {(spec.backend, spec.definition.name): spec for spec in specs}.values():
        lifted = backend_class(spec.backend).lift_stop(spec.definition, spec.tag, os.environ)
        if lifted:
            progress.say(f"{lifted}; that is taken back, as it is to go on now")


def _execute_study(planned: Planned, request: RunRequest, progress: Progress) -> list[ExperimentOutcome]:
    with changing(planned.tag_folder):
        if read_study(planned.tag_folder) != planned.before:
            # Another process has written meanwhile: what is asked for is laid over what there is now.
            planned = plan(request if request.resume else dataclasses.replace(request, experiment_tag=planned.specs[0].tag))
        assert planned.study is not None
        if planned.study != planned.before:
            if request.launched_remotely:
                # First where all see it: what is here alone would be gone with this machine.
                share_study(store_at(request.launched_remotely, os.environ), planned.before, planned.study)
            write_study(planned.tag_folder, planned.study)
    for note in planned.notes:
        progress.say(note)
    _check_code(planned.specs, accepted=request.accept_changes)
    outcomes = _run_all(planned, request, progress)
    begun = any(spec.folder.exists() for spec in planned.specs)
    if planned.before is None and not begun and all(one.reason in ("refused", DENIED) for one in outcomes):
        discard_study(planned.tag_folder)
    elif all(one.reason != Reason.DETACHED for one in outcomes):
        _collate(planned.tag_folder, progress)
    return outcomes


def _execute_alone(specs: Sequence[ExperimentSpec], request: RunRequest, progress: Progress) -> list[ExperimentOutcome]:
    """Run experiments that are no study: the first error ends them, and what never began leaves nothing."""
    created = [spec for spec in specs if not spec.folder.exists()]
    if len(specs) > 1 and request.parallel not in (None, 1):
        progress.say(f"--parallel {request.parallel}: one after the other: these experiments are no study")
    limited = any(spec.definition.budget.max_cost is not None for spec in specs)
    money = SharedBudget([[spec.folder for spec in specs]] if limited else [])
    outcomes: list[ExperimentOutcome] = []
    try:
        for spec in specs:
            with locked(spec.folder):
                prepare_folder(spec, os.environ, accept_changes=request.accept_changes, cache=request.cache_dir.expanduser())
        for spec in specs:
            outcomes.append(outcome_of(run_one(spec, request, progress, money.wallet_of(spec.folder))))
            money.take_in(outcomes[-1])
            if outcomes[-1].ends_all:
                break
    except OutriderError:
        discard(created)
        raise
    if all(one.reason != Reason.DETACHED for one in outcomes):
        _collate(specs[0].folder.parent.parent, progress)
    return outcomes


def _run_all(planned: Planned, request: RunRequest, progress: Progress) -> list[ExperimentOutcome]:
    """Run the experiments of a study that are not over, and return what came of each, also of those that were over before."""
    assert planned.study is not None
    agenda = _Agenda(planned, progress, _shared(request))
    found = at_once(planned.study.flags, planned.specs, cores=len(usable_cores()))
    if found.refusal:
        progress.say(found.refusal)
    if found.most > 1 and not found.elsewhere:
        first = {spec.definition.name: spec.resolved for spec in reversed(planned.specs)}
        for reason in filter(None, (why_alone(resolved, os.environ) for resolved in first.values())):
            progress.say(f"--parallel {found.asked}: {reason}")

    def run(specs: Sequence[ExperimentSpec]) -> list[ExperimentOutcome]:
        if found.most == 1:
            return [*_one_after_another(dataclasses.replace(planned, specs=tuple(specs)), request, progress, agenda)]
        crew = Crew(specs, request, agenda, CrewProgress(progress, len(specs)), found.most, one_by_one=found.one_by_one)
        return [with_results([one])[0] if one.has_run else one for one in crew.run()]

    return _with_those_of_others(run(planned.specs), run)


def _with_those_of_others(
    outcomes: list[ExperimentOutcome], run: Callable[[Sequence[ExperimentSpec]], list[ExperimentOutcome]]
) -> list[ExperimentOutcome]:
    """Look once more at what other controllers had when its turn was here: one that is gone by now has left it to whoever asks."""
    theirs = [one.spec for one in outcomes if one.reason == ELSEWHERE]
    if not theirs or any(one.ends_all for one in outcomes):
        return outcomes
    again = {one.spec.folder: one for one in run(theirs)}
    return [again.get(one.spec.folder, one) for one in outcomes]


def _shared(request: RunRequest) -> SharedList | None:
    return shared_list(request.launched_remotely, os.environ, store_at)


class _Agenda:
    """Which experiments of a study are to be run, by what is there and what came of those before.

    Args:
        planned: the study.
        progress: is told what it decides.
        shared: what several controllers have in common; None where there is one.
    """

    def __init__(self, planned: Planned, progress: Progress, shared: SharedList | None) -> None:
        assert planned.study is not None
        self._methods, self._progress, self._shared = planned.study.methods, progress, shared
        self._ended: list[EndedExperiment] = []
        self._stopped: dict[str, str] = {}

    def settled(self, spec: ExperimentSpec) -> ExperimentOutcome | None:
        """Return the outcome of an experiment that is not to be run: it is over, or would only fail as others did; None where it is."""
        found, name = final_ending(spec.folder, spec.definition.budget), spec.definition.name
        if found is not None:
            return ExperimentOutcome(spec, found.exit_code, str(found.reason), found.message)
        if name in self._stopped:
            return ExperimentOutcome(spec, EXIT_FAILURES, "not begun", self._stopped[name])
        holder = "" if self._shared is None else self._shared.holder(spec)
        return ExperimentOutcome(spec, EXIT_DONE, ELSEWHERE, f"{holder} runs it") if holder else None

    def heard(self, outcome: ExperimentOutcome) -> None:
        """Take note of what came of an experiment that was run."""
        name = outcome.spec.definition.name
        if outcome.has_run:
            self._ended.append(EndedExperiment(name, outcome.spec.method, outcome.failure))
        alike = failing_alike(self._ended, name, len(self._methods[name]))
        if alike is not None and name not in self._stopped:
            count = sum(one.benchmark == name for one in self._ended)
            self._stopped[name] = f"the first {count} experiments of {name} fail alike ({alike}): it is the script"
            self._progress.say(self._stopped[name])


def _one_after_another(planned: Planned, request: RunRequest, progress: Progress, agenda: _Agenda) -> Iterator[ExperimentOutcome]:
    assert planned.study is not None
    limited = any(spec.definition.budget.max_cost is not None for spec in planned.specs)
    if planned.study.flags.shares == "first_come" and limited:
        with spending(planned.tag_folder):
            yield from _in_turn(planned, request, progress, agenda, shared_budget_of(planned.study, planned.tag_folder))
    else:
        yield from _in_turn(planned, request, progress, agenda, SharedBudget(()))


def _in_turn(
    planned: Planned, request: RunRequest, progress: Progress, agenda: _Agenda, money: SharedBudget
) -> Iterator[ExperimentOutcome]:
    for place, spec in enumerate(planned.specs, 1):
        outcome = agenda.settled(spec)
        if outcome is None:
            outcome = attempt(spec, request, progress, money.wallet_of(spec.folder), place=f"{place} of {len(planned.specs)}")
            money.take_in(outcome)
            agenda.heard(outcome)
        yield outcome
        if outcome.ends_all:
            return


def _collate(tag_folder: Path, progress: Progress) -> None:
    """Write what the experiments of a tag came to into one file; that it cannot be written is said, as each has its own."""
    try:
        from benchmarking.results import collate

        collate(tag_folder)
    except UserError as error:
        progress.say(f"warning: {error}")


def _check_code(specs: Sequence[ExperimentSpec], *, accepted: bool) -> None:
    """Raise `UserError` where the code of a benchmark is another than an experiment measured, before anything goes on."""
    seen: set[str] = set()
    for spec in specs:
        if spec.definition.name in seen:
            continue
        # One whose journal is damaged is refused when its turn comes, which does not end the others.
        with contextlib.suppress(UserError):
            if measured_code(spec.folder) is None:
                continue
            seen.add(spec.definition.name)
        if spec.definition.name in seen:
            check_code(spec, accepted=accepted)


def resume_command(tag: str, request: RunRequest) -> str:
    """Return the command that goes on with a tag, with the folder of results where it is not the usual one, and where it was launched."""
    words = results_words(request.results_dir)
    if request.launched_remotely:
        bucket, _, prefix = shared_root(request.launched_remotely).removeprefix("s3://").partition("/")
        words += ["--take_over", "--remote_bucket", bucket, "--remote_prefix", prefix]
    return command("run", "--resume", tag, *words, *(["--emulate"] if os.environ.get(MARK) else []))
