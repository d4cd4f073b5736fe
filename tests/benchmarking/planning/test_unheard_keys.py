"""Keys that a script is told and cannot hear."""

import pytest

from benchmarking.planning.unheard_keys import unheard_keys
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml

DEAF = "import os\nprint(os.getenv('LR'), os.getenv('BATCH_SIZE'), os.environ['LR_DECAY'])\n"


def said(tmp_path, *lines, script=DEAF):
    (tmp_path / "t.py").write_text(script, encoding="utf-8")
    text = "name: one\nobjectives: {duration_s: min}\n" + "\n".join(lines) + "\n"
    found = unheard_keys(resolve(parse_yaml(text, tmp_path / "one.yaml"), "local", check_files=False).definition)
    return None if found is None else str(found)


SPACE = "space: {lr: {uniform: [0, 1]}, batch_size: {choice: [1, 2]}}"


def test_variables_that_it_reads_are_offered(tmp_path):
    assert said(tmp_path, "script: t.py", SPACE, "arguments: {epochs: 3}") == (
        "t.py takes no words, and lr, batch_size, epochs would change nothing\n"
        "  its source reads the variables LR, BATCH_SIZE, LR_DECAY\n"
        "  `environment: {LR: '${lr}', BATCH_SIZE: '${batch_size}'}` sets what it reads"
    )


def test_where_it_reads_nothing_that_is_said(tmp_path):
    text = said(tmp_path, 'command: [torchrun, t.py, "--lr", "${lr}", "${arguments}"]', SPACE, script="print(1)")
    assert text.startswith(
        "t.py takes no words, and lr, batch_size would change nothing\n  its source reads neither arguments nor variables"
    )


@pytest.mark.parametrize(
    "lines",
    [
        ("script: t.py", SPACE, "environment: {LR: '${lr}', BATCH_SIZE: '${batch_size}'}"),
        ("script: t.py", SPACE, "arguments_style: none"),
        ("script: t.py", "space: {instance_type: {choice: [local.1cpu, local.2cpu]}}"),
        ("command: [Rscript, model.R, '${arguments}']", SPACE),
    ],
)
def test_what_reaches_it_or_nobody_is_no_problem(tmp_path, lines):
    assert said(tmp_path, *lines) is None
