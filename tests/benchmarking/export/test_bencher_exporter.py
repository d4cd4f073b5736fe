"""bencher.csv: the columns that SageMaker Bencher's notebook reads."""

from __future__ import annotations

import pytest

from benchmarking.export.bencher_exporter import BencherExporter, bencher_rows
from definitions.errors import UserError
from tests.benchmarking.export.exported import context, rows_of
from tests.benchmarking.export.pipelines import EPOCHS, USAGE, measured

READ_BY_ITS_NOTEBOOK = (
    "TrialComponentName", "img_sec_ave_tot", "dataset/train", "input_format/train", "input_mode/train", "t_downloading", "t_training",
    "t_training_exact", "t_training_sm", "instance_type", "img_tot",
)  # fmt: skip


def test_a_row_has_what_its_notebook_reads(tmp_path):
    one = measured(tmp_path, *EPOCHS, usage=USAGE)
    assert BencherExporter(context()).experiment(one, tmp_path) == [str(tmp_path / "bencher.csv")]
    first, second = rows_of(tmp_path / "bencher.csv")
    assert {*READ_BY_ITS_NOTEBOOK} - {*first} == {"instance_type"}  # which this definition does not say
    assert (first["input_mode/train"], second["input_mode/train"]) == ("ffm", "s3_map")
    assert (first["dataset/train"], first["input_format/train"], first["num_workers"]) == ("shards", "tar/jpg", "4")
    times = {key: float(first[key]) for key in first if key.startswith(("t_", "img_"))}
    assert times == {
        "t_starting": 40.0, "t_downloading": 20.0, "t_training": 30.0, "t_uploading": 2.0, "t_training_sm": 52.0,
        "t_training_exact": 16.0, "img_sec_ave_tot": 125.0, "img_tot": 2000.0, "t_epoch_1": 10.0, "t_epoch_2": 6.0,
    }  # fmt: skip


def test_where_no_platform_downloads_the_script_says_how_long_it_took(tmp_path):
    row = bencher_rows(measured(tmp_path, *EPOCHS))[0]
    assert (row["t_downloading"], row["t_starting"]) == (3.0, None)


def test_without_epochs_it_is_refused_and_leaves_no_file(tmp_path):
    with pytest.raises(UserError, match="no completed trial reported epochs"):
        BencherExporter(context()).experiment(measured(tmp_path, {"loss": 1.0}), tmp_path)
    assert list(tmp_path.iterdir()) == []
