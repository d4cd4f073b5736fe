"""Which experiments a run has and how their jobs are called, by this machine or by S3."""

from __future__ import annotations

import json

from benchmarking.archive.identity import prefix_of
from benchmarking.archive.stored import SCHEMA_VERSION
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord, as_json
from launch.remote.run_experiments import experiments_in, planned_in
from tests.backends.memory_store import MemoryStore

KNOWN = {"schema_version": SCHEMA_VERSION, "benchmark": "toy", "hash": "abc", "nonce": "n1", "backend": "sagemaker", "method": "RS"}
KNOWN |= {"method_arguments": {}, "number": 0, "seed": 0}


def test_what_s3_knows_counts_where_this_machine_knows_nothing(tmp_path):
    store = MemoryStore()
    store.put("toy/RS-sagemaker-0/files/experiment.json", json.dumps(KNOWN).encode())
    store.put("toy/RS-sagemaker-0/files/logs/experiment.json.log", b"")
    store.put("toy/RS-sagemaker-1/journal/00000001", b"")
    prefix = prefix_of(KNOWN, "t")
    assert prefix.startswith("toy-")
    assert experiments_in("t", [tmp_path / "toy" / "RS-local-0"], [MemoryStore(), store]) == {"toy/RS-sagemaker-0": prefix}
    assert prefix_of({**KNOWN, "nonce": "n2"}, "t") != prefix
    folder = tmp_path / "toy" / "ASHA-sagemaker-0"
    folder.mkdir(parents=True)
    (folder / "experiment.json").write_text(json.dumps({**KNOWN, "nonce": "n3"}))
    store.calls.clear()
    assert experiments_in("t", [folder], [store]) == {"toy/ASHA-sagemaker-0": prefix_of({**KNOWN, "nonce": "n3"}, "t")}
    assert not store.calls


def test_what_a_study_is_to_have_is_known_before_it_begins():
    store = MemoryStore()
    assert planned_in([store]) == []
    experiments = tuple(PlannedExperiment("toy", "RS", number, number, "h", hears_levels=False, repeats=1) for number in (0, 1))
    store.put("study.json", as_json(StudyRecord(StudyFlags("sagemaker"), {}, experiments)).encode())
    assert planned_in([MemoryStore(), store]) == ["toy/RS-sagemaker-0", "toy/RS-sagemaker-1"]
