"""What stands in place of Ray Tune's own names while a script is run as one trial."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .session import TrialContext, TuneSession

_WHERE_THEY_ARE = ("ray.tune", "ray.train", "ray.air.session")


@dataclass(frozen=True)
class ToRun:
    """What is to be run: a function or a class, the `param_space` around its `config`, when it is over, how often it is checkpointed."""

    trainable: Any
    space: Mapping[str, Any]
    stop: Any = None
    checkpoint_frequency: int = 1


class TrialTuner:
    """In place of `ray.tune.Tuner`: says what is to be tuned, and tunes nothing."""

    told: ClassVar[Callable[[ToRun], None]]

    def __init__(self, trainable: Any = None, *, param_space: Any = None, run_config: Any = None, **_: Any) -> None:
        kept = getattr(run_config, "checkpoint_config", None)
        self._found = ToRun(trainable, param_space or {}, getattr(run_config, "stop", None), getattr(kept, "checkpoint_frequency", 0) or 1)

    @classmethod
    def restore(cls, path: str, trainable: Any = None, **more: Any) -> TrialTuner:
        """Return one for the same trainable; Outrider has its own way to go on."""
        del path
        return cls(trainable, **more)

    def fit(self) -> None:
        """Run the trial in place of all that would be tuned."""
        type(self).told(self._found)


def bridge(session: TuneSession, told: Callable[[ToRun], None]) -> None:
    """Let everything of Ray that reports, or that tunes, do so here, by whatever name it has been or will be imported.

    Args:
        session: of the trial.
        told: is given what a script would tune, and does not return.
    """

    def run(run_or_experiment: Any, *, config: Any = None, stop: Any = None, checkpoint_freq: int = 0, **_: Any) -> None:
        told(ToRun(run_or_experiment, config or {}, stop, checkpoint_freq or 1))

    instead: dict[str, Any] = {"report": session.report, "get_checkpoint": session.checkpoint, "get_context": lambda: TrialContext()}
    tunes = {"Tuner": type("Tuner", (TrialTuner,), {"told": staticmethod(told)}), "run": run}
    replaced: dict[int, Any] = {}
    for place in _WHERE_THEY_ARE:
        try:
            module = importlib.import_module(place)
        except ImportError:
            if place == "ray.tune":
                raise
            continue
        for name, ours in {**instead, **(tunes if place == "ray.tune" else {})}.items():
            if callable(getattr(module, name, None)):
                replaced[id(getattr(module, name))] = ours
    for module in [one for name, one in sys.modules.items() if name.startswith("ray.") and isinstance(one, types.ModuleType)]:
        for name, value in [*vars(module).items()]:
            if id(value) in replaced:
                setattr(module, name, replaced[id(value)])
