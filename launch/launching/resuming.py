"""Goes on with a launched run from anywhere: the next generation of its controllers, once none of them is at work any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backends.sagemaker.controllers.creation import ShownController, create_controller, shown, tags_of
from backends.sagemaker.controllers.options import controller_options
from backends.sagemaker.controllers.request import CONTROLLER_KEY, controller_name, controller_request, successor_request
from backends.sagemaker.jobs.resolve_options import ROLE_VARIABLE
from backends.stop_mark import lift
from benchmarking.remote.generations import Generation, claim_generation, latest_generation
from benchmarking.remote.launch_record import LaunchRecord, from_json
from benchmarking.remote.layout import LAUNCH
from benchmarking.studies.record import StudyRecord
from definitions.errors import OutriderError, UserError
from definitions.remote import RemoteOptions
from launch.launching.changing import changed_request
from launch.launching.launching import Launched, controller_environment
from launch.launching.money import trials_are_billed
from launch.launching.place import RunPlace
from launch.launching.shown import left_out_text, metrics_shown, study_of

_OF_RECORD = ("instance_type", "max_run", "restarts", "spot", "volume_gb")


@dataclass(frozen=True)
class ControllerStanding:
    """How a controller of a run stands.

    Args:
        index: of the controller, from 1.
        claim: its last generation; None where none was claimed.
        job: that generation's, as the service shows it; None where it was never created.
    """

    index: int
    claim: Generation | None
    job: ShownController | None


def launched_run(place: RunPlace, asked: str) -> LaunchRecord:
    """Return what launch.json says of a run.

    Args:
        place: where it is kept.
        asked: what wants it, for messages.

    Raises:
        UserError: there is none, or it is damaged.
    """
    found = place.store.get(LAUNCH)
    if found is None:
        raise UserError(
            f"{asked}: there is no launched run {place.tag!r} in {_masked(place.uri)}",
            "its launch.json says what was launched",
            "check the tag, --remote_bucket, --remote_prefix and --remote_region",
        )
    return from_json(found.body, f"{place.uri}/{LAUNCH}")


def standings(place: RunPlace, record: LaunchRecord) -> list[ControllerStanding]:
    """Return how the controllers of a run stand, those too that were never created."""
    found = []
    for index in range(1, record.count + 1):
        claim = latest_generation(place.store, index)
        found.append(ControllerStanding(index, claim, None if claim is None else shown(place.clients, claim.job)))
    return found


def refuse_live(place: RunPlace, there: Sequence[ControllerStanding], asked: str) -> None:
    """Raise `UserError` where the service shows that a controller of the run is at work, or about to be."""
    live = [one.job for one in there if one.job is not None and one.job.is_live]
    if live:
        raise UserError(
            f"{asked}: {', '.join(job.name for job in live)} {'is' if len(live) == 1 else 'are'} {live[0].state}",
            "two controllers of one run would be at work on the same experiments",
            f"`{place.found_by('status', place.tag)}` shows how it stands; `{place.found_by('stop', '--tag', place.tag)}` ends it first",
        )


def resume(place: RunPlace, asked: RemoteOptions, environ: Mapping[str, str], at: str, say: Callable[[str], None]) -> Launched:
    """Create the next generation of each controller of a run.

    Args:
        place: where it is kept.
        asked: options of controllers, in place of those of the generation before.
        environ: of the launcher.
        at: now, UTC.
        say: told what is done.

    Raises:
        UserError: there is no such run, or a controller of it is at work.
        CloudError: AWS refuses.
    """
    what = f"launch --resume {place.tag}"
    record = launched_run(place, what)
    there = standings(place, record)
    refuse_live(place, there, what)
    study = study_of(place)
    console = metrics_shown(place.tag, record, study)
    if all(one.job is None for one in there):
        check_role(study, what, environ, emulated=place.clients.emulated)
    # All of them before anything is changed: what is asked for may be refused.
    requests = requests_of(place, record, there, asked, environ, console.expressions)
    if lift(place.store) is not None:
        say("the mark to stop is lifted")
    jobs: list[str] = []
    notes = left_out_text(console)
    for one, request in zip(there, requests, strict=True):
        claim = claim_generation(place.store, record.nonce, one.index, _next(one), str(request["TrainingJobName"]), at)
        try:
            create_controller(place.clients, request)
        except OutriderError as error:
            # The claim stays: whoever resumes next creates this very job.
            if not jobs:
                raise
            notes.append(f"{len(jobs)} of {len(there)} controllers were accepted, which share all experiments: {error}")
            break
        jobs.append(claim.job)
    return Launched(place, record, tuple(jobs), tuple(notes))


def requests_of(
    place: RunPlace,
    record: LaunchRecord,
    there: Sequence[ControllerStanding],
    asked: RemoteOptions,
    environ: Mapping[str, str],
    metrics: Mapping[str, str],
) -> list[Mapping[str, Any]]:
    """Return the request of each controller's next generation: as the one before, else as that of another, but for what is asked for.

    Args:
        place: where the run is kept.
        record: of the launch.
        there: its controllers.
        asked: options in place of theirs.
        environ: of the launcher.
        metrics: name -> regular expression of what the console shows.

    Raises:
        UserError: what is asked for cannot be.
        CloudError: AWS refuses.
    """
    code_uri = f"{place.shared_uri}/{record.code.key}"
    template = next((one.job for one in there if one.job is not None), None)
    tags = [] if template is None else tags_of(place.clients, str(template.description["TrainingJobArn"]))
    found: list[Mapping[str, Any]] = []
    for one in there:
        source, generation = one.job or template, _next(one)
        if source is None:
            found.append(_anew(place, record, asked, environ, one.index, generation, metrics))
            continue
        name = controller_name(place.tag, record.nonce, one.index, generation)
        following = successor_request(source.description, _tags(tags, one.index), name, one.index, generation, code_uri, metrics)
        found.append(changed_request(following, asked, region=place.clients.region, environ=environ, emulated=place.clients.emulated))
    return found


def check_role(study: StudyRecord, asked: str, environ: Mapping[str, str], *, emulated: bool) -> None:
    """Raise `UserError` where nobody says with which role trials run, of a run that has no job yet from which that could be known.

    Args:
        study: of the run.
        asked: what wants it, for messages.
        environ: of the launcher.
        emulated: whether calls go to an emulator, for which any role does.
    """
    if not emulated and trials_are_billed(study.flags.backend) and not environ.get(ROLE_VARIABLE):
        raise UserError(
            f"{asked}: with which role do its trials run?",
            "no job of it was ever created, and what it keeps in S3 names no role",
            f"give it by the environment variable {ROLE_VARIABLE}",
        )


def _next(one: ControllerStanding) -> int:
    """Return the generation that follows: that which was claimed and never created, else one more."""
    if one.claim is None:
        return 1
    return one.claim.generation + (one.job is not None)


def _tags(tags: Sequence[Mapping[str, str]], index: int) -> list[dict[str, str]]:
    return [{**one, "Value": str(index)} if one["Key"] == CONTROLLER_KEY else dict(one) for one in tags]


def _anew(
    place: RunPlace,
    record: LaunchRecord,
    asked: RemoteOptions,
    environ: Mapping[str, str],
    index: int,
    generation: int,
    metrics: Mapping[str, str],
) -> dict[str, Any]:
    """Return the request of a controller of whose run no job was ever created, as launch.json, flags and environment say it."""
    known = {"max_run": record.controller.get("max_run_s"), **record.controller}
    options = controller_options(
        asked.model_copy(update={name: known.get(name) for name in _OF_RECORD if getattr(asked, name) is None}),
        region=place.clients.region,
        environ=environ,
        emulated=place.clients.emulated,
        longest_s=None,
        environment=controller_environment(place, "", environ),
    )
    generations = int(record.controller.get("generations", options.generations))
    options = replace(options, generations=generations, metrics=metrics)
    return controller_request(options, place.tag, record.nonce, index, generation, place.uri, f"{place.shared_uri}/{record.code.key}")


def _masked(text: str) -> str:
    from backends.sagemaker.aws.errors import masked

    return masked(text)
