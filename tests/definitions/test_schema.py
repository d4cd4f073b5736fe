"""What a definition accepts, and what its parts mean."""

import pytest
from pydantic import ValidationError

from definitions.schema import BenchmarkDefinition, Budget, MethodVariant, Overrides

MINIMAL = {"name": "demo", "script": "train.py", "objectives": {"loss": "min"}}


def definition(**parts):
    return BenchmarkDefinition.model_validate({**MINIMAL, **parts})


def problems(**parts):
    with pytest.raises(ValidationError) as caught:
        definition(**parts)
    return [(detail["loc"], detail["type"], detail["msg"]) for detail in caught.value.errors()]


def test_defaults():
    found = definition()
    assert found.budget == Budget(max_failures=3)
    assert (found.repeats, found.order, found.source_dir, found.n_workers, found.fidelity) == (1, "default", ".", None, None)
    assert found.study.seeds == 8


def test_a_definition_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        definition().repeats = 2


@pytest.mark.parametrize("name", ["", "-x", ".x", "a b", "a/b", "x" * 64, "ü"])
def test_names_must_be_fit_for_folders_and_jobs(name):
    assert problems(name=name)[0][1] == "string_pattern_mismatch"


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ({"repeats": True}, "int_type"),
        ({"repeats": "3"}, "int_type"),
        ({"repeats": 0}, "greater_than"),
        ({"exclusive": 1}, "bool_type"),
        ({"script": 5}, "string_type"),
        ({"budget": {"max_cost": "1"}}, "float_type"),
        ({"budget": {"max_run": float("inf")}}, "finite_number"),
        ({"objectives": {}}, "too_short"),
        ({"nonsense": 1}, "extra_forbidden"),
        ({"local": {"nonsense": 1}}, "extra_forbidden"),
        ({"fidelity": {"kind": "per_job", "argument": "f", "ladder": ["0.1"]}}, "float_type"),
        ({"datasets": {"d": {"type": "images", "samples": 0}}}, "greater_than"),
    ],
)
def test_values_are_not_coerced(parts, kind):
    assert problems(**parts)[0][1] == kind


@pytest.mark.parametrize("key", ["seed", "rank", "method", "level", "job", "trial", "learning-rate", "model.lr", "val/x", "a+b@c:d"])
def test_a_key_is_called_as_the_script_calls_it(key):
    assert definition(space={key: 1}).configuration_keys == (key,)
    assert definition(trials=[{key: 1}]).explicit_configurations == ({key: 1},)


@pytest.mark.parametrize("key", ["-x", "a b", "a=b", "1a", "${a}", ""])
def test_bad_names(key):
    assert f"{key!r} is not a name" in problems(space={key: 1})[0][2]
    assert problems(trials=[{"a": 1}, {key: 1}])[0][0] == ("trials", 1)
    assert problems(sagemaker={"space": {key: 1}})[0][0] == ("sagemaker", "space")


def test_domains_are_read_where_they_stand_all_of_them():
    found = problems(space={"a": {"choise": [1]}, "b": 1, "c": [1]}, local={"space": {"d": {"uniform": [2, 1]}}})
    assert [location for location, _, _ in found] == [("space", "a"), ("space", "c"), ("local", "space", "d")]


def test_rules_are_read_where_they_stand():
    assert problems(local={"valid": ["a > 1", "a >"]})[0][0] == ("local", "valid", 1)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"space": {"a": 1}, "trials": [{"a": 1}]}, "trials: give `space` or `trials`, not both"),
        ({"base_trial": {"a": 1}}, "base_trial: needs `trials` that build on it"),
        ({"space": {"a": 1}, "arguments": {"a": 1}}, "arguments.a: 'a' is both a fixed argument and a key of the configurations; keep one"),
        (
            {"trials": [{"a": 1}], "arguments": {"a": 1}},
            "arguments.a: 'a' is both a fixed argument and a key of the configurations; keep one",
        ),
        (
            {"space": {"f": 1}, "fidelity": {"kind": "per_job", "argument": "f"}},
            "fidelity.argument: 'f' is both the fidelity's argument and a key of the configurations; keep one",
        ),
        (
            {"arguments": {"f": 1}, "fidelity": {"kind": "per_job", "argument": "f"}},
            "fidelity.argument: 'f' is both the fidelity's argument and a fixed argument; keep one",
        ),
        (
            {"inputs": {"train": {"dataset": "y"}}, "datasets": {"x": {"type": "images"}}},
            "inputs.train.dataset: there is no data set 'y'; known: x",
        ),
        (
            {"arguments": {"instance_count": 0}},
            "arguments.instance_count: a job has a whole number of instances, and at least 1; 0 was given",
        ),
        (
            {"space": {"instance_count": {"choice": [2, -1]}}},
            "space.instance_count: a job has a whole number of instances, and at least 1; -1 was given",
        ),
        (
            {"trials": [{"instance_count": 1}, {"instance_count": 1.5}]},
            "trials.1.instance_count: a job has a whole number of instances, and at least 1; 1.5 was given",
        ),
        ({"space": {"a": 1}, "compare_within": ["b"]}, "compare_within.b: 'b' is no key of the configurations; there are: a"),
        ({"space": {"a": 1}, "valid": ["b > 1"]}, "valid.0: 'b > 1' names 'b', which is no key of the configurations; known: a"),
    ],
)
def test_parts_that_do_not_fit_together(parts, message):
    assert [text for _, _, text in problems(**parts)] == [f"Value error, {message}"]


@pytest.mark.parametrize("ladder", [[], [0.1, 0.01], [0.1, 0.1], [0.0, 0.5], [0.5, 1.5]])
def test_ladders(ladder):
    assert problems(fidelity={"kind": "per_job", "argument": "f", "ladder": ladder})[0][1] == "value_error"


def test_a_level_is_finite():
    assert problems(fidelity={"kind": "per_job", "argument": "f", "full": float("inf")})[0][1] == "finite_number"
    assert problems(fidelity={"kind": "per_job", "argument": "f", "ladder": [float("nan")]})[0][1] == "finite_number"


def test_a_variant_gathers_its_arguments_from_beside_its_base():
    assert MethodVariant.model_validate({"base": "ASHA", "brackets": 3}) == MethodVariant(base="ASHA", arguments={"brackets": 3})
    assert definition(methods={"A": {"base": "ASHA", "arguments": {"brackets": 3}}}).methods["A"].arguments == {"brackets": 3}
    assert problems(methods={"A": {"brackets": 3}}) == [(("methods", "A", "base"), "missing", "Field required")]


def test_configuration_keys_in_the_order_of_the_definition():
    assert definition(space={"b": 1, "a": 2}).configuration_keys == ("b", "a")
    assert definition(base_trial={"z": 1}, trials=[{"a": 1}, {"z": 2, "b": 3}]).configuration_keys == ("z", "a", "b")


def test_circumstances_are_keys_or_groups_of_their_values():
    assert definition(space={"a": 1}, compare_within=["a"]).compare_within == {"a": {}}
    groups = {"a": {"small": [1, 2], "large": [3]}}
    assert definition(space={"a": 1}, compare_within=groups).compare_within == {"a": {"small": (1, 2), "large": (3,)}}


def test_trials_are_laid_over_their_base():
    found = definition(base_trial={"z": 1}, trials=[{"a": 1}, {"z": 2, "b": 3}]).explicit_configurations
    assert found == ({"z": 1, "a": 1}, {"z": 2, "b": 3})


def test_the_first_objective_is_the_primary_one():
    assert definition(objectives={"z": "max", "a": "min"}).primary_objective == "z"


@pytest.mark.parametrize(
    ("objective", "given", "exclusive"),
    [
        ("loss", None, False),
        ("samples_per_s", None, True),
        ("cost_usd", None, True),
        ("duration_s", None, True),
        ("billable_s", None, True),
        ("duration_s", False, False),
        ("loss", True, True),
    ],
)
def test_speed_and_cost_are_measured_alone_unless_told_otherwise(objective, given, exclusive):
    assert definition(objectives={objective: "min"}, exclusive=given).is_exclusive is exclusive


@pytest.mark.parametrize(
    ("dataset", "layout"),
    [
        ({"type": "images"}, "files"),
        ({"type": "images", "format": "tar"}, "shards"),
        ({"type": "path", "path": "x"}, "files"),
        ({"type": "s3", "uri": "s3://bucket/x", "format": "tar"}, "shards"),
    ],
)
def test_layouts(dataset, layout):
    assert definition(datasets={"d": dataset}).datasets["d"].layout == layout


def test_sizes_of_data_sets_are_numbers():
    found = definition(datasets={"d": {"type": "images", "samples": "2k", "shard_size": "8MiB"}}).datasets["d"]
    assert (found.samples, found.shard_size) == (2000, 8388608)


def test_blocks_may_override_only_what_the_definition_has():
    assert set(Overrides.model_fields) <= set(BenchmarkDefinition.model_fields)
