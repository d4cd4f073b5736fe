"""Scripts that take no words at all: known by their source, and claimed of none that may take some."""

import pytest

from backends.scripts.deaf import takes_no_words


@pytest.mark.parametrize(
    ("name", "text", "deaf"),
    [
        ("t.py", "print('loss: 1')", True),
        ("t.py", "import os\nprint(os.environ['LR'])", True),
        ("t.py", "import sys\nprint(sys.argv)", False),
        ("t.py", "from absl import flags", False),
        ("t.py", "import os, json\nprint(json.loads(os.environ['SM_HPS']))", False),
        ("t.py", "open('/opt/ml/input/config/hyperparameters.json')", False),
        ("t.py", "def broken(:", False),
        ("t.py", "from beside import given\nprint(given)", False),
        ("t.sh", "echo loss: 1 $HOME", True),
        ("t.sh", "LR=${LR:-0.1}\necho $LR", True),
        ("t.sh", 'echo "$1"', False),
        ("t.sh", 'for word in "${@}"; do :; done', False),
        ("t.sh", 'python silent.py "$@"', True),
        ("t.sh", 'python beside.py "$@"', False),
        ("t.R", "cat(0.5)", True),
        ("t.R", "given <- commandArgs(TRUE)", False),
        ("t.pl", "my $lr = shift;", False),
        ("t.rb", "puts 1", False),
    ],
)
def test_who_takes_no_words(tmp_path, name, text, deaf):
    (tmp_path / "beside.py").write_text("import argparse\ngiven = argparse.ArgumentParser().parse_args()\n", encoding="utf-8")
    (tmp_path / "silent.py").write_text("print(1)\n", encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert takes_no_words(tmp_path / name, tmp_path) is deaf


def test_a_script_that_is_not_there_is_none(tmp_path):
    assert not takes_no_words(tmp_path / "none.py", tmp_path)
