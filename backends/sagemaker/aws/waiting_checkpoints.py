"""Checkpoints for the loop's own thread: while credentials are expired they wait and say so. Used by the back-end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from backends.sagemaker.aws.errors import CloudError, Kind
from backends.sagemaker.aws.s3 import S3Checkpoints

logger = logging.getLogger(__name__)

_PAUSE_S = 15.0


class WaitingCheckpoints(S3Checkpoints):
    """Checkpoints whose calls are made again, for as long as it takes, where nothing but credentials is missing.

    Args:
        arguments: of `S3Checkpoints`.
        renew: has credentials looked up anew.
        sleep: waits so many seconds.
    """

    def __init__(self, *arguments: Any, renew: Callable[[], None], sleep: Callable[[float], None], **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._renew, self._sleep = renew, sleep

    def copy(self, source: str, target: str) -> None:
        """Copy a checkpoint; see `S3Checkpoints.copy`."""
        self._until_allowed(lambda: super(WaitingCheckpoints, self).copy(source, target))

    def delete(self, keys: Sequence[str]) -> None:
        """Delete checkpoints; see `S3Checkpoints.delete`."""
        self._until_allowed(lambda: super(WaitingCheckpoints, self).delete(keys))

    def exists(self, key: str) -> bool:
        """Return whether the key has a checkpoint that is not empty."""
        return bool(self._until_allowed(lambda: super(WaitingCheckpoints, self).exists(key)))

    def _until_allowed(self, call: Callable[[], Any]) -> Any:
        while True:
            try:
                return call()
            except CloudError as error:
                if error.refusal.kind is not Kind.CREDENTIALS:
                    raise
                # The loop, which would tell it otherwise, is what waits here.
                logger.warning("%s; the run goes on by itself then", error)
            self._sleep(_PAUSE_S)
            self._renew()
