"""From what a script can be told to what a definition tells it."""

from __future__ import annotations

import pytest

from backends.scripts.interface import Interface, ScriptArgument
from benchmarking.scripts.call import ScriptCall
from benchmarking.scripts.config_file import config_plan, config_word
from benchmarking.scripts.plan import make_plan
from definitions.errors import UserError

LR = ScriptArgument("learning_rate", ("--learning-rate",), "number", 0.1)
EPOCHS = ScriptArgument("epochs", ("--epochs",), "whole", 5)
NESTEROV = ScriptArgument("nesterov", ("--nesterov",), "switch", False)
SHUFFLE = ScriptArgument("shuffle", ("--shuffle",), "switch", True, negative="--no-shuffle")
SORTED = ScriptArgument("shuffle", ("--shuffle",), "switch", True, negative="--sorted")
BATCH = ScriptArgument("batch_size", ("--batch-size",), "whole", 32)
SEED = ScriptArgument("seed", ("--seed",), "whole", 0)
BIAS = ScriptArgument("bias", ("--bias",), "boolean", True)


def call(*given: str) -> ScriptCall:
    return ScriptCall(("python", "train.py"), "train.py", given=given)


def plan(*arguments: ScriptArgument, given: tuple[str, ...] = (), commands: dict[str, tuple[ScriptArgument, ...]] | None = None):
    return make_plan(call(*given), Interface("argparse", arguments, commands or {}))


def test_a_script_without_places_needs_no_command():
    found = plan(LR, EPOCHS)
    assert (found.command, found.style, found.rename) == (None, "hyphens", {})
    assert [*found.space] == ["learning_rate"]
    assert found.level == EPOCHS


def test_what_was_given_stays_as_said_and_says_how_it_would_be_searched():
    found = plan(LR, BATCH, ScriptArgument("data_dir", ("--data-dir",)), given=("--learning-rate", "1e-3", "--data-dir", "d", "more"))
    assert [*found.space] == ["batch_size"]
    assert (found.fixed, found.given) == ({"learning_rate": 1e-3}, {"learning_rate": {"loguniform": [3e-5, 0.01]}})
    assert found.command == ("python", "train.py", "more", "--data-dir", "d", "${arguments}")
    assert plan(LR, BATCH, SEED, EPOCHS, given=("--seed", "7", "--epochs", "3")).command == (
        "python",
        "train.py",
        "--seed",
        "7",
        "${arguments}",
    )


def test_what_a_sub_command_is_given_is_not_listed_as_left():
    layers = ScriptArgument("widths", ("--widths",), "whole", lists="repeated")
    found = plan(commands={"fit": (LR, layers)}, given=("fit", "--widths", "3"))
    assert found.command == ("python", "train.py", "fit", "--widths", "3", "${arguments}")
    assert found.left == ()


def test_where_nothing_else_is_left_to_search_it_is_what_was_given():
    found = plan(LR, EPOCHS, given=("--learning-rate", "1e-3", "--epochs", "3"))
    assert found.space["learning_rate"].domain == {"loguniform": [3e-5, 0.01]}
    assert (found.space["learning_rate"].first, found.fixed) == (1e-3, {})
    assert found.level is not None
    assert found.level.default == 3


def test_what_had_to_be_given_is_searched_around_its_value():
    needed = ScriptArgument("dropout", ("--dropout",), "number", is_required=True)
    assert [*plan(LR, needed, given=("--dropout", "0.2")).space] == ["learning_rate", "dropout"]


def test_given_switches_stay_whatever_their_form():
    assert plan(LR, SHUFFLE, given=("--no-shuffle",)).fixed == {"shuffle": False}
    assert plan(LR, SORTED, given=("--sorted",)).command == ("python", "train.py", "--sorted", "${arguments}")
    before = plan(NESTEROV, commands={"fit": (LR,)}, given=("--nesterov", "fit"))
    assert before.command == ("python", "train.py", "--nesterov", "fit", "${arguments}")


def test_names_that_a_style_would_spell_otherwise_are_renamed():
    odd = ScriptArgument("width", ("--hidden_size",), "whole", 64)
    short = ScriptArgument("dropout", ("-d",), "number", 0.1)
    assert plan(LR, odd, short).rename == {"width": "hidden_size", "dropout": "-d"}


@pytest.mark.parametrize(
    ("arguments", "booleans", "space"),
    [
        ((NESTEROV,), "switch", ["nesterov"]),
        ((SHUFFLE,), "no_switch", ["shuffle"]),
        ((NESTEROV, SHUFFLE), {"nesterov": "switch", "shuffle": "no_switch"}, ["nesterov", "shuffle"]),
        # A switch whose other form is no `--no-` is told by the form that changes something.
        ((NESTEROV, SORTED), "switch", ["nesterov", "sorted"]),
        ((BIAS,), "value", ["bias"]),
        ((NESTEROV, BIAS), {"nesterov": "switch"}, ["nesterov", "bias"]),
    ],
)
def test_truth_is_told_in_each_ones_way(arguments, booleans, space):
    found = plan(*arguments)
    assert (found.booleans, [*found.space]) == (booleans, space)


def test_places_before_flags_and_what_is_searched_among_them():
    lr = ScriptArgument("lr", (), "number", is_required=True)
    size = ScriptArgument("batch", (), "whole", 32)
    assert plan(lr, size, given=("0.5",)).command == ("python", "train.py", "${lr}", "${batch}")
    data = ScriptArgument("data", (), is_required=True)
    with pytest.raises(UserError, match=r"needs data\n.*\n  say it: --run 'python train.py DATA \.\.\.'"):
        plan(data, LR)


def test_what_stands_before_a_sub_command_is_named_there():
    found = plan(LR, NESTEROV, commands={"train": (EPOCHS,), "eval": ()})
    assert found.command == ("python", "train.py", "--learning-rate=${learning_rate}", "train", "${arguments}")
    assert [*found.space] == ["learning_rate"]  # a switch cannot be said there
    with pytest.raises(UserError, match="sub-commands a, b"):
        plan(LR, commands={"a": (), "b": ()})
    assert plan(LR, given=("b",), commands={"a": (), "b": ()}).command[-1] == "b"


def test_variables_are_set_and_conditions_written():
    group = ScriptArgument("optimizer", ("optimizer",), "text", "sgd", ("sgd", "adam"))
    momentum = ScriptArgument("optimizer.momentum", ("optimizer.momentum",), "number", 0.9, when=("optimizer", ("sgd",)))
    found = make_plan(call(), Interface("hydra", (group, momentum), style="key=value"))
    assert found.space["optimizer.momentum"].domain == {"when": "optimizer == 'sgd'", "reverseloguniform": [0.5, 0.99]}
    shell = make_plan(ScriptCall(("bash", "run.sh"), "run.sh"), Interface("shell", (ScriptArgument("lr", ("$LR",), "number", 0.1),)))
    assert (shell.command, shell.environment) == (("bash", "run.sh"), {"LR": "${lr}"})


def test_only_one_seed_and_one_level():
    steps = ScriptArgument("max_steps", ("--max_steps",), "whole", 100)
    found = plan(EPOCHS, steps, ScriptArgument("seed", ("--seed",), "whole", 1))
    assert (found.level, found.seed.name, [one.name for one in found.left]) == (EPOCHS, "seed", ["max_steps"])


def test_a_file_of_arguments_is_written_anew_with_all_that_it_says():
    data = {"optim": {"lr": 0.1}, "epochs": 5, "seed": 1, "data": {"path": "x"}, "layers": [64, 32]}
    where = config_word(
        call("--config", "conf.yaml"), Interface("argparse", (ScriptArgument("config", ("--config",)),)), lambda word: word == "conf.yaml"
    )
    assert where == ("conf.yaml", "")
    found = config_plan(call("--config", "conf.yaml"), *where, data)
    assert found.command == ("python", "train.py", "--config", "${arguments_file}")
    assert (found.style, [*found.space], found.level.name, found.seed.name) == ("yaml", ["optim.lr"], "epochs", "seed")
    assert found.fixed == {"data.path": "x", "layers": [64, 32]}


def test_a_file_that_is_a_default_needs_its_flag_and_a_script_with_flags_reads_these():
    config = ScriptArgument("config", ("--config",), "text", "conf.json")
    assert config_word(call(), Interface("argparse", (config,)), lambda word: True) == ("conf.json", "--config")
    assert config_word(call(), Interface("argparse", (config, LR)), lambda word: True) == ("", "")
    assert config_plan(call(), "conf.json", "--config", {"lr": 0.1}).command[-2:] == ("--config", "${arguments_file}")
