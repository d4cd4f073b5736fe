"""The experiments of a launched study, as its controllers share them: each takes the next that nobody has."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

from backends.object_store import ObjectStore
from backends.sagemaker.controllers.own_job import service
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.remote.claims import Claims
from benchmarking.remote.controller_word import read_word
from benchmarking.remote.generations import latest_generation
from benchmarking.remote.layout import experiment_key
from definitions.errors import OutriderError

CONTROLLER_VARIABLE, GENERATION_VARIABLE = "OUTRIDER_REMOTE_CONTROLLER", "OUTRIDER_REMOTE_GENERATION"
"""Variables that tell the processes of a controller's job which one they are of."""
KEPT_S = 30.0
"""Seconds for which it is taken that another controller is as it was."""
_OVER = ("Completed", "Failed", "Stopped")


class SharedList:
    """Which experiments are this controller's to run.

    Args:
        claims: of the run.
    """

    def __init__(self, claims: Claims) -> None:
        self._claims = claims

    def holder(self, spec: ExperimentSpec) -> str:
        """Claim an experiment; return who has it in words, empty where it is this controller's now.

        Raises:
            OutriderError: the store refuses.
        """
        found = self._claims.holder(experiment_key(spec.definition.name, spec.method, spec.backend, spec.number))
        return "" if found is None else found.words


def shared_list(
    uri: str,
    environ: Mapping[str, str],
    make_store: Callable[[str, Mapping[str, str]], ObjectStore],
    make_client: Callable[[Mapping[str, str]], Any] | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> SharedList | None:
    """Return what a controller shares with others; None where this process is of no controller's job.

    Args:
        uri: of the run; empty for one that was not launched.
        environ: of this process.
        make_store: returns the store at a URI.
        make_client: returns a client of SageMaker; None for that of the region of this process.
        monotonic: a clock in seconds.
    """
    if not uri or CONTROLLER_VARIABLE not in environ:
        return None
    store = make_store(uri, environ)
    known: dict[int, tuple[float, bool]] = {}
    client = functools.cache(lambda: (make_client or service)(environ))

    def gone(controller: int) -> bool:
        now = monotonic()
        if controller not in known or now >= known[controller][0] + KEPT_S:
            known[controller] = now, is_gone(store, controller, client())
        return known[controller][1]

    return SharedList(Claims(store, int(environ[CONTROLLER_VARIABLE]), int(environ[GENERATION_VARIABLE]), time.time, gone))


def is_gone(store: ObjectStore, controller: int, client: Any) -> bool:
    """Return whether a controller is over for good: the job of its last generation has ended, so that nothing follows by itself.

    Args:
        store: of the run.
        controller: which.
        client: of SageMaker.

    Raises:
        OutriderError: the store refuses.
    """
    last = latest_generation(store, controller)
    if last is None:
        return True
    try:
        status = str(client.describe_training_job(TrainingJobName=last.job)["TrainingJobStatus"])
    except Exception as error:
        if not _is_of_aws(error):
            raise
        # Its own word, then; without one it may be about to begin.
        word = read_word(store, controller)
        return word is not None and word.generation == last.generation and word.state.is_final
    return status in _OVER


def _is_of_aws(error: Exception) -> bool:
    from backends.sagemaker.aws.errors import failure_of

    return not isinstance(error, OutriderError) and failure_of(error) is not None
