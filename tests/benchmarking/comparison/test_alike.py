"""What does not belong together is named, and nothing else."""

from __future__ import annotations

from benchmarking.comparison.alike import differences, environment_facts
from definitions import strict_json
from tests.benchmarking.comparison.made_runs import run


def test_the_field_its_values_and_who_has_them_are_named():
    runs = [run("RS", number, [1.0], facts={"machine": "one", "cores": "2"}) for number in range(2)]
    runs.append(run("TPE", 0, [1.0], facts={"machine": "two", "cores": "2"}))
    assert differences(runs) == ["b: not all alike in machine: one (2 runs, e.g. RS seed 0); two (1 run, e.g. TPE seed 0)"]


def test_methods_may_differ_in_their_definition_but_the_seeds_of_one_may_not():
    alike = [run("RS", 0, [1.0], facts={"definition": "a"}), run("TPE", 0, [1.0], facts={"definition": "b"})]
    assert differences(alike) == []
    (said,) = differences([*alike, run("TPE", 1, [1.0], facts={"definition": "c"})])
    assert said.startswith("b: not all alike in definition: b (1 run, e.g. TPE seed 0); c (1 run")


def test_what_is_not_known_of_a_run_is_no_difference():
    assert differences([run("RS", 0, [1.0], facts={"machine": "one"}), run("RS", 1, [1.0])]) == []


def test_facts_come_from_the_environment_file(tmp_path):
    assert environment_facts(tmp_path) == {}
    (tmp_path / "environment.json").write_text("[", encoding="utf-8")
    assert environment_facts(tmp_path) == {}
    known = {"system": "Linux 6", "machine": "x86_64", "processor": "P", "cores": 2, "memory_bytes": 8 * 2**30, "python": "3.11.7"}
    (tmp_path / "environment.json").write_text(strict_json.dumps(known), encoding="utf-8")
    assert environment_facts(tmp_path) == {"machine": "Linux 6 x86_64 P", "cores": "2", "memory": "8 GiB", "Python": "3.11.7"}


def test_load_at_the_start_and_data_of_the_environment_file_are_flagged_by_name(tmp_path):
    runs = []
    for number, (load, data) in enumerate([(0.2, "aaaa"), (0.5, "aaaa"), (3.0, "bbbb")]):
        (tmp_path / "environment.json").write_text(strict_json.dumps({"cores": 2, "load_average": load, "data": data}), encoding="utf-8")
        runs.append(run("RS", number, [1.0], facts=environment_facts(tmp_path)))
    assert differences(runs) == [
        "b: not all alike in data: aaaa (2 runs, e.g. RS seed 0); bbbb (1 run, e.g. RS seed 2)",
        "b: not all alike in load: 0.1 to 1.5 a core",
    ]
    # 0.10 and 0.25 of a core are both an idle machine.
    assert differences(runs[:2]) == []
