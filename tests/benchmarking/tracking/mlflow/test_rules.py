import pytest

from benchmarking.tracking.mlflow.rules import Names, valid_name


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("loss", "loss"),
        ("val/acc:top 5", "val/acc:top 5"),
        ("a b%", "a b_"),
        ("größe", "größe"),
        ("a//b", "a/b"),
        ("/a", "a"),
        ("../a", "a"),
        ("..", "_"),
        ("", "_"),
        ("a\nb", "a_b"),
        ("x" * 300, "x" * 249 + "_"),
        ("\ud83d", "_ud83d"),
    ],
)
def test_names_are_brought_within_the_rules(name, there):
    assert valid_name(name) == there


@pytest.mark.slow  # its import starts a process
def test_mlflow_itself_takes_every_name_that_comes_of_it():
    from mlflow.utils.validation import _validate_metric_name

    for name in ("a b%", "", ".", "..", "a/../b", "/", "//", "a/", "../..", "x" * 5000, "\udc00", "ä ö", "...", "a/./b", "<script>"):
        _validate_metric_name(valid_name(name))


def test_two_names_do_not_become_one_and_each_change_is_said_once():
    names = Names()
    assert [names.name(name) for name in ("a b_", "a b%", "a b$", "a b%")] == ["a b_", "a b__2", "a b__3", "a b__2"]
    assert names.remarks == [
        "MLflow does not take the name 'a b%', which is 'a b__2' there",
        "MLflow does not take the name 'a b$', which is 'a b__3' there",
    ]


def test_values_are_cut_and_that_is_said():
    names = Names()
    found = names.parameters({"long": "v" * 10_000, "short": "v" * 6000})
    assert found == {"long": "v" * 5999 + "…", "short": "v" * 6000}
    assert names.remarks == ["MLflow takes 6000 characters of a value; 'long' has 10000 and ends there with …"]
    assert len(names.tags({"message": "m" * 9000})["message"]) == 8000


def test_parameters_are_text_and_those_in_mappings_have_names_of_their_own():
    given = {"lr": 0.1, "flag": True, "of": {"depth": 3, "of": {"x": None}}, "list": [1, 2], "empty": {}}
    assert Names().parameters(given) == {"lr": "0.1", "flag": "true", "of.depth": "3", "of.of.x": "null", "list": "[1,2]", "empty": "{}"}
