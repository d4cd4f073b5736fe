"""Sends the code of a launched run anew, as it is on this machine now: the sources of its benchmarks, and Outrider itself."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from backends.sagemaker.code.packing import Package, pack
from backends.sagemaker.code.project import pack_project
from backends.sagemaker.code.upload import upload_code
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.remote.launch_record import REQUIREMENTS, LaunchRecord, SentPackage, as_json, commit_state
from benchmarking.remote.layout import LAUNCH
from definitions import __version__
from definitions.errors import UserError
from definitions.remote import joined_remote
from launch.launching.bringing import bring
from launch.launching.launching import ROOT, requirements_of
from launch.launching.place import RunPlace
from launch.launching.sources import code_key
from launch.launching.tracked import tracker_packages, trackers_in
from launch.planning import plan
from launch.request import RunRequest
from launch.study_request import with_study

ACCEPTED = "--accept_changes"


def renew(place: RunPlace, record: LaunchRecord, request: RunRequest) -> tuple[LaunchRecord, str]:
    """Send what has changed since a run was launched, and return its record as it is then, and in words what was sent.

    Trials say which version of the code they measured, and a controller that goes on with another one is told that this is meant.

    Args:
        place: where the run is kept.
        record: of the launch.
        request: that resumes its tag.

    Raises:
        UserError: a source is not on this machine, or cannot travel.
    """
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        bring(place, record, here)
        specs = plan(with_study(_plain(request, here))).specs
        sources = {name: _packed(name, record.sources[name], specs) for name in record.sources}
        asked = joined_remote({spec.definition.name: spec.definition.remote for spec in specs})
        if (named := record.controller.get(REQUIREMENTS)) is not None:
            asked = asked.model_copy(update={"requirements": tuple(named)})
        trackers = tracker_packages(trackers_in(record.child), os.environ)
        project = pack_project(requirements_of(specs, asked, trackers, emulated=place.clients.emulated), here)
        client, said = place.clients.get("s3"), []
        for name, package, before in (
            *((name, one, record.sources[name]) for name, one in sources.items()),
            ("outrider", project, record.code),
        ):
            if package.hash != before.hash:
                upload_code(package, client, place.bucket, place.prefix)
                said.append(f"{name} as it is now ({package.hash}, it was {before.hash})")
    if not said:
        return record, "its code is as it was launched"
    renewed = dataclasses.replace(
        record,
        version=__version__,
        code=_sent(project, record.code, ROOT),
        sources={name: _sent(one, record.sources[name], Path(record.sources[name].source_dir)) for name, one in sources.items()},
        child=tuple(dict.fromkeys((*record.child, ACCEPTED))),
    )
    place.store.put(LAUNCH, as_json(renewed).encode())
    return renewed, f"sent: {', '.join(said)}"


def _plain(request: RunRequest, here: Path) -> RunRequest:
    """Return a request that goes on with the same tag in another folder, and adds nothing."""
    return RunRequest(resume=request.resume, results_dir=here, cache_dir=request.cache_dir, accept_changes=True)


def _packed(name: str, sent: SentPackage, specs: Sequence[ExperimentSpec]) -> Package:
    folder = Path(sent.source_dir)
    definition = next(spec.definition for spec in specs if spec.definition.name == name)
    if not folder.is_dir():
        raise UserError(
            f"launch --resume with {ACCEPTED}: the source of {name} was {folder}",
            "there is no such folder on this machine, so that nothing newer can be sent",
            f"leave {ACCEPTED} out to go on with the source that was launched, or do it where the source is",
        )
    if definition.script is not None and not (folder / definition.script).is_file():
        raise UserError(f"launch --resume with {ACCEPTED}: {folder / definition.script}", "the script is no longer there", "bring it back")
    return pack(folder, definition.include)


def _sent(package: Package, before: SentPackage, folder: Path) -> SentPackage:
    if package.hash == before.hash:
        return before
    return SentPackage(code_key(package), package.hash, before.source_dir, commit_state(folder))
