"""Which controller of a run runs which experiment: claimed by a conditional write, so that nothing is run by two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from backends.object_store import ObjectStore
from benchmarking.remote.layout import claim_key
from definitions import strict_json


@dataclass(frozen=True)
class Claim:
    """Who runs an experiment.

    Args:
        controller, generation: who; both count from 1.
        at: since when, in seconds since 1970 by that controller's clock.
    """

    controller: int
    generation: int
    at: float

    @property
    def words(self) -> str:
        """Who that is, in words."""
        return f"controller {self.controller}, generation {self.generation}"


class Claims:
    """The claims of one run's experiments.

    Args:
        store: of the run.
        controller, generation: who asks.
        now: seconds since 1970.
        is_gone: whether a controller is over for good, so that others may go on with what it had.
    """

    def __init__(
        self, store: ObjectStore, controller: int, generation: int, now: Callable[[], float], is_gone: Callable[[int], bool]
    ) -> None:
        self._store, self._controller, self._generation = store, controller, generation
        self._now, self._is_gone = now, is_gone

    def holder(self, experiment: str) -> Claim | None:
        """Claim an experiment, and return None where it is this controller's now; else who has it.

        A generation takes over what earlier ones of its controller had, and anybody what a controller had that is over for good. An earlier
        generation that still runs, as it was frozen say, takes nothing from a later one.

        Args:
            experiment: as `layout.experiment_key` names it.

        Raises:
            OutriderError: the store refuses.
        """
        key = claim_key(experiment)
        mine = Claim(self._controller, self._generation, self._now())
        if self._store.create(key, _body(mine)):
            return None
        while (there := self._store.get(key)) is not None:
            found = _read(there.body)
            if found is not None:
                own = found.controller == self._controller
                if own and found.generation == self._generation:
                    return None
                if found.generation > self._generation if own else not self._is_gone(found.controller):
                    return found
            # Of an earlier generation, of a controller that is gone, or damaged: whoever replaces it first has it.
            if self._store.replace(key, _body(mine), there.etag) is not None:
                return None
        return None if self._store.create(key, _body(mine)) else self.holder(experiment)


def _body(claim: Claim) -> bytes:
    return (strict_json.dumps(asdict(claim)) + "\n").encode()


def _read(body: bytes) -> Claim | None:
    try:
        data = strict_json.loads(body.decode())
        return Claim(int(data["controller"]), int(data["generation"]), float(data["at"]))
    except (ValueError, KeyError, TypeError):
        return None
