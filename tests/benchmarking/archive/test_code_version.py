"""What counts as the code of an experiment, and what a change of it does to a resume."""

from __future__ import annotations

import pytest

from benchmarking.archive.code_version import check_code, code_version
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.sqlite_journal import SqliteJournal
from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.yaml_source import read_yaml

DEFINITION = "name: ext\nscript: q.py\nspace: {x: {uniform: [0, 1]}}\nobjectives: {loss: min}\n"


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "q.py").write_text("print(1)\n", encoding="utf-8")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "layers.py").write_text("width = 3\n", encoding="utf-8")
    (tmp_path / "ext.yaml").write_text(DEFINITION, encoding="utf-8")
    resolved = resolve(read_yaml(tmp_path / "ext.yaml"), "local")
    return ExperimentSpec(resolved, "RS", 1, "e", tmp_path / "found", hears_levels=True, repeats=1)


@pytest.mark.parametrize("name", ["q.py", "model/layers.py", "conf.yaml", "run.sh"])
def test_sources_are_code(spec, tmp_path, name):
    before = code_version(spec)
    (tmp_path / name).write_text("changed\n", encoding="utf-8")
    after = code_version(spec)
    assert after.code != before.code
    assert after.changed(before.files) == name


@pytest.mark.parametrize("name", ["q.py", "model/layers.py", "run.sh"])
def test_it_is_known_whether_the_code_names_the_variable_of_the_seed(spec, tmp_path, name):
    (tmp_path / "notes.txt").write_text("OUTRIDER_SEED", encoding="utf-8")
    assert not code_version(spec).reads_seed
    (tmp_path / name).write_text("seed = ${OUTRIDER_SEED}\n", encoding="utf-8")
    assert code_version(spec).reads_seed


@pytest.mark.parametrize("name", ["ext.yaml", "found/e/made.py", "__pycache__/q.py", "results/x.py", "data.csv"])
def test_results_data_and_definitions_are_not(spec, tmp_path, name):
    before = code_version(spec)
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(DEFINITION.replace("[0, 1]", "[0, 2]"), encoding="utf-8")
    assert code_version(spec) == before


def test_a_study_is_no_code_but_what_has_one_of_its_keys_is(spec, tmp_path):
    before = code_version(spec)
    (tmp_path / "study.yaml").write_text("# mine\nseeds: 3\nbenchmarks: [ext.yaml]\n", encoding="utf-8")
    assert code_version(spec) == before
    (tmp_path / "study.yaml").write_text("benchmarks: [glue]\nmodel: {methods: [a]}\n", encoding="utf-8")
    assert code_version(spec) != before


def test_what_is_ignored_for_jobs_is_no_code(spec, tmp_path):
    (tmp_path / ".outriderignore").write_text("notes/\n", encoding="utf-8")
    before = code_version(spec)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.py").write_text("", encoding="utf-8")
    assert code_version(spec) == before


def test_the_hash_is_of_content_alone(spec, tmp_path):
    before = code_version(spec)
    (tmp_path / "q.py").unlink()
    (tmp_path / "q.py").write_text("print(1)\n", encoding="utf-8")
    assert code_version(spec) == before
    assert sorted(before.files) == ["model/layers.py", "q.py"]


def test_a_change_is_refused_by_name_until_it_is_accepted(spec, tmp_path):
    spec.folder.mkdir(parents=True)
    version = code_version(spec)
    journal = SqliteJournal(spec.folder / "journal.sqlite")
    journal.append(0.0, "code", {"code": version.code, "files": dict(version.files)})
    journal.close()
    check_code(spec, accepted=False)
    (tmp_path / "q.py").write_text("print(2)\n", encoding="utf-8")
    with pytest.raises(UserError, match=rf"(?s)\({version.code}, now {code_version(spec).code}: q.py\).*--accept_changes"):
        check_code(spec, accepted=False)
    check_code(spec, accepted=True)
