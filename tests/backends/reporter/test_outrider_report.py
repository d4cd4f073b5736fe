"""The reporter file: what it prints, what it refuses, what it counts."""

from __future__ import annotations

import ast
import contextlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import outrider_report
import pytest
from outrider_report import MAX_REPORT_BYTES, PROGRESS_MARK, REPORT_MARK, SUMMARY_MARK, Reporter

from backends import reports
from backends.reports import ReportParser

FOLDER = Path(outrider_report.__file__).parent


def run(code: str, **environment: str) -> str:
    """Run a script with the reporter on its path and return what it prints."""
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": str(FOLDER)}
    script = "from outrider_report import *\nfrom outrider_report import report, phase, progress, step, checkpoint_dir, resumed\n" + code
    return subprocess.run([sys.executable, "-c", script], env=bare | environment, capture_output=True, text=True, check=True).stdout


def lines_of(output: str, mark: str) -> list[dict[str, object]]:
    return [json.loads(line[len(mark) :]) for line in output.splitlines() if line.startswith(mark)]


@pytest.mark.slow
def test_a_report_carries_its_identity_and_times() -> None:
    before = time.time()
    first, second = lines_of(run("report(epoch=1, loss=0.5)\nreport(epoch=2, loss=0.25)\n"), REPORT_MARK)
    assert (first["epoch"], first["loss"]) == (1, 0.5)
    assert [line[key] for line in (first, second) for key in ("st_worker_iter", "outrider_sequence")] == [0, 0, 1, 1]
    assert (first["outrider_rank"], first["outrider_incarnation"]) == (0, 0)
    assert before <= first["st_worker_timestamp"] <= second["st_worker_timestamp"] <= time.time()  # type: ignore[operator]
    assert 0 < first["st_worker_time"] <= second["st_worker_time"] < 10.0  # type: ignore[operator]


@pytest.mark.slow
def test_syne_tune_reads_the_reports_and_nothing_else() -> None:
    retrieve = pytest.importorskip("syne_tune.report").retrieve
    output = run("with phase('load'):\n    step(samples=8)\nreport(epoch=1, loss=float('nan'))\nreport(epoch=2, loss=0.5)\n")
    assert SUMMARY_MARK in output
    found = retrieve(output.splitlines())
    assert [line["epoch"] for line in found] == [1, 2]
    assert math.isnan(found[0]["loss"])


def test_marks_are_those_that_the_parser_looks_for() -> None:
    assert (REPORT_MARK, SUMMARY_MARK, PROGRESS_MARK) == (reports.REPORT_MARK, reports.SUMMARY_MARK, reports.PROGRESS_MARK)


@pytest.mark.slow
def test_progress_is_printed_at_its_beginning_at_its_end_and_rarely_between() -> None:
    # The counter of the processor goes in hundredths of a second (os.times): one whole tick has passed before the last line.
    wait = "import os\nwhile sum(os.times()[:2]) < 0.02:\n    pass\n"
    output = run("for i in range(20000):\n    progress(i, 20000)\n" + wait + "progress(20000, 20000)\nprogress(20000, 20000)\n")
    lines = lines_of(output, PROGRESS_MARK)
    assert (lines[0]["done"], lines[0]["total"], lines[0]["number"]) == (0.0, 20000.0, 0)
    assert lines[-1]["done"] == 20000.0
    assert [line["number"] for line in lines] == list(range(len(lines)))
    assert len(lines) < 60
    assert set(lines[-1]["phases_s"]) == {"startup"}  # type: ignore[call-overload]
    assert 0 < lines[-1]["cpu_s"] <= 10 * lines[-1]["elapsed_s"]  # type: ignore[operator]


def progress_lines(calls: Callable[[Reporter], object], capfd: pytest.CaptureFixture[str], **environment: str) -> list[dict[str, object]]:
    calls(Reporter(environment, started=time.monotonic()))
    return lines_of(capfd.readouterr().out, PROGRESS_MARK)


@pytest.mark.parametrize("done", [math.nan, math.inf, -1.0])
def test_progress_that_is_no_amount_says_nothing_and_ends_nothing(done: float, capfd: pytest.CaptureFixture[str]) -> None:
    assert progress_lines(lambda reporter: reporter.progress(done, 10), capfd) == []


@pytest.mark.parametrize("total", [None, math.nan, 0, -3])
def test_a_total_that_is_none_is_left_open(total: float | None, capfd: pytest.CaptureFixture[str]) -> None:
    (line,) = progress_lines(lambda reporter: reporter.progress(3, total), capfd)
    assert (line["done"], line["total"]) == (3.0, None)


def test_only_the_first_rank_tells_how_far_the_job_is(capfd: pytest.CaptureFixture[str]) -> None:
    assert progress_lines(lambda reporter: reporter.progress(3, 4), capfd, RANK="1") == []


def test_numpy_scalars_are_amounts(capfd: pytest.CaptureFixture[str]) -> None:
    numpy = pytest.importorskip("numpy")
    (line,) = progress_lines(lambda reporter: reporter.progress(numpy.int64(3), numpy.float32(4)), capfd)
    assert (line["done"], line["total"]) == (3.0, 4.0)


@pytest.mark.slow
def test_a_script_of_which_the_beginning_is_wanted_ends_itself_and_says_what_it_used() -> None:
    code = "import time\nfor i in range(1000):\n    time.sleep(0.01)\n    progress(i + 1, 1000)\nprint('whole')\n"
    output = run(code, OUTRIDER_STOP_AFTER_S="0.5")
    last = lines_of(output, PROGRESS_MARK)[-1]
    assert last["elapsed_s"] >= 0.5  # type: ignore[operator]
    assert 0 < last["done"] < 1000  # type: ignore[operator]
    assert last["peak_bytes"] > 1e6  # type: ignore[operator]
    assert 0 <= last["delayed_s"] <= last["elapsed_s"] + 0.1  # type: ignore[operator]
    assert lines_of(output, SUMMARY_MARK)
    assert "whole" not in output


@pytest.mark.slow
def test_a_script_that_survives_its_end_is_ended_at_its_next_word() -> None:
    code = (
        "import time\nfor i in range(1000):\n    time.sleep(0.01)\n    try:\n        progress(i + 1, 1000)\n"
        "    except BaseException:\n        print('survived', flush=True)\nprint('whole')\n"
    )
    output = run(code, OUTRIDER_STOP_AFTER_S="0.5")
    assert output.count("survived") == 1
    assert "whole" not in output
    assert lines_of(output, SUMMARY_MARK)


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["0.5", "none", "-1"])
def test_a_script_that_is_done_before_or_has_no_limit_is_not_ended(limit: str) -> None:
    steps = 3 if limit == "0.5" else 60
    code = f"import time\nfor i in range({steps}):\n    time.sleep(0.01)\n    progress(i + 1, {steps})\nprint('whole')\n"
    assert "whole" in run(code, OUTRIDER_STOP_AFTER_S=limit)


def test_what_is_no_number_is_told_at_the_first_call() -> None:
    with pytest.raises(TypeError):
        Reporter({}).progress("3 of 4")  # type: ignore[arg-type]


@pytest.mark.slow
def test_what_is_printed_is_what_the_parser_finds() -> None:
    code = "for value in (1, 2.5, 'text', None, [1, {'a': 2}], True, float('inf')):\n    report(value=value)\nstep(3)\n"
    parser = ReportParser()
    found = parser.feed(run(code).encode())
    assert [report.metrics["value"] for report in found] == [1, 2.5, "text", None, [1, {"a": 2}], True, math.inf]
    assert (parser.usage()["steps"], parser.usage()["samples"]) == (1, 3)


class Scalar:
    """Looks like a numpy scalar or a tensor of `ndim` dimensions."""

    def __init__(self, value: object, ndim: int = 0) -> None:
        self.value, self.ndim = value, ndim

    def item(self) -> object:
        return self.value


def reporter(**environment: str) -> Reporter:
    return Reporter(environment, started=time.monotonic())


def test_scalars_of_array_libraries_are_numbers(capfd: pytest.CaptureFixture[str]) -> None:
    numpy = pytest.importorskip("numpy")
    reporter().report(
        a=Scalar(0.5), b=numpy.float32(0.25), c=numpy.int64(3), d=numpy.array(2.0), e=[numpy.float64(1.5)], f=numpy.bool_(True)
    )
    (line,) = lines_of(capfd.readouterr().out, REPORT_MARK)
    assert [line[key] for key in "abcdef"] == [0.5, 0.25, 3, 2.0, [1.5], True]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"st_loss": 1}, "'st_loss' may not begin with st_"),
        ({"outrider_rank": 1}, "'outrider_rank' may not begin with"),
        ({"loss": object()}, "loss=<object object .* a object is neither a number nor a text"),
        ({"loss": b"x"}, "loss=b'x' cannot be written as JSON"),
        ({"loss": 1 + 2j}, "loss=.*complex"),
        ({"loss": Scalar(0.5, ndim=1)}, "one number of it, e.g. its mean"),
        ({"text": "x" * MAX_REPORT_BYTES}, "at most 50000 are read"),
    ],
)
def test_what_cannot_be_reported_is_refused(metrics: dict[str, object], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    one = reporter()
    with pytest.raises(ValueError, match=message):
        one.report(**metrics)
    assert capfd.readouterr().out == ""
    one.report(loss=1.0)
    assert len(lines_of(capfd.readouterr().out, REPORT_MARK)) == 1


def test_a_circular_value_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(ValueError, match=r"loss=.*ircular"):
        reporter().report(loss=loop)


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ({}, 0),
        ({"RANK": "3"}, 3),
        ({"OMPI_COMM_WORLD_RANK": "2"}, 2),
        ({"SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": "algo-2"}, 1),
        ({"SM_HOSTS": "nonsense", "SM_CURRENT_HOST": "algo-2"}, 0),
        ({"RANK": "0", "SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": "algo-2"}, 0),
    ],
)
def test_the_rank_is_the_launchers_else_the_hosts(environment: dict[str, str], rank: int, capfd: pytest.CaptureFixture[str]) -> None:
    reporter(**environment).report(loss=1)
    assert lines_of(capfd.readouterr().out, REPORT_MARK)[0]["outrider_rank"] == rank


def test_lives_are_counted_within_a_job_and_not_from_one_to_the_next(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for job, rank in (("a-1", "0"), ("a-1", "1"), ("a-1", "0"), ("a-2", "0")):
        reporter(OUTRIDER_CHECKPOINT_DIR=str(tmp_path), OUTRIDER_JOB=job, RANK=rank).report(loss=1)
    assert [line["outrider_incarnation"] for line in lines_of(capfd.readouterr().out, REPORT_MARK)] == [0, 0, 1, 0]


def test_a_folder_that_cannot_be_written_ends_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    reporter(OUTRIDER_CHECKPOINT_DIR="/dev/null/x", OUTRIDER_JOB="a").report(loss=1)
    assert lines_of(capfd.readouterr().out, REPORT_MARK)[0]["outrider_incarnation"] == 0


def test_the_checkpoint_folder_and_whether_there_is_one_to_go_on_from(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    one = reporter(OUTRIDER_CHECKPOINT_DIR=str(tmp_path / "c"), OUTRIDER_JOB="a")
    assert one.resumed() is False
    assert one.checkpoint_dir() == tmp_path / "c"
    one.report(loss=1)
    assert one.resumed() is False
    (tmp_path / "c" / "state").write_text("")
    assert one.resumed() is True
    assert reporter().checkpoint_dir() is None


def test_phases_add_up_and_an_inner_one_is_not_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(outrider_report.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(outrider_report, "_delayed_s", lambda: 1.5)
    one = Reporter({}, started=97.0)

    def spend(seconds: float) -> None:
        clock[0] += seconds

    spend(1.0)
    for _ in range(2):
        with one.phase("train"):
            spend(2.0)
            with one.phase("load"):
                spend(0.5)
            spend(1.0)
        one.step(samples=32)
    spend(8.0)
    with contextlib.suppress(KeyError), one.phase("checkpoint"):
        spend(0.25)
        raise KeyError
    assert one.summary() == {
        "phases_s": {"startup": 4.0, "train": 6.0, "load": 1.0, "checkpoint": 0.25},
        "steps": 2,
        "samples": 64,
        "elapsed_s": 19.25,
        "delayed_s": 1.5,
        "outrider_incarnation": 0,
        "outrider_rank": 0,
    }


@pytest.mark.slow
def test_start_up_counts_from_the_start_of_the_process() -> None:
    code = "import time\ntime.sleep(0.2)\nreport(n=1)\n"
    (line,), (summary,) = (lines_of(run(code), mark) for mark in (REPORT_MARK, SUMMARY_MARK))
    startup = summary["phases_s"]["startup"]  # type: ignore[index]
    assert 0.2 < startup < 30.0
    assert abs(startup - line["st_worker_time"]) < 1.0  # type: ignore[operator]


@pytest.mark.slow
def test_a_process_that_recorded_nothing_prints_nothing_and_a_forked_one_not_again() -> None:
    assert run("pass\n") == ""
    forked = run("import os, sys\nreport(n=1)\nif os.fork() == 0:\n    sys.exit(0)\nos.wait()\n")
    assert forked.count(SUMMARY_MARK) == 1


@pytest.mark.slow
def test_a_signal_handler_may_report_at_any_moment() -> None:
    code = (
        "import signal\n"
        "signal.signal(signal.SIGALRM, lambda *_: report(late=1))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n"
        "for n in range(2000):\n    report(n=n)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\n"
    )
    parser = ReportParser()
    parser.feed(run(code).encode())
    assert (parser.counts.repeated, parser.counts.alien) == (0, 0)
    assert parser.counts.delivered > 2000


def test_a_replaced_standard_output_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    reporter().report(loss=1)
    assert capsys.readouterr().out.startswith(REPORT_MARK)


@pytest.mark.slow
def test_lines_of_several_processes_do_not_mix() -> None:
    code = "import os\nfor n in range(3):\n    if os.fork() == 0:\n        break\nfor n in range(500):\n    report(n=n, text='x' * 500)\n"
    code += "if os.getpid() != 0:\n    try:\n        while True: os.wait()\n    except ChildProcessError: pass\n"
    lines = [line for line in run(code).splitlines() if "outrider-summary" not in line]
    assert (
        len([line for line in lines if line.startswith(REPORT_MARK) and line.endswith("}") and json.loads(line[15:])]) == len(lines) == 2000
    )


def test_the_file_is_python_3_8_and_imports_only_the_standard_library() -> None:
    tree = ast.parse((FOLDER / "outrider_report.py").read_text(), feature_version=(3, 8))
    names = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    assert names <= set(sys.stdlib_module_names)
    top = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    assert not top & {"typing", "pathlib", "contextlib", "logging", "dataclasses", "subprocess"}


def test_steps_are_progress_until_progress_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    def calls(reporter: Reporter) -> None:
        for _ in range(1000):
            reporter.step(samples=32)
        reporter.progress(1, 4)
        reporter.step()
        reporter.progress(2, at_most=9)

    first, second = progress_lines(calls, capfd)
    assert (first["done"], first["total"], first["by_step"]) == (1.0, None, True)
    assert (second["done"], second["total"], "by_step" in second) == (1.0, 4.0, False)


def test_what_may_stop_early_says_how_much_it_is_at_most(capfd: pytest.CaptureFixture[str]) -> None:
    (line,) = progress_lines(lambda reporter: reporter.progress(2, at_most=9), capfd)
    assert (line["done"], line["total"], line["at_most"]) == (2.0, None, 9.0)
