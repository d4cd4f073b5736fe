"""What is said at the start that comes of definition and back-end together."""

from pathlib import Path

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
    resolved = resolve(parse_yaml(text, Path("d.yaml")), backend, check_files=False)
    spec = experiment_spec(resolved, "RS", 0, "t", tmp_path, {}, 0)
    lines = decided(spec, AnyBackend(), 1, finite=True, environ={}, trials=lambda: 1)
    assert [one for one in lines if "working_dir" in one] == said
