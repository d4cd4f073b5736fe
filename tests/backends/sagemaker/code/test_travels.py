from backends.sagemaker.code.packing import REPORTER
from backends.sagemaker.code.travels import what_travels
from definitions.schema import BenchmarkDefinition


def definition(folder, **changes):
    base = {"name": "d", "script": "t.py", "source_dir": str(folder), "space": {"x": 1}, "objectives": {"loss": "min"}}
    return BenchmarkDefinition.model_validate({**base, **changes})


def test_files_are_listed_with_size_and_hash_the_largest_first(tmp_path):
    (tmp_path / "t.py").write_text("print(1)\n")
    (tmp_path / "data.txt").write_text("x" * 1_500_000)
    lines = what_travels(definition(tmp_path), whole=True)
    assert lines[0].startswith(f"to each job travel 3 files, {(1_500_009 + REPORTER.stat().st_size) / 1e6:.1f} MB (code ")
    assert lines[1].startswith("  data.txt  1.5 MB  ")
    assert lines[3] == "  t.py  9 B  cc42155088fc"  # sha256sum
    for number in range(50):
        (tmp_path / f"{number}.txt").write_text("y")
    assert what_travels(definition(tmp_path), whole=True)[-1] == "  and 13 smaller ones, 13 B"


def test_what_stays_behind_and_what_others_may_read_is_named(tmp_path):
    (tmp_path / "t.py").write_text("")
    (tmp_path / ".env").write_text("")
    given = {"environment": {"API_KEY": "0123456789abcdef", "MODE": "x"}, "arguments": {"hub": "hf_" + "a1B2" * 8}}
    assert what_travels(definition(tmp_path, **given), whole=False) == [
        "left behind, as they may hold secrets: .env; `include` takes along what a job needs",
        "environment.API_KEY, arguments.hub may be a secret: whoever may describe the job, or reads the results, can read it; "
        "have the script get it from a secret store",
    ]
    assert what_travels(definition(tmp_path, include=[".env"]), whole=False) == []


def test_of_an_endpoint_whose_load_runs_here_nothing_travels(tmp_path):
    (tmp_path / "t.py").write_text("")
    (tmp_path / ".env").write_text("")
    served = definition(tmp_path, endpoint={"mode": "single", "existing": "theirs"})
    assert what_travels(served, whole=True) == what_travels(served, whole=False) == []
