"""Adds to a launched study before it is resumed: seeds, methods, benchmarks, larger budgets."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

from backends.sagemaker.code.upload import upload_code
from benchmarking.remote.launch_record import LaunchRecord, as_json
from benchmarking.remote.layout import LAUNCH, STUDY
from benchmarking.studies.record import as_json as study_as_json
from benchmarking.studies.record import titles
from definitions.errors import UserError
from launch.launching.bringing import bring
from launch.launching.money import set_aside_again
from launch.launching.place import RunPlace
from launch.launching.sources import outgoing_sources
from launch.launching.study import travelling
from launch.planning import plan
from launch.remote.sources import pointed
from launch.request import RunRequest
from launch.study_request import with_study


def extends(request: RunRequest) -> bool:
    """Return whether a request that resumes a tag asks for more than to go on."""
    settings = [text for text in request.settings if not text.startswith("remote.")]
    return bool(request.benchmark or request.method or request.num_seeds is not None or settings or request.study or request.parallel)


def extend(place: RunPlace, record: LaunchRecord, request: RunRequest) -> str:
    """Add to a launched study what a request asks for, and return in words what that is; empty where it is all there.

    Args:
        place: where the run is kept.
        record: of the launch.
        request: that resumes its tag.

    Raises:
        UserError: it contradicts the study, or somebody else changed the study meanwhile.
    """
    store = place.store
    there = store.get(STUDY)
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        bring(place, record, here)
        planned = plan(with_study(dataclasses.replace(request, results_dir=here)))
        before = planned.before
        if planned.study is None or before is None or there is None or planned.study == before:
            return ""
        planned, money = set_aside_again(planned, record)
        if planned.study == before:
            return ""
        study = travelling(planned, request).study
        new = [spec for spec in planned.specs if spec.definition.name not in record.sources]
        sources = outgoing_sources(new)
    for one in sources.values():
        upload_code(one.package, place.clients.get("s3"), place.bucket, place.prefix)
    if sources:
        sent = {**record.sources, **{name: one.sent for name, one in sources.items()}}
        record = dataclasses.replace(record, sources=sent)
        store.put(LAUNCH, as_json(record).encode())
    # Where each source was, and not where it is for this moment.
    places = {name: sent.source_dir for name, sent in record.sources.items()}
    texts = {name: pointed(text, Path(places[name])) if name in places else text for name, text in study.definitions.items()}
    study = dataclasses.replace(study, definitions=texts)
    if store.replace(STUDY, study_as_json(study).encode(), there.etag) is None:
        raise UserError(f"launch --resume {place.tag}: its study was changed meanwhile", "somebody else adds to it", "try again")
    if money != record.money:
        store.put(LAUNCH, as_json(dataclasses.replace(record, money=money)).encode())
    known = {one.key for one in before.experiments}
    added = [one for one in study.experiments if one.key not in known]
    return f"added: {titles(added)}" if added else "the study's budget or options are changed"
