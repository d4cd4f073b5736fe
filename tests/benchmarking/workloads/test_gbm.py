import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarking.workloads import gbm, gbm_tables
from tests.benchmarking.workloads.workload_runs import WORKLOADS, job_of, program, reports, summaries


@pytest.fixture(autouse=True)
def beside(monkeypatch):
    monkeypatch.syspath_prepend(str(WORKLOADS))


def run(capfd, tmp_path, *arguments, **environ):
    import sklearn.ensemble  # noqa: F401  # the limit applies to libraries that are loaded

    with threadpool_limits(1):
        gbm.main(list(map(str, arguments)), {"OUTRIDER_CACHE": str(tmp_path)} | environ)
    return reports(capfd.readouterr().out)[0]


@pytest.mark.slow
def test_as_a_job_it_reports_once_with_phases_rows_and_bytes(tmp_path):
    ran = program("gbm.py", "--rows", 20000, "--trees", 5, "--fraction", 0.5, OUTRIDER_CACHE=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    (found,) = reports(ran.stdout)
    assert found["rows"] == 10000
    assert found["bytes"] == 10000 * 21 * 4 + 128
    assert 0.2 < found["error"] < 0.5
    summary = summaries(ran.stdout)[0]
    assert {"startup", "load", "train", "validate"} <= set(summary["phases_s"])
    assert summary["samples"] == 10000
    assert summary["phases_s"]["train"] == pytest.approx(found["train_s"], abs=0.05)


@pytest.mark.slow
def test_more_data_help_and_the_test_rows_stay_the_same(capfd, tmp_path):
    asked = ("--rows", 20000, "--trees", 12)
    small, whole = run(capfd, tmp_path, *asked, "--fraction", 0.02), run(capfd, tmp_path, *asked)
    assert (small["rows"], whole["rows"]) == (400, 20000)
    assert whole["error"] < small["error"] - 0.02
    assert whole["error"] > 0.157
    again = run(capfd, tmp_path, *asked, "--fraction", 0.02)
    assert again["error"] == small["error"]


def test_a_fraction_reads_only_the_files_that_it_needs(tmp_path):
    paths = gbm_tables.prepare(tmp_path, 30000, seed=3)
    assert len(paths) == 3
    one = paths[0].stat().st_size
    assert [gbm_tables.read(paths, rows).read_bytes // one for rows in (1, 10000, 10001, 30000)] == [1, 1, 2, 3]
    part, whole = gbm_tables.read(paths, 12345), gbm_tables.read(paths, 30000)
    assert len(part.y) == 12345
    assert (part.x == whole.x[:12345]).all()
    assert set(np.unique(whole.y)) == {0, 1}


def test_tables_depend_on_their_seed_alone(tmp_path):
    first = gbm_tables.make_block(1, seed=5)
    assert (first == gbm_tables.make_block(1, seed=5)).all()
    assert (first != gbm_tables.make_block(1, seed=6)).any()
    assert (first != gbm_tables.make_block(2, seed=5)).any()


def test_the_least_possible_error_is_as_documented():
    """The best classifier knows the function; what it gets wrong is the noise's doing."""
    block = gbm_tables.make_block(0, seed=1)
    x, y = block[:, :-1].astype(float), block[:, -1]
    height = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * (x[:, 3] ** 2 - 1) + 0.3 * x[:, 4]
    assert ((height > 0) != y).mean() == pytest.approx(0.157, abs=0.012)


@pytest.mark.slow
def test_a_channel_wins_over_the_generated_table(capfd, tmp_path):
    folder = tmp_path / "channel"
    folder.mkdir()
    for number in range(2):
        np.save(folder / f"{number}.npy", gbm_tables.make_block(number, seed=9)[:300])
    found = run(capfd, tmp_path, "--trees", 2, "--fraction", 0.75, SM_CHANNEL_TRAIN=str(folder))
    assert found["rows"] == 450


def test_wrong_use_is_told(capfd, tmp_path):
    with pytest.raises(SystemExit, match="2"):
        gbm.parse_arguments(["--fraction", "1.5"])
    assert "--fraction 1.5: it must be above 0 and at most 1" in capfd.readouterr().err
    with pytest.raises(SystemExit, match="the table has no files"):
        run(capfd, tmp_path, SM_CHANNEL_TRAIN=str(tmp_path))


@pytest.mark.parametrize("backend", ["local", "sagemaker"])
def test_the_definition_gives_what_the_script_takes(backend):
    job = job_of("gbm", backend)
    asked = gbm.parse_arguments(list(job.arguments))
    assert (asked.fraction, asked.rows) == (1.0, 60000)
    assert job.level == 1.0
