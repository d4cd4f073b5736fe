"""Where components belong: experiments and trials that are made when the first component comes, the next one where one is full."""

from __future__ import annotations

from typing import Any

from backends.naming import TAG_KEY
from backends.sagemaker.block import allowed
from backends.sagemaker.experiments import names
from backends.sagemaker.experiments.calls import PacedCalls, RefusedCallError

_MOST_EXPERIMENTS = 1000


class Places:
    """The experiments and trials of one of our experiments.

    Args:
        calls: makes the calls.
    """

    def __init__(self, calls: PacedCalls) -> None:
        self._calls = calls
        self._tag, self._benchmark, self._prefix = "", "", ""
        self._made: set[str] = set()
        self._number = 1
        self._experiments: set[str] = set()

    def begin(self, tag: str, benchmark: str, prefix: str) -> None:
        """Go on with an experiment of ours; `prefix`: of its jobs' names."""
        if (tag, benchmark) != (self._tag, self._benchmark):
            self._number, self._experiments = 1, set()
        self._tag, self._benchmark, self._prefix, self._made = tag, benchmark, prefix, set()

    def put(self, component: str, trial: str) -> None:
        """Put a component into a trial, which is made where it is not there; raises `RefusedCallError`."""
        self.make(trial)
        self._calls.sagemaker("AssociateTrialComponent", TrialComponentName=component, TrialName=trial)

    def make(self, trial: str) -> None:
        """Make a trial, in the first experiment that has room; raises `RefusedCallError`."""
        if trial in self._made:
            return
        tags = _tags({TAG_KEY: self._tag, "outrider:experiment": self._prefix, "outrider:benchmark": self._benchmark})
        while True:
            experiment = names.experiment_name(self._tag, self._benchmark, self._number)
            try:
                self._make_experiment(experiment, tags)
                self._calls.sagemaker("CreateTrial", TrialName=trial, ExperimentName=experiment, Tags=tags)
            except RefusedCallError as error:
                if error.is_full and self._number < _MOST_EXPERIMENTS:
                    self._number += 1
                    continue
                if not error.is_taken:
                    raise
            self._made.add(trial)
            return

    def _make_experiment(self, name: str, tags: list[dict[str, str]]) -> None:
        if name in self._experiments:
            return
        try:
            self._calls.sagemaker(
                "CreateExperiment", ExperimentName=name, Tags=[tag for tag in tags if tag["Key"] != "outrider:experiment"]
            )
        except RefusedCallError as error:
            if not error.is_taken:
                raise
        self._experiments.add(name)


def _tags(texts: dict[str, str]) -> list[dict[str, Any]]:
    return [{"Key": key, "Value": allowed(text)[:256]} for key, text in texts.items()]
