import csv
import json

import pytest

from backends.events import Accepted, Closed, Ended, Reported, Started
from backends.failures import Outcome
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.export.load_csv import SEED_COLUMNS, write_load
from benchmarking.workloads.load.histogram import LatencyHistogram
from benchmarking.workloads.load.load_files import LoadFiles
from benchmarking.workloads.load.tally import LoadTally
from tests.benchmarking.experiments import MemoryJournal

TOLD = {"server": "ort", "platform": "onnx", "instance_type": "local.1cpu", "models": ["resnet"], "targets": 4}


def counted(latencies, failures=0, cold=()):
    made = LoadTally(0.1, 5.0)
    for number, latency_s in enumerate(latencies):
        made.sends(0, 0.0)
        made.answers(0, number // 10, latency_s, latency_s / 2)
    for latency_s in cold:
        made.sends(0, 0.0)
        made.answers(0, 0, latency_s, latency_s, is_cold=True)
    for _ in range(failures):
        made.sends(0, 0.0)
        made.fails(0, 1, "status_500", 0.01, "boom, said the model")
    return made


@pytest.fixture
def experiment(tmp_path):
    journal = MemoryJournal()
    journal.append(0.0, "suggest", {"evaluation": 0, "configuration": {"x": 0.5}, "level": None, "repeat": 0, "block_of": 1})
    journal.append(1.0, "start", {"job": "j", "trial": 0, "attempt": 1, "restore_from": None, "worst_usd": None})
    events = [
        Accepted("j", 2.0),
        Started("j", 3.0),
        Reported("j", 4.0, 0, {"max_rate_per_s": 100.0, "call_mean_ms": 8.0}, 1.0),
        Ended("j", 9.0),
    ]
    service = {"model_ms": {"mean": 5.0, "count": 60.0}, "overhead_ms": {"mean": 1.0, "count": 60.0}}
    events += [Closed("j", 10.0, Outcome.COMPLETED, started_at=3.0, ended_at=9.0, billable_s=6.0, usage={"service": service})]
    for event in events:
        journal.append(event.at, *event_record(event))
    settled = {"job": "j", "trial": 0, "attempt": 1, "status": "completed", "cause": None, "message": "", "counts": False}
    journal.append(10.0, "settle", {**settled, "retry_at": None, "cost_usd": 0.25})
    state = ExperimentState(StateSetup({"max_rate_per_s": "max"}))
    for record in journal.records():
        state.apply(record)
    files = LoadFiles.of_job({"SM_OUTPUT_DATA_DIR": str(tmp_path / "jobs" / "j" / "output")}, TOLD)
    files.write("stage", {"users": 20, "seconds": 4.0}, {}, counted([0.01] * 30 + [0.02] * 10))
    files.write("stage", {"users": 40, "seconds": 2.0}, {}, counted([0.05] * 19, failures=1, cold=[0.7]))
    return tmp_path, state, journal


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_summary_has_the_notebooks_columns_and_each_row_is_of_its_own_requests(experiment):
    folder, state, journal = experiment
    write_load(folder, folder, state, journal.records())
    found = rows(folder / "load" / "summary_results.csv")
    assert tuple(found[0])[:12] == SEED_COLUMNS
    first, second = found
    assert [first[name] for name in SEED_COLUMNS[:5]] == ["resnet", "local.1cpu", "onnx", "4", "20"]
    assert [first["Requests/s"], first["Successful Requests"], first["Failed Requests"]] == ["10.0", "40", "0"]
    assert float(first["Total Median Response Time"]) == pytest.approx(10, rel=1e-3)
    assert float(first["Total Average Response Time"]) == pytest.approx(12.5, rel=1e-3)
    assert (first["Total Min Response Time"], first["Total Max Response Time"]) == ("10.0", "20.0")
    # The first stage's 40 fast requests are no part of the second one's median, and its failure stands at the upper end.
    assert float(second["Total Median Response Time"]) == pytest.approx(50, rel=1e-3)
    assert (second["P99 Response Time"], second["Total Max Response Time"]) == ("5000.0", "5000.0")
    assert (second["Cold Requests"], second["errors_status_500"], second["trial"]) == ("1", "1", "0")
    assert float(second["P95 Cold Response Time"]) == 700.0


def test_what_is_not_certified_has_its_reason_in_its_row(experiment):
    folder, state, journal = experiment
    files = LoadFiles.of_job({"SM_OUTPUT_DATA_DIR": str(folder / "jobs" / "j" / "output")}, TOLD)
    what = {"rate": 9.0, "verdict": "undecided", "why": "nothing was answered", "seconds": 1.0}
    files.write("probe", what, {}, counted([0.01]))
    write_load(folder, folder, state, journal.records())
    found = {row["verdict"]: row["why"] for row in rows(folder / "load" / "summary_results.csv")}
    assert found == {"": "", "undecided": "nothing was answered"}


def test_the_services_own_figures_stand_beside_the_clients_with_the_networks_share(experiment):
    folder, state, journal = experiment
    write_load(folder, folder, state, journal.records())
    for row in rows(folder / "load" / "summary_results.csv"):
        assert [row[name] for name in ("call_mean_ms", "model_ms", "overhead_ms", "network_ms", "network_share")] == [
            "8.0", "5.0", "1.0", "2.0", "0.25"
        ]  # fmt: skip
        assert row["cache_hit"] == row["loading_wait_ms"] == ""


def test_locusts_files_have_the_notebooks_names(experiment):
    folder, state, journal = experiment
    paths = write_load(folder, folder, state, journal.records())
    name = "local.1cpu*onnx*4"
    of_trial = [f"{name}_stats.csv", f"{name}_stats_history.csv", f"{name}_failures.csv", f"{name}_exceptions.csv", "histograms.json"]
    assert [path.name for path in paths] == ["summary_results.csv", *of_trial]
    own = folder / "load" / "trial-0"
    stats = rows(own / of_trial[0])
    assert [row["Name"] for row in stats] == ["resnet", "Aggregated"]
    assert (stats[1]["Request Count"], stats[1]["Failure Count"], stats[1]["100%"]) == ("61", "1", "5000.0")
    assert float(stats[1]["50%"]) == pytest.approx(20, rel=1e-3)
    history = [row for row in rows(own / of_trial[1]) if row["Name"] != "Aggregated"]
    assert [row["User Count"] for row in history] == ["20"] * 4 + ["40"] * 2
    assert [row["Total Request Count"] for row in history] == ["10", "20", "30", "40", "51", "61"]
    assert [int(row["Timestamp"]) - int(history[0]["Timestamp"]) for row in history[:4]] == [0, 1, 2, 3]
    assert all(float(row["99%"] or 0) <= float(row["100%"] or 0) for row in history)
    assert float(history[3]["50%"]) == pytest.approx(20, rel=1e-3)  # of that second
    assert rows(own / of_trial[2]) == [{"Method": "InvokeEndpoint", "Name": "resnet", "Error": "status_500", "Occurrences": "1"}]
    assert rows(own / of_trial[3])[0]["Traceback"] == "boom, said the model"


def test_histograms_of_all_parts_are_merged_exactly(experiment):
    folder, state, journal = experiment
    write_load(folder, folder, state, journal.records())
    held = json.loads((folder / "load" / "trial-0" / "histograms.json").read_text())
    merged = LatencyHistogram()
    for part in held["parts"]:
        merged.merge(LatencyHistogram.from_dict(part["latency"]["warm"]))
    assert (
        merged.as_dict()
        == held["together"]["latency"]["warm"]
        == counted([0.01] * 30 + [0.02] * 10 + [0.05] * 19).latency["warm"].as_dict()
    )


def test_a_file_that_is_torn_costs_itself_alone(experiment):
    folder, state, journal = experiment
    path = folder / "jobs" / "j" / "output" / "load" / "part-0001.json"
    path.write_text(path.read_text()[:100])
    write_load(folder, folder, state, journal.records())
    assert [row["User Count"] for row in rows(folder / "load" / "summary_results.csv")] == ["40"]


def test_other_experiments_leave_no_such_folder(tmp_path, experiment):
    _, state, journal = experiment
    assert write_load(tmp_path / "other", tmp_path / "other", state, journal.records()) == []
    assert not (tmp_path / "other").exists()
