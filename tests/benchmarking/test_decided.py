"""What is said at the start that comes of definition and back-end together."""

import pytest

from benchmarking.decided import decided
from benchmarking.methods.registry import experiment_spec
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml


class AnyBackend:
    """As much of a back-end as is asked."""

    class capabilities:  # noqa: N801
        price_label = ""
        real_money = False

    region = "us-east-1"

    def capacity(self, instance_type):
        return 4


def lines_of(tmp_path, text, backend="local"):
    resolved = resolve(parse_yaml(text, tmp_path / "d.yaml"), backend, check_files=False)
    spec = experiment_spec(resolved, "RS", 0, "t", tmp_path, {}, 0)
    return decided(spec, AnyBackend(), 1, finite=True, environ={}, trials=lambda: 1)


@pytest.mark.parametrize(
    ("backend", "line", "said"),
    [
        ("sagemaker", "working_dir: job", ["working_dir: job is not done on sagemaker, whose jobs start in the source"]),
        ("sagemaker", "working_dir: source", []),
        ("sagemaker", "", []),
        ("local", "working_dir: job", []),
    ],
)
def test_where_jobs_start_is_said_where_somebody_asked_for_something_else(tmp_path, backend, line, said):
    kind = "ml.m5.large" if backend == "sagemaker" else "local.1cpu"
    text = f"name: d\nscript: t.py\nspace: {{x: 1}}\nobjectives: {{loss: min}}\narguments: {{instance_type: {kind}}}\n{line}\n"
    assert [one for one in lines_of(tmp_path, text, backend) if "working_dir" in one] == said


def test_the_columns_of_keys_that_are_called_like_ours_are_said_once(tmp_path):
    lines = lines_of(tmp_path, "name: d\nscript: t.py\nspace: {seed: 1, lr: 2, best_loss: 3}\nobjectives: {loss: min}\n")
    assert [one for one in lines if "columns" in one] == [
        "in the columns of trials.csv and reports.csv seed is config_seed, best_loss is config_best_loss, as they have others of that name"
    ]
    assert not [one for one in lines_of(tmp_path, "name: d\nscript: t.py\nspace: {lr: 2}\nobjectives: {loss: min}\n") if "columns" in one]


def test_a_script_that_takes_no_words_is_said_at_the_start(tmp_path):
    (tmp_path / "t.py").write_text("import os\nlr = float(os.environ.get('LR', '1'))\nprint(lr)\n", encoding="utf-8")
    lines = lines_of(tmp_path, "name: d\nscript: t.py\nspace: {lr: 2}\nobjectives: {loss: min}\n")
    assert (
        "t.py takes no words, and lr would change nothing: its source reads the variables LR; "
        "`environment: {LR: '${lr}'}` sets what it reads"
    ) in lines
