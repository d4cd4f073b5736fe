import json
import shutil

import pytest

from benchmarking.archive.dollars import kind_of_dollars
from benchmarking.archive.stored import load
from benchmarking.results import collate, exported
from tests.benchmarking.archive.stored_folders import change_identity, copied


def read(folder):
    stored = load(folder)
    with stored.journal() as journal:
        return exported(stored.spec, folder, stored.state(journal), journal, stored.region)


def test_what_exporters_get_of_a_stored_experiment(tmp_path):
    folder = copied(tmp_path, "canary")
    (folder / "environment.json").write_text('{"python": "3.11.2"}', encoding="utf-8")
    one = read(folder)
    assert (one.tag, one.method, one.number, one.backend, one.folder) == ("canary", "CANARY", 0, "simulated", folder)
    assert one.title == "stored x CANARY x seed 0 on simulated"
    assert one.environment == {"python": "3.11.2"}
    assert {row["metric"] for row in one.forecasts} >= {"total_s", "cost_usd"}


@pytest.mark.parametrize("text", ["", "[]", '{"python": '])
def test_an_environment_that_cannot_be_read_costs_nothing_else(tmp_path, text):
    folder = copied(tmp_path, "canary")
    (folder / "environment.json").write_text(text, encoding="utf-8")
    assert read(folder).environment == {}


@pytest.mark.parametrize(
    ("backend", "real", "dollars"),
    [
        ("local", False, "nominal"),
        ("sagemaker", False, "emulated"),
        ("sagemaker", True, "real"),
        ("sagemaker", None, ""),
        ("gone", True, "real"),
        ("gone", False, ""),
    ],
)
def test_what_kind_of_dollars_an_older_experiment_cost(tmp_path, backend, real, dollars):
    folder = copied(tmp_path, "canary")
    change_identity(folder, real_money=real)
    assert kind_of_dollars(folder, backend) == dollars


@pytest.mark.parametrize("backend", ["local", "gone"])
@pytest.mark.parametrize(("real", "label", "dollars"), [(False, "in-house", "in-house"), (True, "", "real"), (True, "x", "real")])
def test_dollars_are_called_what_the_back_end_called_them(tmp_path, backend, real, label, dollars):
    folder = copied(tmp_path, "canary")
    change_identity(folder, real_money=real, price_label=label)
    assert kind_of_dollars(folder, backend) == dollars


def test_prices_of_the_definition_are_neither_billed_nor_emulated(tmp_path):
    folder = copied(tmp_path, "canary")
    change_identity(folder, real_money=False, price_label="")
    assert kind_of_dollars(folder, "ray") == ""


def test_a_tag_of_several_experiments_is_collated_from_what_they_left(tmp_path):
    folder = copied(tmp_path, "repeated")
    tag_folder = folder.parent.parent
    collate(tag_folder)
    assert not (tag_folder / "collated_results.json").exists()
    shutil.copytree(folder, folder.with_name("GRID-simulated-1"))
    (folder / "result.json").write_text('{"schema_version": 1, "best": 2.5}', encoding="utf-8")
    collate(tag_folder)
    assert json.loads((tag_folder / "collated_results.json").read_text(encoding="utf-8")) == {
        "schema_version": 1,
        "tag": "repeated",
        "experiments": [{"schema_version": 1, "best": 2.5}],
        "left_out": ["stored/GRID-simulated-1: there is no result.json, so it has not ended"],
    }
