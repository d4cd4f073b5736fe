"""Launches a study: what is sent is put together and checked, the tag is claimed, and the controllers are created."""

from __future__ import annotations

import dataclasses
import datetime
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.sagemaker.code.packing import Package
from backends.sagemaker.code.project import pack_project
from backends.sagemaker.code.upload import upload_code
from backends.sagemaker.controllers.creation import create_controller
from backends.sagemaker.controllers.options import ControllerOptions, controller_options
from backends.sagemaker.controllers.request import controller_name, controller_request
from backends.sagemaker.jobs.resolve_options import ROLE_VARIABLE
from backends.stop_mark import lift
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.remote.console import ConsoleMetrics, console_metrics
from benchmarking.remote.generations import claim_generation
from benchmarking.remote.launch_record import TUNING_METRICS, LaunchRecord, RunMoney, SentPackage, as_json, commit_state, from_json
from benchmarking.remote.layout import LAUNCH, STUDY, generation_key
from benchmarking.studies.record import StudyRecord
from benchmarking.studies.record import as_json as study_as_json
from definitions import __version__
from definitions.errors import OutriderError, UserError
from definitions.program import command
from definitions.remote import RemoteOptions, joined_remote
from launch.dry_run import DryRun, dry_run
from launch.launching.laptop_only import check_travels
from launch.launching.money import controllers_usd, divided, limited_specs, trials_are_billed, with_rest, words
from launch.launching.place import RunPlace, place_of
from launch.launching.requirements import ASKED, LOCK, NO_LOCK, joined, needed, of_benchmarks, pinned
from launch.launching.shown import left_out_text
from launch.launching.sources import Outgoing, code_key, outgoing_data, outgoing_sources
from launch.launching.study import Travelling, backends_of, travelling
from launch.launching.tracked import check_trackers, tracker_environment, tracker_packages, tracker_words
from launch.launching.trials_inside import with_benchmarks_own
from launch.planning import Planned
from launch.request import RunRequest

ROOT = Path(__file__).resolve().parents[2]
"""Folder that holds Outrider's own packages."""
_NAMED_BY_LAUNCH = ("instance_type", "count", "max_run_s", "generations", "spot", "restarts", "volume_gb")
"""Options of controllers that launch.json says; role, image and network would name an account."""


@dataclass(frozen=True)
class Launching:
    """What would be launched, all of it checked, nothing of it created.

    Args:
        place: where the run is kept.
        specs: its experiments.
        travelling: the study as it is sent.
        options: of the controllers.
        project: Outrider's own packages.
        sources: benchmark -> its source.
        data: path -> the folder or file there.
        requirements: that are installed in controllers.
        outlook: what trials would do, take and cost.
        money: how max_cost is divided between controllers and trials; `trials_are_billed`: whether trials cost anything beside controllers.
        notes: what somebody has to know, a line each.
        child: further words for the command in a controller.
    """

    place: RunPlace
    specs: Sequence[ExperimentSpec]
    travelling: Travelling
    options: ControllerOptions
    project: Package
    sources: Mapping[str, Outgoing]
    data: Mapping[str, Outgoing]
    requirements: Sequence[str]
    outlook: DryRun
    money: RunMoney
    trials_are_billed: bool
    notes: tuple[str, ...] = ()
    child: tuple[str, ...] = ()


@dataclass(frozen=True)
class Launched:
    """A run that was launched.

    Args:
        place: where it is kept.
        record: what launch.json says.
        jobs: names of the controllers that were accepted.
        notes: what was not as it was asked for, a line each.
    """

    place: RunPlace
    record: LaunchRecord
    jobs: tuple[str, ...]
    notes: tuple[str, ...] = ()


@contextmanager
def launching(planned: Planned, request: RunRequest, environ: Mapping[str, str]) -> Iterator[Launching]:
    """Give what would be launched, while its packages can be written.

    Args:
        planned: the study.
        request: that it was planned of.
        environ: of the launcher.

    Raises:
        UserError, CloudError: it cannot be launched; nothing was created.
    """
    specs, tag = planned.specs, planned.specs[0].tag
    asked = joined_remote({spec.definition.name: spec.definition.remote for spec in specs})
    asked = with_benchmarks_own(asked, request, specs)
    notes = check_travels(specs, asked, environ)
    place = place_of(specs, asked, tag, environ)
    check_trackers(request.track, environ, emulated=place.clients.emulated)
    check_free(place, request)
    sent = travelling(planned, request)
    sources = outgoing_sources(specs)
    lines = requirements_of(specs, asked, tracker_packages(request.track, environ), emulated=place.clients.emulated)
    found = dry_run(specs, environ, sent.study)
    options = controller_options(
        asked,
        region=place.clients.region,
        environ=environ,
        emulated=place.clients.emulated,
        longest_s=found.longest_s,
        count=len(specs) if any(backends_of(specs).values()) else 1,
        environment=controller_environment(place, sent.role, environ) | tracker_environment(request.track, environ),
    )
    shown = console_metrics(specs) if asked.tuning_metrics is not False else ConsoleMetrics({})
    options = dataclasses.replace(options, metrics=shown.expressions)
    billed = any(trials_are_billed(backend) for backend in backends_of(specs))
    usd = controllers_usd(options, place.clients.region, found.longest_s, found.serial_s)
    money = divided(sent.study.flags.max_cost, usd, billed=billed, about="launch", instance_type=options.instance_type)
    rest = with_rest(planned, sent.study, money)
    if rest != sent.study:
        sent, specs = dataclasses.replace(sent, study=rest), tuple(limited_specs(specs, rest))
        found = _within(money, specs, environ, rest)
    with tempfile.TemporaryDirectory() as scratch:
        project, data = pack_project(lines, Path(scratch)), outgoing_data(specs)
        said = (*planned.notes, *notes, *left_out_text(shown))
        yield Launching(place, specs, sent, options, project, sources, data, lines, found, money, billed, said, child_words(request))


def _within(money: RunMoney, specs: Sequence[ExperimentSpec], environ: Mapping[str, str], study: StudyRecord) -> DryRun:
    """Return what trials do with what is left for them; what is refused now was not with the whole limit, so it is told of what is left."""
    try:
        return dry_run(specs, environ, study)
    except UserError as error:
        fact = "\n  ".join(part for part in (error.asked, error.fact) if part)
        raise UserError(
            f"launch: {words(money)}", fact, error.advice or "give more, as the part of controllers is set aside first"
        ) from error


def check_free(place: RunPlace, request: RunRequest) -> None:
    """Raise `UserError` where the tag is taken, in the bucket or among the results here.

    Args:
        place: where the run would be kept.
        request: whose results would be collected here.
    """
    # The bucket first, as what was collected of a run is here while the run can be gone on with there.
    there = place.store.get(LAUNCH) if not place.is_own or _exists(place) else None
    if there is not None:
        raise _taken(place, from_json(there.body, f"{place.uri}/{LAUNCH}"))
    if (request.results_dir / place.tag).is_dir():
        raise UserError(
            f"launch: tag {place.tag!r} is taken by results in {request.results_dir / place.tag}",
            "what is collected later would go into the same folder",
            "use another --experiment_tag; or --results_dir",
        )


def requirements_of(specs: Sequence[ExperimentSpec], asked: RemoteOptions, trackers: Sequence[str] = (), *, emulated: bool) -> list[str]:
    """Return what is installed in the controllers of some experiments; raises `UserError` where two things exclude each other.

    Args:
        specs: the experiments.
        asked: what the `remote:` blocks say.
        trackers: packages that tell them.
        emulated: whether jobs run on this machine, which has what the launcher has.
    """
    own = pinned([*needed(specs, emulated=emulated), *trackers], NO_LOCK if emulated else LOCK)
    return joined(own, {ASKED: asked.requirements or (), **of_benchmarks(specs)})


def launch(plan: Launching, say: Callable[[str], None], *, nonce: str = "", now: datetime.datetime | None = None) -> Launched:
    """Send what travels, claim the tag, and create the controllers.

    Where the first controller is refused nothing is left but packages, which the next launch finds; where a later one is, the others share
    its experiments.

    Args:
        plan: from `launching`.
        say: told how far it is.
        nonce: tells this launch from all others; drawn where empty.
        now: drawn from the clock where None.

    Raises:
        UserError, CloudError: the tag was taken meanwhile, or AWS refuses.
    """
    place = plan.place
    place.make_bucket()
    client = place.clients.get("s3")
    for package, what in [(plan.project, "outrider"), *((one.package, name) for name, one in (*plan.sources.items(), *plan.data.items()))]:
        say(f"{what}: {len(package.entries)} files, {package.size_bytes / 1e6:.1f} MB, as {package.hash}")
        upload_code(package, client, place.bucket, place.prefix)
    record = LaunchRecord(
        tag=place.tag,
        nonce=nonce or secrets.token_hex(4),
        created_at=(now or datetime.datetime.now(datetime.UTC)).isoformat(timespec="seconds"),
        version=__version__,
        code=SentPackage(code_key(plan.project), plan.project.hash, git=commit_state(ROOT)),
        sources={name: one.sent for name, one in plan.sources.items()},
        data={path: one.sent for path, one in plan.data.items()},
        controller={**{name: getattr(plan.options, name) for name in _NAMED_BY_LAUNCH}, TUNING_METRICS: bool(plan.options.metrics)},
        child=plan.child,
        money=plan.money,
    )
    store = place.store
    if not store.create(LAUNCH, as_json(record).encode()):
        there = store.get(LAUNCH)
        raise _taken(place, record if there is None else from_json(there.body, f"{place.uri}/{LAUNCH}"))
    if lift(store) is not None:
        say(f"the mark to stop, which an earlier `{command('stop', place.tag)}` left, is lifted")
    store.put(STUDY, study_as_json(plan.travelling.study).encode())
    return _created(plan, record)


def _created(plan: Launching, record: LaunchRecord) -> Launched:
    place, store = plan.place, plan.place.store
    jobs: list[str] = []
    notes: list[str] = []
    for index in range(1, plan.options.count + 1):
        name = controller_name(place.tag, record.nonce, index, 1)
        claim_generation(store, record.nonce, index, 1, name, record.created_at)
        try:
            create_controller(place.clients, _request(plan, record, index))
        except OutriderError as error:
            store.delete([generation_key(index, 1)])
            if not jobs:
                store.delete([STUDY, LAUNCH])
                raise
            notes.append(f"{len(jobs)} of {plan.options.count} controllers were accepted, which share all experiments: {error}")
            break
        jobs.append(name)
    return Launched(place, record, tuple(jobs), tuple(notes))


def _request(plan: Launching, record: LaunchRecord, index: int) -> dict[str, Any]:
    place = plan.place
    return controller_request(plan.options, place.tag, record.nonce, index, 1, place.uri, f"{place.shared_uri}/{record.code.key}")


def child_words(request: RunRequest) -> tuple[str, ...]:
    """Return the flags that hold for the command in a controller too, where they are in no study."""
    return (*(f"--{name}" for name in ("accept_changes", "verbose") if getattr(request, name)), *tracker_words(request.track))


def controller_environment(place: RunPlace, role: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a controller: where it is, and with which role its trials run.

    Args:
        place: where the run is kept.
        role: ARN that definitions name; empty for that of the environment.
        environ: of the launcher.
    """
    found = role or environ.get(ROLE_VARIABLE, "")
    return {"AWS_DEFAULT_REGION": place.clients.region, **({ROLE_VARIABLE: found} if found else {})}


def _exists(place: RunPlace) -> bool:
    from backends.sagemaker.aws.errors import FailureKind, failure_of

    try:
        place.clients.get("s3").head_bucket(Bucket=place.bucket)
    except Exception as error:
        failure = failure_of(error)
        if failure is not None and failure.kind is FailureKind.MISSING:
            return False
        raise
    return True


def _taken(place: RunPlace, there: LaunchRecord) -> UserError:
    resume, status = place.found_by("launch", "--resume", place.tag), place.found_by("status", place.tag)
    return UserError(
        f"launch: tag {place.tag!r} is taken: it was launched at {there.created_at}",
        "two runs of one tag would be one",
        f"`{resume}` goes on with it, `{status}` shows it; or use another --experiment_tag",
    )
