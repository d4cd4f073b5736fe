"""A constructor that sets all fields at once is, but for its time, the generated one."""

import dataclasses
import inspect
from dataclasses import dataclass, field
from typing import Any

import pytest

from backends.events import Event
from backends.job_spec import JobSpec
from benchmarking.controller.aggregation import Tell
from benchmarking.controller.method import Evaluation, Suggestion
from definitions.made_at_once import made_at_once


@dataclass(frozen=True)
class Generated:
    name: str
    weight: float | None = 1.5
    notes: dict[str, Any] = field(default_factory=dict)


@made_at_once
@dataclass(frozen=True)
class AtOnce(Generated):
    last: int = 3


def test_all_fields_are_set_by_position_name_and_default() -> None:
    made = AtOnce("a", notes={"k": 1})
    assert dataclasses.astuple(made) == ("a", 1.5, {"k": 1}, 3)
    assert AtOnce("a", 2.5, None, last=4) == AtOnce(last=4, notes=None, weight=2.5, name="a")  # type: ignore[arg-type]
    assert AtOnce("a", None).weight is None


def test_a_default_that_is_made_belongs_to_one_instance() -> None:
    first, second = AtOnce("a"), AtOnce("a")
    assert first.notes == second.notes == {}
    assert first.notes is not second.notes


def test_it_stays_frozen_and_can_be_replaced() -> None:
    made = dataclasses.replace(AtOnce("a"), weight=9.0)
    assert made == AtOnce("a", 9.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.weight = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(("given", "complaint"), [(("a", 1, {}, 2, 3), "takes from 2 to 5"), ((), "missing 1 required")])
def test_wrong_arguments_are_refused_as_ever(given: tuple[Any, ...], complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        AtOnce(*given)


@pytest.mark.parametrize("made", [*Event.__subclasses__(), JobSpec, Suggestion, Evaluation, Tell], ids=lambda made: made.__name__)
def test_what_is_made_by_the_thousand_needs_what_its_fields_say(made: type[Any]) -> None:
    described = dataclasses.fields(made)
    needed = {one.name: object() for one in described if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING}
    found = vars(made(**needed))
    assert list(found) == list(inspect.signature(made).parameters) == [one.name for one in described]
    for one in described:
        if one.name in needed:
            assert found[one.name] is needed[one.name]
        else:
            assert found[one.name] == (one.default if one.default_factory is dataclasses.MISSING else one.default_factory())
    with pytest.raises(TypeError, match="missing"):
        made(**dict(list(needed.items())[1:]))


def test_what_has_slots_or_more_to_do_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Slotted:
        x: int

    @dataclass(frozen=True)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            raise ValueError

    for made in (Slotted, Checked):
        with pytest.raises(TypeError, match="slots or a __post_init__"):
            made_at_once(made)


def test_it_is_the_constructor_of_its_class_and_sets_no_field_by_itself() -> None:
    assert (AtOnce.__init__.__qualname__, AtOnce.__init__.__module__) == ("AtOnce.__init__", __name__)
    assert "__setattr__" in Generated.__init__.__code__.co_names
    assert {"__dict__", "update"} <= {*AtOnce.__init__.__code__.co_names} <= {"__dict__", "update", "_make_notes", "_not_given"}
