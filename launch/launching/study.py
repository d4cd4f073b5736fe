"""What is asked for as the study that travels: always one, also of a single experiment, and without what names an account."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backends.sagemaker.block import SageMakerBlock
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.studies.record import StudyFlags, StudyRecord
from definitions.backend_registry import backend_description
from definitions.errors import UserError
from definitions.resolve import Resolved
from definitions.show import render
from launch.planning import Planned
from launch.request import RunRequest
from launch.study_planning import planned as as_planned


@dataclass(frozen=True)
class Travelling:
    """A study as it is sent.

    Args:
        study: with definitions that name no account.
        role: ARN that trials run with, as their definitions said; empty where none did.
    """

    study: StudyRecord
    role: str


def travelling(planned: Planned, request: RunRequest) -> Travelling:
    """Return the study that is sent.

    Args:
        planned: what is asked for; one experiment becomes a study of one.
        request: that it was planned of.

    Raises:
        UserError: its benchmarks name several roles, of which a controller can tell its trials one.
    """
    study = planned.study or _of_one(planned.specs[0], request)
    first = {spec.definition.name: spec for spec in reversed(planned.specs)}
    roles = {name: role for name, spec in first.items() if (role := _role(spec))}
    if len({*roles.values()}) > 1:
        raise UserError(
            f"launch: {' and '.join(roles)} run with different roles",
            "a launched study tells its trials one role, as its state names no account",
            "give one by the variable OUTRIDER_ROLE, and leave `role` out",
        )
    texts = {name: render(_without_role(spec)) for name, spec in first.items() if name in roles}
    return Travelling(dataclasses.replace(study, definitions={**study.definitions, **texts}), next(iter(roles.values()), ""))


def _of_one(spec: ExperimentSpec, request: RunRequest) -> StudyRecord:
    flags = StudyFlags(
        backend=spec.backend,
        random_seed=request.random_seed or 0,
        method_args=dict(spec.method_arguments),
        max_cost=spec.definition.budget.max_cost,
    )
    return StudyRecord(flags, {spec.definition.name: render(spec.resolved)}, (as_planned(spec),))


def _role(spec: ExperimentSpec) -> str:
    described = backend_description(spec.backend)
    if not issubclass(described.block, SageMakerBlock):
        return ""
    return spec.definition.block(spec.backend, described.block).role or ""


def _without_role(spec: ExperimentSpec) -> Resolved:
    definition = spec.definition
    block = definition.blocks[spec.backend].model_copy(update={"role": None})
    return dataclasses.replace(spec.resolved, definition=definition.model_copy(update={spec.backend: block}))


def backends_of(specs: Sequence[ExperimentSpec]) -> Mapping[str, bool]:
    """Return the back-ends of experiments, and of each whether its trials take the controller's own instance."""
    return {spec.backend: backend_description(spec.backend).shares_this_machine for spec in specs}
