"""What scripts can be told, by their source, whichever library they have their parser from."""

from __future__ import annotations

import textwrap

import pytest

from backends.scripts.interface import Interface, ScriptArgument
from backends.scripts.read_source import has_parser, read_script


@pytest.fixture
def read(tmp_path):
    """Read a script written to a folder, with further files beside it."""

    def call(text: str, name: str = "train.py", **others: str) -> Interface:
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
        for other, content in others.items():
            (tmp_path / f"{other}.py").write_text(textwrap.dedent(content), encoding="utf-8")
        found = read_script(tmp_path / name, tmp_path)
        assert found is not None
        return found

    return call


def test_click(read):
    found = read(
        """
        import click
        @click.command()
        @click.argument("data", type=click.Path())
        @click.option("--learning-rate", "-l", type=float, default=0.1)
        @click.option("--optimizer", "opt", type=click.Choice(["sgd", "adam"]), default="sgd")
        @click.option("--nesterov/--no-nesterov", default=True)
        @click.option("--verbose", is_flag=True)
        @click.option("--tag", multiple=True)
        def main(**given): ...
        """
    )
    assert (found.form, found.commands) == ("click", {})
    assert found.arguments == (
        ScriptArgument("data", (), "path", is_required=True),
        ScriptArgument("learning_rate", ("--learning-rate", "-l"), "number", 0.1),
        ScriptArgument("opt", ("--optimizer",), "text", "sgd", ("sgd", "adam")),
        ScriptArgument("nesterov", ("--nesterov",), "switch", True, negative="--no-nesterov"),
        ScriptArgument("verbose", ("--verbose",), "switch", False),
        ScriptArgument("tag", ("--tag",), "text", lists="repeated"),
    )


def test_a_group_of_click_has_sub_commands(read):
    found = read(
        """
        import click
        @click.group()
        @click.option("--debug", is_flag=True)
        def cli(debug): ...
        @cli.command()
        @click.option("--lr", default=0.1)
        def train_model(lr): ...
        @cli.command("test")
        def evaluate(): ...
        """
    )
    assert [argument.name for argument in found.arguments] == ["debug"]
    assert {name: [one.name for one in inner] for name, inner in found.commands.items()} == {"train-model": ["lr"], "test": []}


TYPER = """
    import typer
    from enum import Enum
    from pathlib import Path
    from typing import Annotated, Optional
    class Kind(str, Enum):
        small = "small"
        large = "large"
    app = typer.Typer()
    @app.command()
    def main(
        data: Path,
        lr: float = 0.1,
        width: Annotated[int, typer.Option("--hidden")] = 64,
        decay: float = typer.Option(1e-4, "--weight-decay", "-w"),
        name: str = typer.Option(...),
        kind: Kind = Kind.small,
        amp: bool = False,
        steps: Optional[int] = None,
        tags: list[str] = [],
    ): ...
"""


def test_typer(read):
    found = read(TYPER)
    assert (found.form, found.commands) == ("typer", {})
    assert found.arguments == (
        ScriptArgument("data", (), "path", is_required=True),
        ScriptArgument("lr", ("--lr",), "number", 0.1),
        ScriptArgument("width", ("--hidden",), "whole", 64),
        ScriptArgument("decay", ("--weight-decay", "-w"), "number", 1e-4),
        ScriptArgument("name", ("--name",), "text", is_required=True),
        ScriptArgument("kind", ("--kind",), "text", "small", ("small", "large")),
        ScriptArgument("amp", ("--amp",), "switch", False, negative="--no-amp"),
        ScriptArgument("steps", ("--steps",), "whole"),
        ScriptArgument("tags", ("--tags",), "text", [], lists="repeated"),
    )


def test_absl(read):
    found = read(
        """
        from absl import app, flags
        flags.DEFINE_float("learning_rate", 0.1, "of the optimiser", lower_bound=0.0)
        flags.DEFINE_enum("optimizer", "sgd", ["sgd", "adam"], "which")
        _STEPS = flags.DEFINE_integer(name="num_steps", default=4, help="how many", required=True)
        flags.DEFINE_bool("use_bn", False, "")
        flags.DEFINE_string("data", None, "")
        flags.mark_flag_as_required("data")
        """
    )
    assert [(one.name, one.kind, one.default, one.choices, one.is_required) for one in found.arguments] == [
        ("learning_rate", "number", 0.1, (), False),
        ("optimizer", "text", "sgd", ("sgd", "adam"), False),
        ("num_steps", "whole", 4, (), True),
        ("use_bn", "boolean", False, (), False),
        ("data", "text", None, (), True),
    ]


def test_dataclasses_of_transformers(read):
    found = read(
        """
        from dataclasses import dataclass, field
        from typing import Literal, Optional
        from transformers import HfArgumentParser, TrainingArguments
        @dataclass
        class ModelArguments:
            model_name: str
            dropout: float = field(default=0.1, metadata={"help": "share"})
            activation: Literal["relu", "gelu"] = "relu"
            layers: Optional[int] = None
        @dataclass
        class Mine(TrainingArguments):
            learning_rate: float = 3e-4
        HfArgumentParser((ModelArguments, Mine)).parse_args_into_dataclasses()
        """
    )
    told = {one.name: one for one in found.arguments}
    assert found.form == "HfArgumentParser"
    assert told["model_name"].is_required
    assert (told["dropout"].default, told["dropout"].help) == (0.1, "share")
    assert told["activation"].choices == ("relu", "gelu")
    assert (told["layers"].kind, told["layers"].default) == ("whole", None)
    # The library's own are known, with what the script makes of them.
    assert (told["learning_rate"].default, told["per_device_train_batch_size"].default) == (3e-4, 8)


def test_signatures_and_classes_are_command_lines(read):
    function = "def main(lr: float = 0.1, layers: int = 2, bias: bool = True): ..."
    for text, form, flag in [
        (f"from jsonargparse import CLI\n{function}\nCLI(main)", "jsonargparse", "--lr"),
        (f"import fire\n{function}\nfire.Fire(main)", "fire", "--lr"),
        (f"import tyro\n{function}\ntyro.cli(main)", "tyro", "--lr"),
    ]:
        found = read(text)
        assert (found.form, found.arguments[0]) == (form, ScriptArgument("lr", (flag,), "number", 0.1))
    lightning = read(
        """
        from lightning.pytorch.cli import LightningCLI
        from model import Net
        class Data:
            def __init__(self, batch_size: int = 8): ...
        LightningCLI(Net, Data)
        """,
        model="class Net:\n    def __init__(self, lr: float = 0.1, hidden: int = 16):\n        pass\n",
    )
    flags = [one.flag for one in lightning.commands["fit"]]
    assert flags[:4] == ["--model.lr", "--model.hidden", "--data.batch_size", "--trainer.max_epochs"]


def test_places_of_sys_argv_are_named_by_their_variables(read):
    found = read("import sys\nlr = float(sys.argv[1])\nbatch = int(sys.argv[2]) if len(sys.argv) > 2 else 32\nopen(sys.argv[3])\n")
    assert found.arguments == (
        ScriptArgument("lr", (), "number", is_required=True),
        ScriptArgument("batch", (), "whole", 32),
        ScriptArgument("argument_3", is_required=True),
    )


def test_words_that_are_split_are_key_value(read):
    found = read(
        "import sys\ngiven = dict(word.split('=') for word in sys.argv[1:])\nlr = float(given['lr'])\nn = int(given.get('n', 3))\n"
    )
    assert found.style == "key=value"
    assert [(one.name, one.default, one.is_required) for one in found.arguments] == [("lr", None, True), ("n", 3, False)]


def test_a_tree_of_hydra_has_groups_leaves_and_conditions(read, tmp_path):
    conf = tmp_path / "conf" / "optimizer"
    conf.mkdir(parents=True)
    (conf / "sgd.yaml").write_text("lr: 0.1\nmomentum: 0.9\n", encoding="utf-8")
    (conf / "adam.yaml").write_text("lr: 1e-3\n", encoding="utf-8")
    (tmp_path / "conf" / "config.yaml").write_text(
        "defaults:\n  - optimizer: sgd\n  - _self_\ntrain:\n  epochs: 3\n  root: ???\nout: ${train.epochs}\noptimizer: {lr: 0.2}\n",
        encoding="utf-8",
    )
    found = read("import hydra\n@hydra.main(version_base=None, config_path='conf', config_name='config')\ndef main(cfg): ...\n")
    told = {one.name: one for one in found.arguments}
    assert found.style == "key=value"
    assert (told["optimizer"].choices, told["optimizer"].default) == (("adam", "sgd"), "sgd")
    # The primary configuration lies over the group's.
    assert (told["optimizer.lr"].default, told["optimizer.lr"].when) == (0.2, None)
    assert told["optimizer.momentum"].when == ("optimizer", ("sgd",))
    assert (told["train.epochs"].default, told["train.root"].is_required) == (3, True)
    assert "out" not in told


@pytest.mark.parametrize(
    "call", ["config_name='config'", "None, 'config'", "'.', config_name='config.yaml'", "version_base='1.1', config_name='config'"]
)
def test_a_configuration_of_hydra_is_found_however_it_is_named(read, tmp_path, call):
    (tmp_path / "config.yaml").write_text("lr: 0.1\nmodel: {width: 8}\n", encoding="utf-8")
    found = read(f"from hydra import main\n@main({call})\ndef train(cfg): ...\n")
    assert [(one.name, one.default) for one in found.arguments] == [("lr", 0.1), ("model.width", 8)]
    assert (found.style, found.is_complete) == ("key=value", True)


def test_variables_and_places_of_shells(read):
    found = read("LR=${LR:-0.1}\n: ${EPOCHS:=3}\nsize=$1\necho $2\n", name="run.sh")
    assert found.arguments == (
        ScriptArgument("size", is_required=True),
        ScriptArgument("argument_2", is_required=True),
        ScriptArgument("lr", ("$LR",), "number", 0.1),
        ScriptArgument("epochs", ("$EPOCHS",), "whole", 3),
    )


def test_variables_without_a_default_letters_and_what_is_another_program_s(read):
    found = read(
        """
        while getopts "w:v" flag; do
          case $flag in
            w) workers=$OPTARG ;;
            v) ;;
          esac
        done
        MODEL=$(mktemp)
        python train.py "$LEARNING_RATE" "$workers" > "$MODEL"
        awk '{ print $1 }' "$MODEL" "$HOME"
        """,
        name="run.sh",
    )
    assert found.arguments == (
        ScriptArgument("learning_rate", ("$LEARNING_RATE",), is_required=True),
        ScriptArgument("workers", ("-w",)),
        ScriptArgument("v", ("-v",), "switch", False),
    )


def test_flags_that_a_script_looks_for_itself_are_told_as_two_words(read):
    found = read("import sys\nfast = '--fast' in sys.argv\npath = sys.argv[sys.argv.index('--config') + 1]\n")
    assert found.style == "two_words"
    assert found.arguments == (
        ScriptArgument("fast", ("--fast",), "switch", False),
        ScriptArgument("config", ("--config",), is_required=True),
    )


def test_what_options_of_a_shell_are_without_is_what_their_variables_are_set_to_first(read):
    found = read(
        """
        LR=0.1   # as in the paper
        export BATCH="32"
        NAME="a b"; EPOCHS=2   # several in one line
        while getopts "l:b:e:w:f" opt; do
          case $opt in
            l) LR=$OPTARG;;
            e) EPOCHS=$OPTARG;;
            w) WIDTH=$OPTARG;;
            x)
              WIDTH=4;;
            b) BATCH="$OPTARG" ;;
            f) FAST=1 ;;
          esac
        done
        """,
        name="run.sh",
    )
    assert found.arguments == (
        ScriptArgument("lr", ("-l",), "number", 0.1),
        ScriptArgument("batch", ("-b",), "whole", 32),
        ScriptArgument("epochs", ("-e",), "whole", 2),
        ScriptArgument("width", ("-w",)),
        ScriptArgument("fast", ("-f",), "switch", False),
    )


def test_optparse(read):
    found = read(
        """
        from optparse import OptionParser
        parser = OptionParser(usage="x")
        parser.add_option("-l", "--lr", type="float", dest="rate", default=0.1, help="rate")
        parser.add_option("--size", type=int, nargs=2)
        parser.add_option("--amp", action="store_true", default=False)
        parser.add_option("--no-bias", action="store_false", dest="bias", default=True)
        parser.add_option("--kind", type="choice", choices=["a", "b"])
        parser.add_option("--tag", action="append")
        options, rest = parser.parse_args()
        """
    )
    assert (found.form, found.is_complete) == ("optparse", True)
    assert found.arguments == (
        ScriptArgument("rate", ("--lr", "-l"), "number", 0.1, help="rate"),
        ScriptArgument("size", ("--size",), "whole", lists="words"),
        ScriptArgument("amp", ("--amp",), "switch", False),
        ScriptArgument("no_bias", ("--no-bias",), "switch", False),
        ScriptArgument("kind", ("--kind",), "text", None, ("a", "b")),
        ScriptArgument("tag", ("--tag",), "text", lists="repeated"),
    )


LONG = """
    lr=0.1
    while [[ $# -gt 0 ]]; do
      case "$1" in
        -l|--lr) lr="$2"; shift 2 ;;
        --epochs)
          epochs=$2
          shift 2
          ;;
        --nesterov) nesterov=1; shift ;;
        -h|--help) usage=1; exit 0 ;;
        *) echo "Unknown option $1"; exit 1 ;;
      esac
    done
    python inner.py "$lr" $epochs
    """


def test_long_options_that_a_shell_takes_apart_itself(read):
    found = read(LONG, name="run.sh")
    assert found.style == "two_words"
    assert found.arguments == (
        ScriptArgument("lr", ("--lr", "-l"), "number", 0.1),
        ScriptArgument("epochs", ("--epochs",)),
        ScriptArgument("nesterov", ("--nesterov",), "switch", False),
    )
    joined = read('for word in "$@"; do case $word in --lr=*) lr="${word#*=}" ;; esac; done', name="run.sh")
    assert (joined.style, [one.flags for one in joined.arguments]) == ("flags", [("--lr",)])


def test_a_shell_that_hands_on_all_its_words_takes_those_of_the_script(read):
    inner = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float, default=0.1)\np.parse_args()\n"
    found = read('cd "$(dirname "$0")"\npython \\\n  inner.py "$@"\n', name="run.sh", inner=inner)
    assert (found.form, [one.name for one in found.arguments]) == ("argparse", ["lr"])


def test_modules_beside_the_script_count_but_not_what_they_do_when_run_themselves(read):
    found = read(
        "from options import parser\nparser().parse_args()\n",
        options="""
        import argparse
        def parser():
            p = argparse.ArgumentParser()
            p.add_argument("--lr", type=float, default=0.1)
            return p
        if __name__ == "__main__":
            q = argparse.ArgumentParser()
            q.add_argument("--other")
        """,
    )
    assert [one.name for one in found.arguments] == ["lr"]


def test_a_script_that_takes_no_words_has_no_parser(tmp_path):
    (tmp_path / "a.py").write_text("import json\nprint(json.dumps({}))\n", encoding="utf-8")
    (tmp_path / "b.py").write_text("from mylib import parse_options\n", encoding="utf-8")
    (tmp_path / "c.py").write_text("this is no Python\n", encoding="utf-8")
    assert [has_parser(tmp_path / name, tmp_path) for name in ("a.py", "b.py", "c.py")] == [False, True, False]
    assert read_script(tmp_path / "c.py", tmp_path) is None


@pytest.mark.parametrize(
    ("taken_off", "flags", "style"),
    [
        ("w", ("lr",), "key=value"),
        ("w.removeprefix('--')", ("--lr",), "flags"),
        ("w.lstrip('-')", ("--lr",), "flags"),
        ("w[2:]", ("--lr",), "flags"),
    ],
)
def test_words_that_lose_their_hyphens_before_they_are_split_are_flags(taken_off, flags, style, tmp_path):
    script = f"import sys\ngiven = dict({taken_off}.split('=') for w in sys.argv[2:])\nprint(given.get('lr', '0.1'))\n"
    (tmp_path / "train.py").write_text(script)
    found = read_script(tmp_path / "train.py", tmp_path)
    assert ([one.flags for one in found.arguments], found.style) == ([flags], style)
