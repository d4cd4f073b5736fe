"""A script between what prepares it and what cleans up, measured alone."""

import json
import shlex
import signal
import subprocess
import sys

import pytest

from backends.common import staged_run

pytestmark = pytest.mark.slow


def python(code, *words):
    return [sys.executable, "-S", "-c", code, *words]


def note(folder, name):
    return python("import sys; open(sys.argv[1], 'a').write(sys.argv[2])", str(folder / "order"), name)


@pytest.fixture
def run(tmp_path):
    def start(**plan):
        whole = {"prepare": [], "warmup_runs": 0, "command": note(tmp_path, "c"), "cleanup": [], "folder": str(tmp_path)} | plan
        whole["measured"] = str(tmp_path / "measured.json")
        (tmp_path / "plan.json").write_text(json.dumps(whole))
        return subprocess.run(
            [sys.executable, staged_run.__file__, str(tmp_path / "plan.json")], capture_output=True, text=True, check=False
        )

    return start


def order(tmp_path):
    return (tmp_path / "order").read_text() if (tmp_path / "order").exists() else ""


def test_all_run_in_order_and_the_script_alone_is_measured(run, tmp_path):
    spent = python("import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass")
    assert run(prepare=note(tmp_path, "p"), cleanup=note(tmp_path, "u"), command=spent).returncode == 0
    found = json.loads((tmp_path / "measured.json").read_text())
    assert 0.2 <= found["cpu_s"] <= found["duration_s"] + 0.1
    assert found["peak_rss_bytes"] > 2**20
    assert order(tmp_path) == "pu"


def test_a_program_smaller_than_who_starts_it_has_its_own_peak(run, tmp_path):
    def peak_bytes(*command):
        assert run(command=[*command]).returncode == 0
        return json.loads((tmp_path / "measured.json").read_text())["peak_rss_bytes"]

    holding = "x=$(head -c 4000000 /dev/zero | tr '\\0' a); sleep 0.3"
    small = peak_bytes("sleep", "0.3")
    assert 0 < small < 4e6  # the interpreter that starts it has 10 MB or so
    assert peak_bytes("sh", "-c", holding) > small + 3.5e6
    assert peak_bytes("sh", "-c", f"sh -c {shlex.quote(holding)}; true") > small + 3.5e6
    assert peak_bytes(*python("x = bytearray(80_000_000)")) > 8e7


def test_a_warm_up_has_a_folder_of_its_own_and_is_not_shown(run, tmp_path):
    script = python("import os; print(os.environ.get('OUTRIDER_CHECKPOINT_DIR', 'none'))")
    done = run(warmup_runs=2, command=script)
    assert done.stdout == "none\n"
    assert [(tmp_path / f"warmup-{n}" / "output.log").read_text().strip() for n in range(2)] == [
        str(tmp_path / f"warmup-{n}") for n in range(2)
    ]


def test_where_preparing_fails_nothing_is_measured_and_it_is_cleaned_up(run, tmp_path):
    done = run(prepare=python("raise SystemExit(3)"), warmup_runs=1, cleanup=note(tmp_path, "u"))
    assert done.returncode == 3
    assert "prepare ended with exit code 3" in done.stderr
    assert order(tmp_path) == "u"
    assert not (tmp_path / "measured.json").exists()


def test_a_warm_up_that_fails_is_shown_and_ends_it(run, tmp_path):
    done = run(warmup_runs=2, command=python("print('broken here'); raise SystemExit(4)"))
    assert done.returncode == 4
    assert done.stderr.count("broken here") == 1
    assert not (tmp_path / "measured.json").exists()


def test_the_scripts_own_end_counts_whatever_cleaning_up_says(run, tmp_path):
    done = run(command=python("raise SystemExit(5)"), cleanup=python("raise SystemExit(6)"))
    assert done.returncode == 5
    assert "cleanup ended with exit code 6" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_script_that_a_signal_ends_ends_this_program_alike(run, number):
    assert run(command=python(f"import os; os.kill(os.getpid(), {int(number)})")).returncode == -number
