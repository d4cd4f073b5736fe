"""What the built-in methods' arguments are where nobody gives them, and where they begin to be refused."""

import pytest

from benchmarking.methods.registry import known_methods, method_factory

METHODS = {name: method_factory(found) for name, found in known_methods(()).items()}

STARTING = {"points_to_evaluate": (), "shared_start": 0}

DEFAULTS = {
    "ASHA": {"type": "stopping", "rungs": None, "grace_period": None, "reduction_factor": 3, "brackets": 1, **STARTING},
    "BO": {"candidates": 1000, "max_points": 300, "init_random": 5, **STARTING},
    "BORE": {"gamma": 0.25, "feval_acq": 500, "random_prob": 0, "init_random": 6, **STARTING},
    "CANARY": {"ladder": None, "repeats": None, "configurations": None, "stretch_s": None, "prefix": None},
    "CQR": {"quantiles": 5, "candidates": 2000, "init_random": 5, **STARTING},
    "GRID": {"points": 5},
    "LISTED": {},
    "MSR": {"running_average": True, "grace_period": 1, "grace_population": 5, "rank_cutoff": 0.5, **STARTING},
    "PBT": {
        "population_size": 4,
        "perturbation_interval": None,
        "quantile_fraction": 0.25,
        "resample_probability": 0.25,
        **STARTING,
    },
    "RACE": {
        "ladder": None,
        "configurations": None,
        "stretch_s": None,
        "confidence": 0.9,
        "tolerance": 0.05,
        "repeats": 3,
        "budget_usd": None,
        "full_runs": 4,
        "metric": None,
        "width": None,
        "run_winner": False,
        "prefix": None,
    },
    "REA": {"population_size": 100, "sample_size": 10, **STARTING},
    "RS": {**STARTING},
    "TPE": {
        "top_n_percent": 15,
        "min_bandwidth": 0.001,
        "num_candidates": 64,
        "bandwidth_factor": 3,
        "random_fraction": 0.33,
        **STARTING,
    },
}
# (method, argument, the last values that are taken, the first that are refused)
EDGES = [
    ("ASHA", "grace_period", (0.1,), (0,)),
    ("ASHA", "reduction_factor", (1.5,), (1,)),
    ("ASHA", "brackets", (1,), (0, 1.5, True)),
    ("BO", "candidates", (10,), (9,)),
    ("BO", "max_points", (20,), (19,)),
    ("BO", "init_random", (2,), (1,)),
    ("BORE", "gamma", (0.01, 0.99), (0.0, 1.0)),
    ("BORE", "feval_acq", (1,), (0,)),
    ("BORE", "random_prob", (0, 1), (-0.1, 1.1)),
    ("BORE", "init_random", (2,), (1,)),
    ("CANARY", "ladder", ([0.1, 0.3], (0.5,)), (0, [0.0, 0.5], True, float("inf"), "x")),
    ("CANARY", "repeats", (1, 7, [1, 2], (3,)), (0, -1, 1.5, True, "2", [], [1, 0], [1, True], [1, 2.5])),
    ("CANARY", "configurations", (1,), (0,)),
    ("CANARY", "stretch_s", (0, 60.5), (-1, float("inf"))),
    ("CQR", "quantiles", (2,), (1,)),
    ("CQR", "candidates", (1,), (0,)),
    ("CQR", "init_random", (4,), (3,)),
    ("GRID", "points", (1,), (0,)),
    ("MSR", "running_average", (True, False), (1, "yes")),
    ("MSR", "grace_period", (0.5,), (0,)),
    ("MSR", "grace_population", (1,), (0,)),
    ("MSR", "rank_cutoff", (0.01, 0.99), (0, 1)),
    ("PBT", "population_size", (2,), (1,)),
    ("PBT", "perturbation_interval", (0.5,), (0,)),
    ("PBT", "quantile_fraction", (0.01, 0.5), (0, 0.51)),
    ("PBT", "resample_probability", (0, 1), (-0.01, 1.01)),
    ("RACE", "confidence", (0.51, 0.999), (0.5, 0.9995)),
    ("RACE", "tolerance", (0, 1), (-0.1, 1.1)),
    ("RACE", "repeats", (1,), (0,)),
    ("RACE", "budget_usd", (0.01,), (0,)),
    ("RACE", "full_runs", (0.5,), (0,)),
    ("RACE", "width", (0.01,), (0,)),
    ("REA", "population_size", (2,), (1,)),
    ("REA", "sample_size", (1,), (0,)),
    ("TPE", "top_n_percent", (1,), (0,)),
    ("TPE", "min_bandwidth", (1e-9,), (0,)),
    ("TPE", "num_candidates", (1,), (0,)),
    ("TPE", "bandwidth_factor", (0.1,), (0,)),
    ("TPE", "random_fraction", (0, 1), (-0.1, 1.1)),
]
FINITE = {"CANARY", "GRID", "LISTED", "RACE"}
HEAR_LEVELS = {"ASHA", "ASHA_BORE", "ASHA_TPE", "MOASHA", "MOBSTER", "MSR", "PBT"}


def defaults(name):
    return {key: argument.default for key, argument in METHODS[name].arguments.items()}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults(name):
    assert defaults(name) == DEFAULTS[name]


@pytest.mark.parametrize(("name", "parts"), [("ASHA_BORE", ("ASHA", "BORE")), ("ASHA_TPE", ("ASHA", "TPE")), ("MOBSTER", ("ASHA", "BO"))])
def test_a_method_of_two_parts_has_the_arguments_of_both(name, parts):
    assert defaults(name) == DEFAULTS[parts[0]] | DEFAULTS[parts[1]]


def test_every_built_in_method_is_looked_at():
    assert set(METHODS) == {*DEFAULTS, "ASHA_BORE", "ASHA_TPE", "MOASHA", "MOBSTER"}


@pytest.mark.parametrize(("name", "argument", "taken", "refused"), EDGES, ids=lambda value: value if isinstance(value, str) else "")
def test_where_values_begin_to_be_refused(name, argument, taken, refused):
    read = METHODS[name].arguments[argument].read
    for value in taken:
        assert read(value) == (tuple(value) if isinstance(value, list) else value)
    for value in refused:
        with pytest.raises(ValueError, match=r"number|true or false"):
            read(value)


def test_which_come_to_an_end_by_themselves_and_which_hear_of_levels():
    assert {name for name, method in METHODS.items() if method.finite} == FINITE
    assert {name for name, method in METHODS.items() if method.hears_levels} == HEAR_LEVELS
    assert {name for name, method in METHODS.items() if method.measures_repeats} == {"CANARY", "RACE"}
    assert {name for name, method in METHODS.items() if method.needs_checkpoints} == {"PBT"}
    assert {name for name, method in METHODS.items() if getattr(method, "independent", False) is True} == {"GRID", "LISTED", "RS"}
