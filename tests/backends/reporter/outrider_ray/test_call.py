"""What a command line for a trainable of Ray Tune asks for."""

from __future__ import annotations

import pytest
from outrider_ray.call import TrialCall, flattened, merged, parse_call, undecided


def test_words_are_values_of_their_types_and_dots_are_mappings():
    found = parse_call(["train.py", "train", "--lr=1e-3", "--layers=[64, 32]", "--amp=true", "--model.depth=2", "--model.name=small"])
    assert found == TrialCall("train.py", "train", {"lr": 1e-3, "layers": [64, 32], "amp": True, "model": {"depth": 2, "name": "small"}})
    assert type(found.config["model"]["depth"]) is int


def test_a_file_has_them_as_they_are(tmp_path):
    file = tmp_path / "arguments.json"
    file.write_text('{"lr": 0.1, "name": "3"}')
    assert parse_call(["pkg.train", "Model", str(file)]) == TrialCall("pkg.train", "Model", {"lr": 0.1, "name": "3"})
    assert parse_call(["--checkpoint_frequency=5", "train.py", str(file)]) == TrialCall("train.py", None, {"lr": 0.1, "name": "3"}, 5)


@pytest.mark.parametrize("words", [[], ["--lr=1"], ["train.py", "train", "--lr"], ["train.py", "train", "more", "--lr=1"]])
def test_what_cannot_be_understood_is_refused(words):
    with pytest.raises(ValueError, match=r"first comes the file|arguments are --key=value"):
        parse_call(words)


def test_metrics_within_metrics_have_names_with_a_slash():
    assert dict(flattened({"loss": 1, "eval": {"acc": 2, "of": {"a": 3}}})) == {"loss": 1, "eval/acc": 2, "eval/of/a": 3}


def test_a_trial_is_laid_over_the_space_and_what_is_left_of_it_is_known():
    space = {"lr": 0.5j, "model": {"depth": 0.5j, "width": 8}, "batch": {"grid_search": [1, 2]}}
    config = merged(space, {"lr": 0.1, "model": {"width": 9}})
    assert config == {"lr": 0.1, "model": {"depth": 0.5j, "width": 9}, "batch": {"grid_search": [1, 2]}}
    assert undecided(config, lambda value: isinstance(value, complex)) == ["model.depth", "batch"]
