"""Python scripts that take their values from variables."""

from backends.common.hints import unknown_text
from backends.scripts.interface import nearest_spelling
from backends.scripts.read_source import read_script


def read(tmp_path, text):
    (tmp_path / "t.py").write_text(text, encoding="utf-8")
    return read_script(tmp_path / "t.py", tmp_path)


def test_each_form_in_which_a_variable_is_read(tmp_path):
    found = read(
        tmp_path,
        """
import os
from os import environ, getenv
LR = "LEARNING_RATE"
lr = float(os.environ.get(LR, "1e-3"))
size = int(os.getenv("BATCH_SIZE", 32))
name = environ["RUN_NAME"]
amp = getenv("AMP")
momentum = float(os.environ["MOMENTUM"])
os.environ["OUT"] = "x"
again = os.environ.get("BATCH_SIZE")
""",
    )
    assert found.is_complete
    said = {one.name: (one.flag, one.kind, one.default, one.is_required) for one in found.arguments}
    assert said == {
        "learning_rate": ("$LEARNING_RATE", "number", 0.001, False),
        "batch_size": ("$BATCH_SIZE", "whole", 32, False),
        "run_name": ("$RUN_NAME", "text", None, True),
        "amp": ("$AMP", "text", None, False),
        "momentum": ("$MOMENTUM", "number", None, True),
    }


def test_what_is_asked_for_first_or_caught_need_not_be_there(tmp_path):
    found = read(
        tmp_path,
        """
import os
lr = float(os.environ["LR"]) if "LR" in os.environ else 0.1
wd = 0.01 if "WD" not in os.environ else float(os.environ["WD"])
if "AMP" in os.environ:
    amp = os.environ["AMP"]
try:
    size = int(os.environ["SIZE"])
except KeyError:
    size = 32
depth = int(os.environ.get("DEPTH") or 3)
drop = float(os.getenv("DROP", "") or 0.5)
needed = os.environ["NEEDED"]
""",
    )
    assert {one.name: (one.kind, one.default, one.is_required) for one in found.arguments} == {
        "lr": ("number", 0.1, False),
        "wd": ("number", 0.01, False),
        "amp": ("text", None, False),
        "size": ("whole", 32, False),
        "depth": ("whole", 3, False),
        "drop": ("number", 0.5, False),
        "needed": ("text", None, True),
    }


def test_what_a_system_a_launcher_or_a_library_sets_is_no_argument(tmp_path):
    names = ("HOME", "LOCAL_RANK", "WORLD_SIZE", "CUDA_VISIBLE_DEVICES", "SM_MODEL_DIR", "OUTRIDER_SEED", "WANDB_API_KEY", "MY_TOKEN")
    assert read(tmp_path, "import os\n" + "".join(f"os.environ['{name}']\n" for name in names)) is None


def test_a_parser_that_is_there_comes_first_and_one_that_cannot_be_read_leaves_it_open(tmp_path):
    reading = "import os\nos.environ['LR']\n"
    parser = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr')\np.parse_args()\n"
    assert read(tmp_path, reading + parser).form == "argparse"
    assert not read(tmp_path, reading + "import docopt\nprint(docopt.docopt(__doc__))\n").is_complete


def test_a_flag_that_is_a_variable_is_named_with_the_key_that_sets_it():
    near = nearest_spelling("--learning_rate", ["$LR", "$LEARNING_RATE"])
    assert unknown_text("--learning_rate", near, ["learning_rate"]) == (
        "the script does not know --learning_rate; the nearest that it knows is the variable $LEARNING_RATE, "
        "set by `environment: {LEARNING_RATE: '${learning_rate}'}`"
    )
