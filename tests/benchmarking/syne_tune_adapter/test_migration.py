"""Runs what docs/migration.md says, in the order in which it says it, in a folder of its own."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarking.methods.registry import known_methods

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)( then)?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, then, text in BLOCKS if kind == "sh" and not then for line in text.splitlines()]


def file_name(text):
    first = re.match(r"# (\S+\.(?:py|yaml))\n", text)
    assert first, f"this block does not say which file it is:\n{text}"
    return first[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the page's files; of those of one name the last, which is the advised one."""
    folder = tmp_path_factory.mktemp("migration")
    for kind, then, text in BLOCKS:
        if kind in ("python", "yaml") and not then:
            (folder / file_name(text)).write_text(text)
    (folder / "hpo_main.py").write_text((ROOT / "hpo_main.py").read_text())
    return folder


def run(folder, *command):
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SYNETUNE_FOLDER": str(folder / "syne-tune"),
        "OUTRIDER_CACHE": str(folder / "cache"),
        "OUTRIDER_RESULTS": str(folder / "results"),
    }
    return subprocess.run([sys.executable, *command], cwd=folder, env=environ, capture_output=True, text=True, timeout=150, check=False)


@pytest.fixture(scope="module")
def commands_ran(folder):
    """What came of each command: all run in their order for whichever test asks first, as tests may be divided among processes."""
    found = {}
    for command in COMMANDS:
        program, *arguments = shlex.split(command)
        assert program == "outrider"
        found[command] = run(folder, "-m", "launch", *arguments)
    return found


def test_the_page_has_something_to_run():
    assert len(COMMANDS) >= 6
    assert [kind for kind, then, _ in BLOCKS if then] == ["python", "sh", "python"]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(commands_ran, command):
    ran = commands_ran[command]
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()


@pytest.mark.timeout(400)
def test_the_commands_left_what_the_page_says(folder, commands_ran):
    there = {str(path.relative_to(folder / "results")) for path in (folder / "results").glob("*/*/*")}
    assert {"my-tag/my_benchmark/RS-local-0", "my-tag/my_benchmark/RS-local-1", "my-asha/my_benchmark/ASHA-local-0"} <= there
    names = {path.name for path in (folder / "results/my-tag/my_benchmark/RS-local-0").iterdir()}
    assert {"reports.csv", "trials.csv", "experiment.json", "environment.json", "definition.yaml", "journal.sqlite"} <= names
    header = (folder / "results/my-tag/my_benchmark/RS-local-0/reports.csv").read_text().splitlines()[0].split(",")
    assert {"epoch", "objective", "elapsed_s"} <= set(header)


def test_an_unchanged_script_with_syne_tunes_reporter_is_heard(folder):
    texts = [text for kind, then, text in BLOCKS if kind == "python" and not then and file_name(text) == "train.py"]
    assert ["from syne_tune import Reporter" in text for text in texts] == [True, False]
    (folder / "old").mkdir()
    (folder / "old" / "train.py").write_text(texts[0])
    (folder / "old" / "my_benchmark.yaml").write_text((folder / "my_benchmark.yaml").read_text())
    setting = ("--set", "fidelity.full=3", "--max_num_trials", "1", "--experiment_tag", "old")
    ran = run(folder, "hpo_main.py", "--benchmark", "old/my_benchmark.yaml", *setting)
    assert ran.returncode == 0, ran.stderr
    rows = (folder / "results/old/my_benchmark/RS-local-0/reports.csv").read_text().splitlines()
    assert len(rows) == 1 + 3


def test_a_definition_is_imported_and_runs(folder):
    ran = run(folder, "import_it.py")
    assert ran.stdout.strip().endswith("pytorch"), ran.stderr
    ran = run(folder, "run_it.py")
    assert ran.returncode == 0, ran.stderr
    first = (folder / "results/imported/imported/RS_POINTS-local-0/trials.csv").read_text().splitlines()[1]
    assert "0.03" in first.split(",")
    assert "64" in first.split(",")


def test_syne_tunes_own_tuner_runs_on_the_local_back_end(folder):
    ran = run(folder, "tune.py")
    assert ran.returncode == 0, ran.stderr
    assert "HYPERPARAMETER OPTIMIZATION COMPLETE" in ran.stderr + ran.stdout
    assert list((folder / "syne-tune").glob("*/results.csv.zip"))


def test_every_flag_that_is_said_to_be_the_same_is_there():
    line = next(line for line in PAGE.splitlines() if "the same names; `--benchmark`" in line)
    flags = set(re.findall(r"`(--\w+)`", line.split("|")[1]))
    assert len(flags) == 11
    offered = run(ROOT, "hpo_main.py", "--help").stdout
    assert all(re.search(rf"{flag}\b", offered) for flag in flags)


def test_every_method_that_is_named_is_there():
    table = PAGE.split("## 4. Methods")[1].split("```sh")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ") and "not there" not in line]
    named = {name for row in rows[1:3] for name in re.findall(r"`([A-Z_]+)`", row[1] if "the same names" in row[2] else row[2])}
    assert named >= {"RS", "ASHA", "BORE", "ASHA_BORE"}
    assert named <= set(known_methods())
