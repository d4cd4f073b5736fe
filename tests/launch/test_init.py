"""`outrider init`: from a script to a definition that runs at once."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest

from definitions.errors import EXIT_USAGE
from definitions.registry import Registry
from definitions.resolve import resolve
from launch.__main__ import main
from tests.launch.conftest import rows

pytestmark = pytest.mark.slow

TRAIN = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--learning-rate", type=float, default=0.1)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--nesterov", action="store_true")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--log-interval", type=int, default=10)
given = parser.parse_args()
print(f"reading {given.data}, {given.seed}")
for epoch in range(1, given.epochs + 1):
    print(f"Epoch {epoch}/{given.epochs}: val loss: {(given.learning_rate - 0.3) ** 2 + given.batch_size / 1e4 + 1 / epoch:.4f}")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUTRIDER_RESULTS", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("OUTRIDER_LEASES", str(tmp_path / "leases"))
    return tmp_path


def write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")


def runs(file: str, trials: int = 3, *more: str) -> list[dict[str, str]]:
    """Run what was written as it stands but for the number of trials, and return the rows of its trials."""
    assert main(["run", "--benchmark", file, "--experiment_tag", "t", "--max_num_trials", str(trials), *more]) == 0
    (found,) = Path("results/t").glob("*/*/trials.csv")
    return rows(found)


def test_a_script_with_hyphens_switches_and_a_place_runs_at_once(folder, capfd):
    write("train.py", TRAIN)
    assert main(["init", "--run", "python train.py photos --log-interval 20"]) == 0
    captured = capfd.readouterr()
    assert "wrote train.yaml" in captured.out
    assert "running it once, for 60 s at most (--no_run: not run)" in captured.err
    definition = resolve(Registry().find("train.yaml"), "local", ()).definition
    assert definition.command == ("python", "train.py", "photos", "--log-interval", "20", "${arguments}")
    assert (definition.arguments_style, definition.booleans, definition.seed_argument) == ("hyphens", "switch", "seed")
    assert definition.space == {
        "learning_rate": {"loguniform": [0.003, 1.0]},
        "batch_size": {"logordinal": [8, 16, 32, 64, 128]},
        "nesterov": {"choice": [True, False]},
    }
    assert definition.objectives == {"val_loss": "min"}
    assert definition.fidelity is not None
    assert (definition.fidelity.argument, definition.fidelity.full) == ("epochs", 5)
    assert all("#" in line for line in Path("train.yaml").read_text(encoding="utf-8").splitlines())
    found = runs("train.yaml", 3, "--method", "ASHA")
    assert [row["status"] for row in found].count("completed") >= 1
    assert all(0.0 < float(row["last_val_loss"]) < 2.0 for row in found)


def test_a_file_that_is_there_stays_unless_it_is_said(folder, capfd):
    write("train.py", TRAIN)
    write("train.yaml", "mine\n")
    assert main(["init", "--run", "python train.py x", "--no_run"]) == EXIT_USAGE
    assert "train.yaml exists" in capfd.readouterr().err
    assert Path("train.yaml").read_text(encoding="utf-8") == "mine\n"
    assert main(["init", "--run", "python train.py x", "--no_run", "--output", "other.yaml"]) == 0
    assert main(["init", "--run", "python train.py x", "--no_run", "--force"]) == 0
    assert Path("train.yaml").read_text(encoding="utf-8").startswith("name: train")


def test_without_a_run_its_time_is_what_counts(folder, capfd):
    write("train.py", TRAIN)
    assert main(["init", "--run", "python train.py x", "--no_run"]) == 0
    assert resolve(Registry().find("train.yaml"), "local", ()).definition.objectives == {"duration_s": "min"}
    assert "running it" not in capfd.readouterr().err
    assert len(runs("train.yaml", 2)) == 2


def test_what_only_the_user_knows_is_asked_for(folder, capfd):
    write("train.py", TRAIN)
    assert main(["init", "train.py"]) == EXIT_USAGE
    err = capfd.readouterr().err
    assert "the script needs data" in err
    assert "--run 'python train.py DATA ...'" in err
    assert not Path("train.yaml").exists()


def test_a_script_that_fails_is_shown_with_its_last_words(folder, capfd):
    write("broken.py", "raise RuntimeError('no data here')\n")
    assert main(["init", "broken.py"]) == EXIT_USAGE
    assert "the script failed in its trial run: RuntimeError: no data here" in capfd.readouterr().err


def test_a_script_that_goes_on_is_ended_and_what_it_printed_counts(folder):
    write(
        "slow.py", "import time\nfor k in range(1000):\n    print(f'step {k} loss {1 / (k + 1):.3f}', flush=True)\n    time.sleep(0.05)\n"
    )
    assert main(["init", "slow.py", "--limit", "0.6"]) == 0
    text = Path("slow.yaml").read_text(encoding="utf-8")
    assert "objectives: {loss: min}" in text
    assert "The trial run was ended after " in text


def test_a_script_that_takes_nothing_for_how_long_to_train_has_the_levels_that_it_came_to(folder):
    write(
        "train.py",
        """\
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--lr", type=float, default=0.1)
        given = parser.parse_args()
        for epoch in range(1, 7):
            print(f"Epoch {epoch}: val_loss: {given.lr / epoch:.4f}")
        """,
    )
    assert main(["init", "train.py"]) == 0
    found = resolve(Registry().find("train.yaml"), "local", ()).definition.fidelity
    assert found is not None
    assert (found.argument, found.reported_as, found.full) == (None, "epoch", 6)
    assert {row["fidelity"] for row in runs("train.yaml", 3, "--method", "ASHA")} <= {"1", "2", "3", "4", "5", "6"}


COUNTING = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--l2", type=float, default=0.01)
parser.add_argument("--epochs", type=int, default=4)
given = parser.parse_args()
print(f"lr={given.lr} l2={given.l2}")
for epoch in range(given.epochs):
    print(f"epoch {epoch} l2={given.l2} error={given.lr / (epoch + 1):.4f}")
"""


def test_levels_from_0_are_said_to_be_and_what_is_repeated_or_was_said_is_no_metric_and_no_range(folder):
    write("train.py", COUNTING)
    assert main(["init", "--run", "python train.py --l2 1e-3"]) == 0
    definition = resolve(Registry().find("train.yaml"), "local", ()).definition
    assert definition.fidelity.model_dump(exclude_none=True) == {
        "kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 4, "counts_from": 0
    }  # fmt: skip
    assert (set(definition.space), set(definition.metrics), definition.objectives) == ({"lr"}, {"epoch", "error"}, {"error": "min"})
    text = Path("train.yaml").read_text(encoding="utf-8")
    assert "arguments: {l2: 1e-3}" in text
    assert "in place of its value in `arguments`, this would search it: l2: {loguniform: [3" in text
    assert {row["fidelity"] for row in runs("train.yaml", 3, "--method", "RS")} == {"4"}


def test_why_there_is_no_fidelity_is_said(folder):
    write("train.py", COUNTING.replace("epoch {epoch} ", "epoch {epoch * 10} "))
    assert main(["init", "train.py"]) == 0
    text = Path("train.yaml").read_text(encoding="utf-8")
    assert "# No fidelity: epoch was 0, 10, told to go to 2, which does not count, from 1 or from 0, what is done" in text


def test_a_file_of_toml_is_written_anew_for_each_trial(folder):
    write("train.py", "import sys, tomllib\nprint('loss:', tomllib.load(open(sys.argv[1], 'rb'))['optim']['lr'])\n")
    write("conf.toml", "[optim]\nlr = 0.1\n")
    assert main(["init", "--run", "python train.py conf.toml"]) == 0
    definition = resolve(Registry().find("train.yaml"), "local", ()).definition
    assert (definition.arguments_style, set(definition.space)) == ("toml", {"optim.lr"})
    assert len({row["last_loss"] for row in runs("train.yaml", 2)}) == 2


def test_a_folder_is_no_script_and_says_which_are_in_it(folder, capfd):
    write("some/util.py", "")
    write("some/train.py", "if __name__ == '__main__':\n    pass\n")
    assert main(["init", "some"]) == EXIT_USAGE
    assert "init some: it is a folder\n  in it are some/train.py, some/util.py\n" in capfd.readouterr().err


def test_numbers_that_it_cannot_do_without_are_guessed_and_said_to_be(folder, capfd):
    write(
        "train.py",
        """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--alpha", type=float)
        parser.add_argument("--rounds-of-it", type=int, dest="times")
        given = parser.parse_args()
        print(f"loss: {given.alpha * given.times}")
        """,
    )
    assert main(["init", "train.py"]) == 0
    assert "once more, with guesses for alpha, times" in capfd.readouterr().err
    assert resolve(Registry().find("train.yaml"), "local", ()).definition.space == {
        "alpha": {"uniform": [0.0, 1.0]},
        "times": {"randint": [1, 10]},
    }
    assert len(runs("train.yaml", 2)) == 2


FORMS = {
    "click_form.py": """
        import click
        @click.group()
        def cli(): ...
        @cli.command()
        @click.option("--learning-rate", "-l", default=0.1)
        @click.option("--shuffle/--no-shuffle", default=True)
        @click.option("--epochs", default=3)
        def train(learning_rate, shuffle, epochs):
            for epoch in range(1, epochs + 1):
                click.secho(f"epoch {epoch} val_acc={learning_rate / epoch:.4f}", bold=True, color=True)
        cli()
        """,
    "argv_form.py": """
        import sys
        lr = float(sys.argv[1])
        batch = int(sys.argv[2]) if len(sys.argv) > 2 else 32
        print("loss", lr / batch)
        """,
    "pairs_form.py": """
        import sys
        given = dict(word.split("=", 1) for word in sys.argv[1:])
        print("test error:", float(given.get("lr", 0.1)))
        """,
    "shell_form.sh": """
        LR=${LR:-0.1}
        echo "val loss: $LR"
        """,
    "handed_on.sh": """
        cd "$(dirname "$0")"
        python inner.py "$@"
        """,
    "config_form.py": """
        import json, sys
        given = json.load(open(sys.argv[sys.argv.index("--config") + 1]))
        print("accuracy:", given["optim"]["lr"] * len(given["layers"]))
        """,
}
FORMS["fire_form.py"] = """
    import sys
    words = dict(word.removeprefix("--").split("=") for word in sys.argv[2:])
    if sys.argv[1:2] != ["train"]:
        sys.exit("usage: fire_form.py COMMAND")
    print("loss", (float(words["lr"]) - 0.3) ** 2 + int(words["depth"]) * (words["kind"] == "ridge"))
    """
FILES = {
    "inner.py": "import argparse\n"
    "p = argparse.ArgumentParser()\n"
    "p.add_argument('--lr', type=float, default=0.1)\n"
    "print('loss:', p.parse_args().lr)\n",
    "conf.json": '{"optim": {"lr": 0.1}, "layers": [1, 2]}',
}


@pytest.mark.parametrize(
    ("file", "words", "objective", "searched"),
    [
        ("click_form.py", (), "val_acc", {"learning_rate", "shuffle"}),
        ("argv_form.py", ("--run", "python argv_form.py 0.1"), "loss", {"lr", "batch"}),
        ("fire_form.py", ("--run", "python fire_form.py train --lr=0.1 --depth=3 --kind=ridge"), "loss", {"lr", "depth"}),
        ("pairs_form.py", (), "test_error", {"lr"}),
        ("shell_form.sh", (), "val_loss", {"lr"}),
        ("handed_on.sh", (), "loss", {"lr"}),
        ("config_form.py", ("--run", "python config_form.py --config conf.json"), "accuracy", {"optim.lr"}),
    ],
)
def test_scripts_of_every_form_run_at_once(folder, capfd, file, words, objective, searched):
    if file.startswith("click"):
        pytest.importorskip("click")
    for name, text in {file: FORMS[file], **FILES}.items():
        write(name, text)
    assert main(["init", *(words or (file,))]) == 0, capfd.readouterr().err
    written = f"{Path(file).stem}.yaml"
    definition = resolve(Registry().find(written), "local", ()).definition
    assert (definition.primary_objective, set(definition.space)) == (objective, searched)
    found = runs(written, 2, "--check_script")
    assert [row["status"] for row in found] == ["completed", "completed"]
    assert len({row[f"last_{objective}"] for row in found}) == 2


def test_a_tree_of_hydra_becomes_keys_with_dots_told_as_key_value(folder):
    write("train.py", "import hydra\n@hydra.main('conf', 'config', version_base=None)\ndef train(cfg): ...\n")
    write("conf/config.yaml", "defaults: [optimizer: sgd, _self_]\nepochs: 3\nmodel: {dropout: 0.1}\nseed: 1\n")
    write("conf/optimizer/sgd.yaml", "lr: 0.1\nmomentum: 0.9\n")
    write("conf/optimizer/adam.yaml", "lr: 1e-3\n")
    assert main(["init", "train.py", "--no_run"]) == 0
    definition = resolve(Registry().find("train.yaml"), "local", ()).definition
    assert (definition.arguments_style, definition.seed_argument, definition.arguments) == ("key=value", "seed", {"epochs": 3})
    assert list(definition.space) == ["optimizer", "optimizer.lr", "optimizer.momentum", "model.dropout"]
    assert definition.space["optimizer"] == {"choice": ["adam", "sgd"]}
    assert definition.space["optimizer.momentum"]["when"] == "optimizer == 'sgd'"


def test_modules_and_launchers_are_said_by_run(folder, capfd):
    write("pkg/__init__.py", "")
    write("pkg/train.py", "from pkg import *\n" + FILES["inner.py"])
    assert main(["init", "--run", "python -m pkg.train", "--output", "module.yaml"]) == 0
    assert resolve(Registry().find("module.yaml"), "local", ()).definition.command == ("python", "-m", "pkg.train", "${arguments}")
    assert len(runs("module.yaml", 2)) == 2


def test_a_parser_that_the_source_does_not_show_is_asked_for_its_help(folder, capfd):
    write(
        "train.py",
        FILES["inner.py"].replace(
            "p.add_argument('--lr'", "[p.add_argument('--' + n, type=float, default=0.1, help='(default: 0.1)') for n in ['lr']]\n#"
        ),
    )
    assert main(["init", "train.py"]) == 0
    assert "asking for its arguments: python train.py --help" in capfd.readouterr().err
    assert set(resolve(Registry().find("train.yaml"), "local", ()).definition.space) == {"lr"}


def test_files_beside_the_script_are_found_where_trials_start(folder):
    write("data/scale.txt", "2.0\n")
    write("train.py", "scale = float(open('data/scale.txt').read())\nprint(f'loss: {scale / 3}')\n")
    assert main(["init", "train.py"]) == 0
    assert resolve(Registry().find("train.yaml"), "local", ()).definition.working_dir == "source"
    assert [row["last_loss"] for row in runs("train.yaml", 1)] == [str(2.0 / 3)]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_a_target_of_a_makefile_is_run_where_that_is_and_told_its_variables(folder, monkeypatch):
    # The tests may themselves be run by make, whose own level would stand in its messages.
    for name in ("MAKELEVEL", "MAKEFLAGS", "MFLAGS"):
        monkeypatch.delenv(name, raising=False)
    write("train.py", "import sys\nprint(f'loss: {float(sys.argv[1]) / 3}')\n")
    write("Makefile", "LR ?= 0.1\ntrain:\n\t@python train.py $(LR)\n")
    assert main(["init", "--run", "make train LR=0.5"]) == 0
    definition = resolve(Registry().find("make.yaml"), "local", ()).definition
    assert (definition.working_dir, set(definition.space)) == ("source", {"LR"})
    assert len({row["last_loss"] for row in runs("make.yaml", 2)}) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--run", "python train.py < data.json"], "means something to a shell only"),
        ([], "init needs a script"),
        (["nowhere.py"], "there is no such file"),
        (["--run", "python nowhere.py --lr 1"], "there is no file nowhere.py"),
        (["--run", "./train.ipynb"], "it is a notebook, and no script"),
        (["train.py", "--run", "python other.py"], "train.py is no word of the command"),
        (["--run", "python 'train.py"], "cannot be split"),
    ],
)
def test_wrong_use_is_said(folder, capfd, words, said):
    write("train.py", TRAIN)
    write("train.ipynb", "{}")
    assert main(["init", *words]) == EXIT_USAGE
    assert said in capfd.readouterr().err
