"""Search spaces go to Syne Tune and come back; both sample alike."""

import random
from collections import Counter

import numpy as np
import pytest
from syne_tune import config_space as theirs

from definitions.errors import UserError
from definitions.space import Choice, Constant, FiniteRange, Interval, NearestOrdinal, SearchSpace
from definitions.syne_tune_space import from_syne_tune, to_syne_tune

PAIRS = {
    "constant": (3, Constant(3)),
    "text": ("x", Constant("x")),
    "null": (None, Constant(None)),
    "uniform": (theirs.uniform(0, 2), Interval(0.0, 2.0)),
    "loguniform": (theirs.loguniform(1e-4, 1), Interval(1e-4, 1.0, "log")),
    "reverseloguniform": (theirs.reverseloguniform(0.9, 0.999), Interval(0.9, 0.999, "reverselog")),
    "randint": (theirs.randint(1, 5), Interval(1, 5, integer=True)),
    "lograndint": (theirs.lograndint(1, 100), Interval(1, 100, "log", integer=True)),
    "quniform": (theirs.quniform(0.1, 0.7, 0.1), Interval(0.1, 0.7, quantum=0.1)),
    "qloguniform": (theirs.qloguniform(0.1, 0.7, 0.1), Interval(0.1, 0.7, "log", quantum=0.1)),
    "qrandint": (theirs.qrandint(2, 8, 2), Interval(2, 8, integer=True, quantum=2)),
    "qlograndint": (theirs.qlograndint(2, 8, 2), Interval(2, 8, "log", integer=True, quantum=2)),
    "choice": (theirs.choice(["a", "b"]), Choice(("a", "b"))),
    "booleans": (theirs.choice([True, False]), Choice((True, False))),
    "ordinal": (theirs.ordinal([1, 2, 4], kind="equal"), Choice((1, 2, 4), ordered=True)),
    "words": (theirs.ordinal(["s", "m", "l"]), Choice(("s", "m", "l"), ordered=True)),
    "nn": (theirs.ordinal([1, 2, 4], kind="nn"), NearestOrdinal((1, 2, 4))),
    "default kind": (theirs.ordinal([0.5, 2.0, 4.0]), NearestOrdinal((0.5, 2.0, 4.0))),
    "nn-log": (theirs.ordinal([1, 10, 1000], kind="nn-log"), NearestOrdinal((1, 10, 1000), "log")),
    "logordinal": (theirs.logordinal([1, 2]), NearestOrdinal((1, 2), "log")),
    "finrange": (theirs.finrange(0, 1, 5), FiniteRange(0.0, 1.0, 5)),
    "logfinrange": (theirs.logfinrange(1, 100, 4, cast_int=True), FiniteRange(1.0, 100.0, 4, "log", True)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_there_and_back(name):
    foreign, own = PAIRS[name]
    assert from_syne_tune({"x": foreign}).domains == {"x": own}
    back = to_syne_tune(SearchSpace({"x": own}))["x"]
    assert type(back) is type(foreign)
    assert back == foreign
    if isinstance(foreign, theirs.Domain):
        # Syne Tune's comparison forgives small differences of bounds and ignores the number of points.
        assert repr(theirs.to_dict(back)["domain_kwargs"]) == repr(
            {k: type(theirs.to_dict(back)["domain_kwargs"][k])(v) for k, v in theirs.to_dict(foreign)["domain_kwargs"].items()}
        )


@pytest.mark.parametrize(
    "name", ["randint", "choice", "ordinal", "nn", "nn-log", "default kind", "finrange", "quniform", "logfinrange", "booleans"]
)
def test_both_draw_each_value_as_often(name):
    foreign, own = PAIRS[name]
    source, count = random.Random(0), 5000
    drawn = foreign.sample(size=count, random_state=np.random.RandomState(0))
    theirs_counted = Counter(round(value, 9) if isinstance(value, float) else value for value in drawn)
    counted = Counter(own.at(source.random()) for _ in range(count))
    assert {value: counted[value] / count for value in own.grid(0)} == pytest.approx(
        {value: theirs_counted[value] / count for value in own.grid(0)}, abs=0.03
    )


@pytest.mark.parametrize("name", ["uniform", "loguniform", "reverseloguniform"])
def test_both_draw_the_same_quantiles_of_intervals(name):
    foreign, own = PAIRS[name]
    drawn = np.quantile(foreign.sample(size=20_000, random_state=np.random.RandomState(0)), [0.1, 0.5, 0.9])
    bounds = own.upper - own.lower
    assert [own.at(u) for u in (0.1, 0.5, 0.9)] == pytest.approx(list(drawn), abs=0.02 * bounds, rel=0.05)


def test_values_of_one_are_values_of_the_other():
    for foreign, own in PAIRS.values():
        if isinstance(foreign, theirs.Domain):
            for value in own.grid(7):
                assert own.contains(foreign.cast(value))
                assert foreign.cast(value) == pytest.approx(value) if not isinstance(value, str) else foreign.cast(value) == value


def test_keys_keep_their_order():
    space = SearchSpace.parse({"b": {"choice": [1, 2]}, "a": 3})
    assert list(to_syne_tune(space).items())[1] == ("a", 3)
    assert list(from_syne_tune(to_syne_tune(space)).domains) == ["b", "a"]


def test_numpy_bounds_become_plain_numbers():
    found = from_syne_tune({"x": theirs.randint(np.int64(1), np.int64(3)), "y": theirs.uniform(np.float64(0), np.float32(1))})
    assert repr(found.spec()) == "{'x': {'randint': [1, 3]}, 'y': {'uniform': [0.0, 1.0]}}"


def normal():
    domain = theirs.Float(0, 1)
    domain.lower = domain.upper = None
    return domain.normal(0, 1)


@pytest.mark.parametrize(
    "foreign",
    [normal(), theirs.Categorical([1, 2]).grid(), [1, 2], {"a": 1}, lambda: 3],
    ids=["normal", "grid", "list", "mapping", "function"],
)
def test_what_has_no_form_here(foreign):
    with pytest.raises(UserError, match=r"^x: .*has no form in a definition\n  known: constants, choice, ordinal"):
        from_syne_tune({"x": foreign})


def test_a_domain_of_the_users_own():
    class Mine(theirs.Integer):
        pass

    with pytest.raises(UserError, match="has no form in a definition"):
        from_syne_tune({"x": Mine(1, 2)})


def test_a_domain_that_syne_tune_has_not_is_named():
    class Ours(Choice):
        pass

    class Strange:
        pass

    # What is a choice of some kind is one there too.
    assert to_syne_tune(SearchSpace({"x": Ours((1, 2))}))["x"] == theirs.choice([1, 2])
    with pytest.raises(UserError, match="x: Strange has no form in Syne Tune"):
        to_syne_tune(SearchSpace({"x": Strange()}))


@pytest.mark.parametrize(("values", "types"), [([1, "a"], "int and str"), ([1, 2.5], "float and int"), ([True, None], "bool and null")])
def test_syne_tune_needs_values_of_one_type(values, types):
    with pytest.raises(UserError) as caught:
        to_syne_tune(SearchSpace.parse({"x": {"choice": values}}))
    assert str(caught.value) == (
        f"x: Syne Tune's methods need values of one type\n  {values!r} has {types}\n"
        "  write all values alike, e.g. all as text or all with a decimal point"
    )


def test_syne_tune_needs_bounds_on_the_quantum():
    with pytest.raises(UserError) as caught:
        to_syne_tune(SearchSpace.parse({"x": {"quniform": [0.12, 1.0, 0.1]}}))
    assert str(caught.value) == (
        "x: Syne Tune needs bounds that are multiples of the quantum\n  {'quniform': [0.12, 1.0, 0.1]}\n"
        "  the values in it go from 0.2 to 1.0"
    )
