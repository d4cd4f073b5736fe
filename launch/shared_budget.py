"""What experiments that have money in common have spent of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarking.controller.interfaces import Wallet
from benchmarking.studies.money import groups
from benchmarking.studies.record import StudyRecord
from benchmarking.studies.standing import spent_usd
from launch.experiment_outcome import ExperimentOutcome
from launch.study_planning import folder_of


class SharedBudget:
    """What each of some experiments has spent, and so what is left for the next one; what earlier controllers spent counts.

    Args:
        sharing: the folders of the experiments, those that have one limit in common together.

    Raises:
        UserError: a journal cannot be read, so that nobody knows.
    """

    def __init__(self, sharing: Iterable[Sequence[Path]]) -> None:
        self._others = {folder: [one for one in group if one != folder] for group in map(tuple, sharing) for folder in group}
        self._spent = {folder: spent_usd(folder) for folder in self._others}

    def wallet_of(self, folder: Path) -> Wallet:
        """Return what the others have spent of an experiment's limit."""
        return Wallet(math.fsum(self._spent[other] for other in self._others.get(folder, ())))

    def take_in(self, outcome: ExperimentOutcome) -> None:
        """Note what an experiment has spent by now."""
        if outcome.result is not None:
            self._spent[outcome.spec.folder] = outcome.result.state.money.spent_usd


def shared_budget_of(study: StudyRecord, tag_folder: Path) -> SharedBudget:
    """Return what a study's experiments have in common, also those that are not run now; with equal shares none has anything in common.

    Args:
        study: the study.
        tag_folder: of its tag.

    Raises:
        UserError: a journal cannot be read, so that nobody knows what was spent.
    """
    sharing = groups(study.flags, study.experiments) if study.flags.shares == "first_come" else []
    return SharedBudget([[folder_of(tag_folder, one, study.flags.backend) for one in group] for group in sharing])
