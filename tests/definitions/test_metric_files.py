"""What `read` may say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from definitions.errors import UserError
from definitions.file_source import FileSource
from definitions.resolve import resolve
from definitions.schema import BenchmarkDefinition
from definitions.yaml_source import parse_yaml


def definition(read: Any, **fields: Any) -> BenchmarkDefinition:
    return BenchmarkDefinition(name="d", script="t.py", objectives={"val_loss": "min", "cost_usd": "min"}, read=read, **fields)


PROGRESSIVE = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 3}


def test_a_path_alone_is_read_as_its_ending_says() -> None:
    files = [file.found_format for file in definition(["a.csv", "b.jsonl", "c.json", "d.tsv", "runs/*tfevents*"]).read]
    assert files == ["csv", "jsonl", "json", "csv", "tensorboard"]


def test_level_and_names_go_by_the_fidelity() -> None:
    read = [{"path": "m.csv", "counts_from": 0, "names": {"val_loss": "validation loss"}}, {"path": "runs", "format": "tensorboard"}]
    assert definition(read, fidelity=PROGRESSIVE).metric_files(["/x/m.csv", "runs"]) == (
        FileSource("/x/m.csv", "csv", "epoch", "epoch", 0, {"validation loss": "val_loss"}, ("val_loss",)),
        FileSource("runs", "tensorboard", None, "epoch", 1, {}, ("val_loss",)),
    )


def test_the_fidelity_says_what_the_first_level_is_unless_a_file_does() -> None:
    read = ["m.csv", {"path": "n.csv", "counts_from": 1}, {"path": "o.csv", "counts_from": 0}]
    for first, found in ((0, [0, 1, 0]), (1, [1, 1, 0]), (None, [1, 1, 0])):
        fidelity = {**PROGRESSIVE, **({} if first is None else {"counts_from": first})}
        sources = definition(read, fidelity=fidelity).metric_files(["m.csv", "n.csv", "o.csv"])
        assert [source.counts_from for source in sources] == found


def test_a_name_of_the_level_says_its_column() -> None:
    (source,) = definition({"path": "m.csv", "names": {"epoch": "Epoch #"}}, fidelity=PROGRESSIVE).metric_files(["m.csv"])
    assert (source.level, source.reported_as) == ("Epoch #", "epoch")


@pytest.mark.parametrize(
    ("read", "why"),
    [
        ("runs", "has no ending that tells its format"),
        ({"path": "m.csv", "format": "xml"}, "csv"),
        ({"format": "csv"}, "Field required"),
        ({"path": "${nope}/m.csv"}, "there is no \\${nope}"),
        ({"path": "${output/m.csv"}, "has no end"),
        ({"path": "m.csv", "columns": {}}, "not permitted"),
        ({"path": "m.csv", "counts_from": 2}, "Input should be 0 or 1"),
    ],
)
def test_what_is_wrong_is_said(read: Any, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        definition(read)


SHARED = "name: d\nscript: t.py\nspace: {x: 1}\nobjectives: {loss: min}\nworking_dir: source\nread: [{path: '${output}/a.csv'}, m.csv]\n"


def test_a_file_that_all_trials_write_to_is_refused_where_several_run_at_once() -> None:
    with pytest.raises(UserError, match=r"demo.yaml:6: read.1.path: with `working_dir: source` all trials write to the same m.csv"):
        resolve(parse_yaml(SHARED, Path("demo.yaml")), "local", check_files=False)


@pytest.mark.parametrize("more", ["n_workers: 1\n", "exclusive: true\n"])
def test_where_one_runs_at_a_time_it_is_not(more: str) -> None:
    assert len(resolve(parse_yaml(SHARED + more, Path("demo.yaml")), "local", check_files=False).definition.read) == 2


def test_an_argument_called_rank_is_no_number_of_a_process() -> None:
    (plain,) = definition("m.csv").metric_files(["m.csv"])
    (searched,) = definition("m.csv", space={"rank": {"choice": [4, 8]}}).metric_files(["m.csv"])
    assert "rank" in plain.ranks
    assert searched.ranks == ("global_rank", "local_rank", "process_index")
