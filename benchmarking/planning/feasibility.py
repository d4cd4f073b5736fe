"""Why a configuration cannot run: `valid` rules, ingestion against layout and back-end, instances that do not fit."""

from __future__ import annotations

from collections.abc import Callable

from benchmarking.planning.checkpoints import check_checkpoints, checkpoint_problem, saves_checkpoints
from benchmarking.planning.concurrency import instance_types
from benchmarking.planning.inputs import input_problem
from benchmarking.planning.job_builder import instance_type_of
from benchmarking.planning.served import served_problem
from benchmarking.planning.unknown_values import check_own_values
from definitions.backend_registry import backend_description
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec

Refuse = Callable[[TrialSpec], str | None]


def refusal(
    definition: BenchmarkDefinition,
    backend: str,
    capacity: Callable[[str], int],
    ruled_out: Refuse = lambda spec: None,
    there_is: Callable[[], str] = lambda: "",
) -> Refuse:
    """Return the function that says why a trial cannot run, or None where it can.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        capacity: how many jobs of an instance type can run at once; 0 where none can.
        ruled_out: says why a forecast rules a trial out, or None.
        there_is: says what there is for jobs; empty where nobody knows.

    Raises:
        UserError: the back-end has none of the instance types that configurations can ask for, none of their checkpoints can be saved, or
            our pipeline script is told of a model or a way of loading that there is not.
    """
    _check_instances(definition, backend)
    check_own_values(definition)
    check_checkpoints(definition, backend)
    described = backend_description(backend)
    rules = definition.rules
    capacities: dict[str, int] = {}
    has_inputs = bool(definition.inputs or definition.datasets)
    saves = saves_checkpoints(definition)

    def refuse(spec: TrialSpec) -> str | None:
        configuration = spec.configuration
        for rule in rules:
            if not rule.holds(configuration):
                return f"ruled out by valid: {rule.text}"
        found = input_problem(definition, backend, configuration) if has_inputs else None
        if found is None and saves:
            found = checkpoint_problem(definition, backend, configuration)
        found = found or served_problem(definition, backend, configuration)
        if found is not None:
            return found
        instance_type = instance_type_of(definition, backend, configuration)
        found = described.instance_problem(instance_type)
        if found is not None:
            return found
        if instance_type not in capacities:
            capacities[instance_type] = capacity(instance_type)
        if capacities[instance_type]:
            return ruled_out(spec)
        has = there_is()
        return f"instance type {instance_type} does not fit here{f': {has}' if has else ''}"

    return refuse


def _check_instances(definition: BenchmarkDefinition, backend: str) -> None:
    described = backend_description(backend)
    problems = [described.instance_problem(name) for name in instance_types(definition, backend)]
    if problems and all(problem is not None for problem in problems):
        raise UserError(
            f"benchmark {definition.name} on {backend}: none of its configurations can run there",
            "; ".join(problem for problem in problems if problem is not None),
            f"give instance_type in the {backend} block, or --set arguments.instance_type={described.example_instance_type}",
        )


def check_capacity(definition: BenchmarkDefinition, backend: str, capacity: Callable[[str], int], there_is: Callable[[], str]) -> None:
    """Raise `UserError` where no job of any instance type that configurations can ask for ever has room.

    Where the back-end's room is not final, what fits may change while a run goes on, and is waited for.

    Args:
        definition: the resolved definition.
        backend: name of the back-end.
        capacity: how many jobs of an instance type can run at once.
        there_is: says what there is for jobs.
    """
    described = backend_description(backend)
    types = instance_types(definition, backend)
    block = definition.block(backend, described.block)
    is_final = described.room_is_final(block) if definition.endpoint is None else described.endpoint_room_is_final(block)
    if not is_final or any(described.instance_problem(name) is not None or capacity(name) for name in types):
        return
    raise UserError(
        f"benchmark {definition.name}: {' and '.join(types)} {'does' if len(types) == 1 else 'do'} not fit here",
        there_is() or "there is no room for one",
        "go on where there is room, or start with another tag and e.g. "
        f"--set arguments.instance_type={described.default_instance_type or described.example_instance_type}; what was measured is kept",
    )


def check_listed(definition: BenchmarkDefinition, refuse: Refuse) -> None:
    """Raise `UserError` for explicit trials that cannot run: who lists a trial wants it run."""
    refused = [(number, refuse(TrialSpec(configuration))) for number, configuration in enumerate(definition.explicit_configurations)]
    problems = [f"trials.{number}: {why}" for number, why in refused if why is not None]
    if problems:
        raise UserError(
            f"benchmark {definition.name}: {len(problems)} of its trials cannot run", "\n  ".join(problems[:10]), "change or remove them"
        )
