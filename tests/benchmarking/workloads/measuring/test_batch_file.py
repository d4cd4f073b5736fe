import csv

from benchmarking.workloads.measuring.batch_file import write_batches
from tests.benchmarking.workloads.measuring.test_batches import batches


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_each_batch_has_a_row(tmp_path):
    write_batches(tmp_path / "batches" / "epoch-1.csv", batches(3), 100.0)
    found = rows(tmp_path / "batches" / "epoch-1.csv")
    assert [row["batch"] for row in found] == ["0", "1", "2"]
    assert found[1] == {"batch": "1", "at_s": "0.700000", "wait_s": "0.300000", "compute_s": "0.100000", "samples": "10", "bytes": "1000"}


def test_the_file_is_bounded(tmp_path):
    write_batches(tmp_path / "b.csv", batches(25), 100.0, most=10)
    assert [row["batch"] for row in rows(tmp_path / "b.csv")] == ["0", "3", "6", "9", "12", "15", "18", "21", "24"]


def test_a_folder_that_cannot_be_made_costs_the_file_alone(tmp_path):
    (tmp_path / "file").write_text("")
    write_batches(tmp_path / "file" / "b.csv", batches(2), 100.0)
    assert (tmp_path / "file").read_text() == ""
