"""study.json in the store: changed as a whole, and never over a change of somebody else that was not seen."""

from __future__ import annotations

from dataclasses import replace

from backends.object_store import ObjectStore
from benchmarking.remote.layout import STUDY
from benchmarking.studies.record import StudyRecord, as_json, from_json
from definitions.errors import UserError

_TRIES = 8


def share_study(store: ObjectStore, before: StudyRecord | None, study: StudyRecord) -> None:
    """Bring a study that was changed here to the store.

    Args:
        store: of the run.
        before: the study as it was here before it was changed; None where there was none.
        study: as it is to be.

    Raises:
        UserError: somebody else has changed it meanwhile, or the store has another; nothing was written.
        OutriderError: the store refuses.
    """
    body = as_json(study).encode()
    for _ in range(_TRIES):
        there = store.get(STUDY)
        if there is None:
            if store.create(STUDY, body):
                return
            continue
        known = from_json(there.body.decode(), f"{store.uri}/{STUDY}")
        if _core(known) == _core(study):
            return
        if before is None or _core(known) != _core(before):
            raise UserError(
                f"{store.uri}/{STUDY} is another than the study here was before it was changed",
                f"it has {len(known.experiments)} experiments, the one here had {0 if before is None else len(before.experiments)}",
                "somebody else has changed it: collect the run, then ask for the change again",
            )
        if store.replace(STUDY, body, there.etag) is not None:
            return
    raise UserError(f"{store.uri}/{STUDY} is changed over and over by others", "", "do the same again")


def _core(study: StudyRecord) -> StudyRecord:
    """Return what makes a study: not who looked at it, nor where on some machine the sources of its benchmarks are."""
    texts = {
        name: "\n".join(line for line in text.split("\n") if not line.startswith("source_dir:")) for name, text in study.definitions.items()
    }
    return replace(study, looks=(), definitions=texts)
