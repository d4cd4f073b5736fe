"""Goes on here with a launched run: its state is brought here, and what it does from now on is kept where it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from backends.stop_mark import lift
from definitions.errors import UserError
from launch.launching.bringing import bring
from launch.launching.extending import extend, extends
from launch.launching.place import RunPlace
from launch.launching.resuming import launched_run, refuse_live, standings
from launch.request import RunRequest


def take_over(place: RunPlace, request: RunRequest, say: Callable[[str], None]) -> RunRequest:
    """Bring a launched run here and return the request by which it goes on.

    Args:
        place: where it is kept.
        request: that resumes its tag.
        say: told what is done.

    Raises:
        UserError: there is no such run, a controller of it is at work, or the folder here holds another run.
    """
    what = f"--resume {place.tag} --take_over"
    if request.resume != place.tag:
        raise UserError("--take_over", "it goes on with a launched run", "say with which: --resume TAG --take_over")
    record = launched_run(place, what)
    refuse_live(place, standings(place, record), what)
    lift(place.store)
    if extends(request):
        # There first: what is brought here is what is there.
        said = extend(place, record, request)
        if said:
            say(said)
        record = launched_run(place, what)
    found = bring(place, record, request.results_dir)
    say(f"{place.tag}: {len(found.experiments)} experiments brought here, {found.records} new records")
    return replace(request, launched_remotely=place.uri)
