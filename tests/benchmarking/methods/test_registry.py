from __future__ import annotations

import logging
from importlib.metadata import EntryPoint

import pytest

from benchmarking.methods.grid import Grid
from benchmarking.methods.listed import Listed
from benchmarking.methods.random_search import RandomSearch
from benchmarking.methods.registry import (
    BUILT_IN,
    WHAT_THEY_ARE,
    build_method,
    default_method,
    known_methods,
    method_factory,
    what_it_is,
)
from definitions.errors import UserError
from definitions.schema import MethodVariant
from tests.benchmarking.experiments import definition
from tests.benchmarking.methods.method_experiments import benchmark

RS_AGAIN = EntryPoint("MINE", "benchmarking.methods.random_search:RandomSearch", "outrider.methods")


class Distribution:
    def __init__(self, name):
        self.name = name


def point(name, value, distribution):
    made = EntryPoint(name, value, "outrider.methods")
    vars(made).update(dist=Distribution(distribution))
    return made


def listed():
    return definition(space={}, trials=({"x": 1}, {"x": 2}))


def test_built_in_methods():
    known = known_methods(())
    assert {name: method_factory(known[name]) for name in ("GRID", "LISTED", "RS")} == {"GRID": Grid, "LISTED": Listed, "RS": RandomSearch}


def test_each_built_in_method_is_explained_and_a_variant_by_its_base():
    assert WHAT_THEY_ARE.keys() == BUILT_IN.keys()
    variants = {"R3": MethodVariant(base="ASHA", type="promotion"), "RS": MethodVariant(base="TPE"), "own": MethodVariant(base="MINE")}
    assert what_it_is("RS", {}) == "random search"
    assert what_it_is("R3", variants).startswith("ASHA with type=promotion: asynchronous successive halving")
    assert what_it_is("RS", variants).startswith("TPE with its usual arguments: proposals by densities")
    assert (what_it_is("own", variants), what_it_is("MINE", {})) == ("", "")


def test_plugins_are_added():
    assert known_methods([RS_AGAIN])["MINE"] is RandomSearch


def test_a_broken_plugin_is_skipped_with_a_warning(caplog):
    broken = point("BAD", "no_such_module_anywhere:Thing", "broken-package")
    with caplog.at_level(logging.WARNING):
        methods = known_methods([broken, RS_AGAIN])
    assert set(methods) == {*known_methods(()), "MINE"}
    (warning,) = caplog.messages
    assert "BAD" in warning
    assert "broken-package" in warning
    assert "no_such_module_anywhere" in warning


def test_a_clash_of_two_plugins_names_both():
    target = "benchmarking.methods.grid:Grid"
    with pytest.raises(UserError, match=r"two methods are called 'TWIN'[\s\S]*one-package and other-package"):
        known_methods([point("TWIN", target, "one-package"), point("TWIN", target, "other-package")])


def test_a_clash_with_a_built_in_one_names_both():
    with pytest.raises(UserError, match=r"'RS'[\s\S]*built-in and evil-package"):
        known_methods([point("RS", "benchmarking.methods.grid:Grid", "evil-package")])


def test_default_methods():
    assert default_method(definition()) == "RS"
    assert default_method(listed()) == "LISTED"
    assert default_method(definition(method="GRID")) == "GRID"


def test_unknown_methods_are_answered_with_the_nearest():
    with pytest.raises(UserError, match=r"--method GIRD[\s\S]*did you mean 'GRID'"):
        build_method("GIRD", definition(), 0, {}, region="us-east-1")
    with pytest.raises(UserError, match=r"there are: ASHA, ASHA_BORE \(extra syne-tune\),.* CQR \(extra trees\), GRID,[\s\S]*give one"):
        build_method("ZZZZ", definition(), 0, {}, region="us-east-1")


def test_a_variant_has_the_arguments_of_its_base_and_the_command_line_wins():
    benchmark = definition(space={"u": {"uniform": [0.0, 1.0]}}, methods={"COARSE": {"base": "GRID", "points": 2}})
    assert count(build_method("COARSE", benchmark, 0, {}, region="us-east-1")) == 2
    assert count(build_method("COARSE", benchmark, 0, {"points": 7}, region="us-east-1")) == 7


def count(method):
    return sum(1 for _ in iter(method.suggest, None))


def test_a_variant_of_nothing_is_refused():
    with pytest.raises(UserError, match=r"methods\.MINE\.base: there is no method 'RSS'[\s\S]*'RS'"):
        build_method("MINE", definition(methods={"MINE": {"base": "RSS"}}), 0, {}, region="us-east-1")


def test_unknown_arguments_are_refused_for_built_in_methods_and_left_to_plugins():
    with pytest.raises(UserError, match=r"GRID: there is no argument 'point'[\s\S]*'points'"):
        build_method("GRID", definition(), 0, {"point": 3}, region="us-east-1")
    seen = []
    build_method("P", definition(), 4, {"anything": 3}, {"P": lambda context: seen.append(context) or Grid(context)}, region="us-east-1")
    assert (seen[0].arguments, seen[0].seed, dict(seen[0].objectives)) == ({"anything": 3}, 4, {"loss": "min"})


def test_wrong_pairings_are_refused():
    with pytest.raises(UserError, match="use LISTED"):
        build_method("RS", listed(), 0, {}, region="us-east-1")
    with pytest.raises(UserError, match="use RS or GRID"):
        build_method("LISTED", definition(), 0, {}, region="us-east-1")


@pytest.mark.parametrize(
    ("method", "arguments", "says"),
    [
        ("ASHA", {"bracket": 2}, r"method ASHA: there is no argument 'bracket'[\s\S]*did you mean 'brackets'"),
        ("ASHA", {"brackets": 1.5}, "brackets = 1.5[\\s\\S]*a whole number from 1 up"),
        ("ASHA", {"brackets": True}, "brackets = True"),
        ("ASHA", {"type": "promote"}, "one of stopping, promotion"),
        ("ASHA", {"reduction_factor": 1}, "a number above 1"),
        ("ASHA", {"rungs": [3, 1]}, "ascending numbers above 0"),
        ("PBT", {"quantile_fraction": 0.7}, "from 0.01 to 0.5"),
        ("PBT", {"perturbation_interval": 9}, "not below the full level 9"),
        ("RS", {"points_to_evaluate": 3}, "a list of configurations"),
        ("TPE", {"num_candidates": "many"}, "num_candidates = 'many'"),
        ("BO", {"init_random": float("inf")}, "init_random = inf"),
        ("LISTED", {"points": 3}, "there is no argument 'points'"),
    ],
)
def test_wrong_arguments_are_told_before_the_start(method, arguments, says):
    made = benchmark(space={}, trials=({"x": 1},)) if method == "LISTED" else benchmark()
    with pytest.raises(UserError, match=says):
        build_method(method, made, 0, arguments, region="us-east-1")


def test_variants_and_the_command_line_reach_a_method():
    made = benchmark(methods={"ASHA3": {"base": "ASHA", "brackets": 2, "rungs": [1, 2, 4]}})
    assert build_method("ASHA3", made, 0, {}, region="us-east-1").brackets == [(1, 2, 4), (2, 4)]
    assert build_method("ASHA3", made, 0, {"brackets": 3}, region="us-east-1").brackets[2] == (4,)
    assert build_method("ASHA", made, 0, {"rungs": 5}, region="us-east-1").brackets == [(5,)]
    assert build_method("ASHA3", made, 0, {}, region="us-east-1").name == "ASHA3"


def test_every_built_in_method_says_what_it_takes():
    for name, factory in BUILT_IN.items():
        for argument, declared in method_factory(factory).arguments.items():
            assert declared.help, (name, argument)
            if declared.default not in (None, ()):
                assert declared.read(declared.default) == declared.default


def test_what_decides_by_results_learns_of_earlier_ones_and_what_only_lists_or_forecasts_does_not():
    assert {name for name, factory in BUILT_IN.items() if not method_factory(factory).learns} == {
        "CANARY",
        "GRID",
        "LISTED",
        "PBT",
        "RACE",
        "RS",
    }
