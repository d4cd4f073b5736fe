"""Trackers by kind: MLflow, and the services of back-ends that keep experiments."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from importlib import import_module

from backends.tracked import Tracker
from definitions.backend_registry import backend_description, backend_names
from definitions.errors import UserError, did_you_mean

MLFLOW = "mlflow"


def tracker_names() -> tuple[str, ...]:
    """Return the kinds of trackers that there are."""
    return (MLFLOW, *_of_backends())


def check_tracker(kind: str, environ: Mapping[str, str]) -> None:
    """Raise `UserError` where a tracker of this kind cannot be told at all, as far as that is known without calling it."""
    if kind == MLFLOW:
        from benchmarking.tracking.mlflow.tracker import check_installed, check_uri

        uri = environ.get("MLFLOW_TRACKING_URI", "")
        check_uri(uri)
        check_installed(uri)
    elif kind not in _of_backends():
        raise UserError(f"tracker {kind!r}: there is none of this name", did_you_mean(kind, tracker_names()))
    else:
        _made(kind, environ)


def make_tracker(kind: str, environ: MutableMapping[str, str]) -> Tracker:
    """Return a tracker.

    Args:
        kind: one of `tracker_names`.
        environ: where addresses and credentials are found; MLflow's client gets its limits by it.

    Raises:
        UserError: as `check_tracker`.
        TrackerError: it cannot be made now.
    """
    if kind not in _of_backends():
        check_tracker(kind, environ)
        from benchmarking.tracking.mlflow.tracker import MlflowTracker, set_limits

        set_limits(environ)
        return MlflowTracker(environ.get("MLFLOW_TRACKING_URI", ""))
    return _made(kind, environ)


def _made(kind: str, environ: Mapping[str, str]) -> Tracker:
    """Return the tracker of a back-end, of which no call was made yet."""
    module, _, attribute = _of_backends()[kind].partition(":")
    made: Tracker = getattr(import_module(module), attribute)(environ)
    return made


def _of_backends() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in backend_names():
        tracker = backend_description(name).tracker
        if tracker and tracker not in found.values():
            found[name] = tracker
    return found
