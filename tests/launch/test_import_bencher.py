"""`outrider import_bencher`: the definition, the notes, and what is refused."""

from __future__ import annotations

import pytest

from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.yaml_source import read_yaml
from launch.verbs.import_bencher import main
from tests.benchmarking.bencher.bencher_files import trial, write

TRIALS = f"  first: {trial('Photos-jpg', 'ffm')}\n  second: {trial('Shards-tar', 'pipe')}\n"


def test_it_writes_a_definition_that_can_be_run(tmp_path, capsys):
    target = tmp_path / "imported.yaml"
    assert main([str(write(tmp_path, trials=TRIALS)), "-o", str(target)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{target}: 2 trials; ")
    assert "note: script: benchmark-tensorflow.py is ported" in err
    text = target.read_text(encoding="utf-8")
    assert text.startswith("# Imported from experiment.yml, a file of SageMaker Bencher.\n# ")
    assert "# trials there: first, second\n" in text
    # With the script where it says that it is.
    made = resolve(read_yaml(target), "local").definition
    assert [one["ingestion"] for one in made.explicit_configurations] == ["fastfile", "pipe"]


def test_without_a_file_it_is_printed(tmp_path, capsys):
    assert main([str(write(tmp_path, trials=TRIALS))]) == 0
    out, err = capsys.readouterr()
    assert "\nname: storage-test\n" in out
    assert err.count("note: ") >= 4


def test_a_file_that_is_there_is_not_replaced_unless_that_is_meant(tmp_path):
    target, source = tmp_path / "imported.yaml", write(tmp_path, trials=TRIALS)
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="is there already"):
        main([str(source), "-o", str(target)])
    assert target.read_text(encoding="utf-8") == "mine"
    assert main([str(source), "-o", str(target), "--force"]) == 0
    assert "storage-test" in target.read_text(encoding="utf-8")


def test_what_is_no_file_of_bencher_is_refused(tmp_path):
    other = tmp_path / "other.yml"
    other.write_text("name: x\n", encoding="utf-8")
    with pytest.raises(UserError, match="base_trial, trials, datasets missing"):
        main([str(other)])
    with pytest.raises(UserError, match="nothing"):
        main([str(tmp_path / "nothing.yml")])
