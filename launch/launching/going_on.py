"""Goes on with a launched run in the cloud: with what is added to its study, sent anew, or asked of its controllers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from benchmarking.remote.launch_record import LaunchRecord, as_json
from benchmarking.remote.layout import LAUNCH
from definitions.errors import UserError
from definitions.program import command
from launch.launching.changing import asked_options, changed_record
from launch.launching.extending import extend, extends
from launch.launching.launching import Launched
from launch.launching.place import RunPlace, place_named
from launch.launching.renewing import ACCEPTED, renew
from launch.launching.resuming import launched_run, refuse_live, requests_of, resume, standings
from launch.request import RunRequest

_CAPS = ("budget.max_cost", "max_cost")


def go_on(request: RunRequest, environ: Mapping[str, str], at: str, say: Callable[[str], None]) -> Launched:
    """Create the next generation of the controllers of the run that a request resumes.

    Args:
        request: says what is to be otherwise than it was.
        environ: of the launcher.
        at: now, UTC.
        say: told what is done.

    Raises:
        UserError: there is no such run, a controller of it is at work, or what is asked for cannot be.
        CloudError: AWS refuses.
    """
    what = f"launch --resume {request.resume}"
    if request.dry_run:
        raise UserError(f"{what} with --dry_run", "what it costs was said when it was launched", "leave one of them out")
    if request.track:
        bring = command("export", request.resume, "--to", request.track[0])
        raise UserError(f"{what} with --track", "a run has the trackers with which it was launched", f"once collected: `{bring}`")
    asked = asked_options(request.settings, request.backend_name)
    place = place_named(request.resume, environ, region=asked.region, bucket=asked.bucket, prefix=asked.prefix)
    record = launched_run(place, what)
    there = standings(place, record)
    refuse_live(place, there, what)
    requests_of(place, record, there, asked, environ, {})  # for what it refuses, before anything is changed
    if asked.requirements is not None and not request.accept_changes:
        raise UserError(
            f"{what} with --remote_requirements",
            "what is installed in controllers was sent with Outrider itself, which stays as it was launched",
            f"add {ACCEPTED}, which sends both anew",
        )
    is_capped = any(text.partition("=")[0] in _CAPS for text in request.settings)
    changed = changed_record(record, asked, region=place.clients.region, is_capped_anew=is_capped)
    if request.verbose and "--verbose" not in changed.child:
        changed = dataclasses.replace(changed, child=("--verbose", *changed.child))
    if extends(request):
        added = extend(place, changed, request)
        if added:
            say(added)
    changed = _kept(place, record, changed, what)
    if request.accept_changes:
        _, sent = renew(place, changed, request)
        say(sent)
    return resume(place, asked, environ, at, say)


def _kept(place: RunPlace, before: LaunchRecord, changed: LaunchRecord, what: str) -> LaunchRecord:
    """Have launch.json say what has changed, beside what was added to the study, and return what it says then."""
    there = launched_run(place, what)
    money = there.money if there.money != before.money else changed.money
    found = dataclasses.replace(there, controller=changed.controller, child=changed.child, money=money)
    if found != there:
        place.store.put(LAUNCH, as_json(found).encode())
    return found
