"""What is worth importing once is learnt from the first job; what cannot be forked is left out and named."""

from __future__ import annotations

import logging
import os
import re
import time
from pathlib import Path

import pytest

from backends.events import Noted
from backends.processes.warm.auto_preload import AutoPreload, TimedImport, read_imports, worth_preloading
from tests.backends.contract import of_job
from tests.backends.local_bench import LocalBench

NUMPY = TimedImport("numpy", 0.2, "/lib/numpy/__init__.py", (TimedImport("numpy.core", 0.15, "/lib/numpy/core/__init__.py"),))
TORCH = TimedImport("torch", 1.5, "/lib/torch/__init__.py", (NUMPY, TimedImport("torch._C", 0.04, "/lib/torch/_C.so")))
MINE = TimedImport("mine", 1.6, "/src/mine.py", (TORCH, TimedImport("json", 0.01, "/lib/json/__init__.py")))


def names(imports: list[TimedImport]) -> list[str]:
    return [one.name for one in imports]


def test_the_outermost_modules_that_take_50_ms_and_are_not_the_scripts_are_worth_it() -> None:
    quick = TimedImport("quick", 0.049, "/lib/quick.py")
    assert names(worth_preloading([quick, TORCH], (), ())) == ["torch"]
    assert names(worth_preloading([MINE], ("/src", ""), ())) == ["torch"]
    assert names(worth_preloading([MINE], ("/sr",), ())) == ["mine"]
    assert names(worth_preloading([NUMPY, MINE, NUMPY], ("/src",), ())) == ["numpy", "torch"]


def test_in_place_of_a_module_that_is_dropped_come_those_that_it_imports() -> None:
    assert names(worth_preloading([MINE], ("/src",), ("torch",))) == ["numpy"]
    assert names(worth_preloading([MINE], ("/src",), ("torch", "numpy"))) == ["numpy.core"]
    assert names(worth_preloading([MINE], ("/src",), ("torch", "numpy", "numpy.core"))) == []


def test_a_line_that_was_cut_off_or_is_none_is_left_out() -> None:
    lines = ["('a', 0.5, '/a.py', [('b', 0.25, '', [])])", "('c', 0.5, '/c", "7", "('d', 'long', '', [])", "__import__('os')"]
    assert read_imports("\n".join(lines)) == [TimedImport("a", 0.5, "/a.py", (TimedImport("b", 0.25, ""),))]


def learnt(tmp_path: Path, *imports: TimedImport) -> AutoPreload:
    """What a first job with these imports has taught; the script is in /src."""
    plain = lambda one: (one.name, one.seconds, one.file, [plain(inner) for inner in one.inner])  # noqa: E731
    auto = AutoPreload(tmp_path / "imports")
    assert auto.file_for("first") == str(tmp_path / "imports")
    assert auto.file_for("second") == ""
    assert not auto.has_learnt("second")
    Path(auto.file_for("first")).write_text("".join(f"{plain(one)!r}\n" for one in imports))
    assert not auto.has_learnt()
    assert auto.has_learnt("first")
    return auto


def test_the_line_says_what_is_imported_and_what_is_not(tmp_path: Path) -> None:
    auto = learnt(tmp_path, MINE)
    assert auto.modules(["/src"]) == ["torch"]
    assert auto.line() == "preload auto: torch is imported once for all further trials (1.5 s in the first)"
    auto.drop("torch", "importing torch started 1 thread")
    assert auto.modules() == ["numpy"]
    assert auto.line().endswith(
        "numpy is imported once for all further trials (0.2 s in the first); not torch: importing torch started 1 thread"
    )
    assert not auto.has_learnt("first")


def test_the_line_says_that_nothing_is_worth_it_or_can_be_forked(tmp_path: Path) -> None:
    auto = learnt(tmp_path)
    assert auto.modules(["/src"]) == []
    assert auto.line() == "preload auto: no import of the first trial took 0.05 s; further ones are forked from an empty interpreter"
    auto = learnt(tmp_path, NUMPY, TORCH)
    auto.modules(["/src"])
    auto.drop("", "it was ended by signal SIGKILL")
    assert auto.modules() == []
    assert auto.line() == "preload auto: nothing is imported in advance; not numpy, torch: it was ended by signal SIGKILL"


def test_a_job_that_goes_on_has_taught_what_it_can_after_ten_seconds_without_an_import(tmp_path: Path) -> None:
    auto = AutoPreload(tmp_path / "imports")
    file = Path(auto.file_for("first"))
    file.write_text("")
    os.utime(file, (time.time() - 9, time.time() - 9))
    assert not auto.has_learnt()
    os.utime(file, (time.time() - 11, time.time() - 11))
    assert auto.has_learnt()


@pytest.fixture
def bench(tmp_path: Path) -> LocalBench:
    """Modules outside of the script's folder: `slow`, and `threaded`, which imports `inner` and starts a thread; `quick`."""
    library = tmp_path.with_name("library-of-" + tmp_path.name)
    library.mkdir()
    busy = "import os, time\nend = time.perf_counter() + {s}\nwhile time.perf_counter() < end: pass\nBY = os.getpid()\n"
    (library / "slow.py").write_text(busy.format(s=0.08))
    (library / "inner.py").write_text(busy.format(s=0.08))
    (library / "quick.py").write_text(busy.format(s=0.0))
    thread = "import threading\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
    (library / "threaded.py").write_text("import inner\n" + busy.format(s=0.08) + thread)
    return LocalBench(tmp_path, preload=("auto",))


def library(bench: LocalBench) -> dict[str, str]:
    return {"PYTHONPATH": str(bench.folder.with_name("library-of-" + bench.folder.name))}


def own_of(bench: LocalBench, name: str, imports: str) -> dict[str, bool]:
    modules = ", ".join(f"{one}={one}.BY == os.getpid()" for one in imports.split(", "))
    job = bench.job(name, f"import os\nimport {imports}\nreport({modules})\n", environment=library(bench))
    (metrics,) = bench.metrics_of(job)
    return {key: bool(value) for key, value in metrics.items()}


@pytest.mark.slow
def test_the_first_job_imports_for_itself_and_the_next_find_what_can_be_forked(bench: LocalBench, caplog: pytest.LogCaptureFixture) -> None:
    imports = "slow, threaded, inner, quick"
    assert own_of(bench, "one", imports) == dict.fromkeys(imports.split(", "), True)
    with caplog.at_level(logging.WARNING):
        found = [own_of(bench, name, imports) for name in ("two", "three")]
    assert found == [{"slow": False, "threaded": True, "inner": False, "quick": True}] * 2
    assert caplog.text == ""
    assert bench.backend.close() == []


@pytest.mark.slow
def test_what_was_decided_is_said_once_in_one_line(bench: LocalBench) -> None:
    jobs = [bench.job(name, "import slow, threaded\nreport(n=1)\n", environment=library(bench)) for name in ("one", "two", "three")]
    events = [event for job in jobs for event in bench.run(job)]
    (noted,) = of_job(events, "", Noted)
    # On a busy machine others may take 50 ms too.
    assert re.search(r"^preload auto: .*slow, inner are imported once for all further trials \(0\.\d s in the first\)", noted.text)
    assert noted.text.endswith("; not threaded: importing threaded started 1 thread, which a fork does not copy")
    assert bench.backend.close() == []


@pytest.mark.slow
def test_a_module_that_ends_the_worker_costs_the_preload_and_no_trial(bench: LocalBench) -> None:
    # It is imported in peace by a process that was started as a job, and by no other.
    Path(library(bench)["PYTHONPATH"], "hostile.py").write_text(
        "import os, time\nend = time.perf_counter() + 0.08\nwhile time.perf_counter() < end: pass\n"
        "if 'OUTRIDER_JOB' not in os.environ: os.kill(os.getpid(), 9)\n"
    )
    jobs = [bench.job(name, "import hostile\nreport(n=1)\n", environment=library(bench)) for name in ("one", "two", "three")]
    events = [event for job in jobs for event in bench.run(job)]
    (noted,) = of_job(events, "", Noted)
    assert re.search(r"^preload auto: nothing is imported in advance; not .*hostile: it was ended by signal SIGKILL$", noted.text)
    assert bench.backend._runner._starter._worker is not None
    assert bench.backend.close() == []


@pytest.mark.slow
def test_an_import_error_of_the_first_job_is_printed_as_ever(bench: LocalBench, tmp_path: Path) -> None:
    (bench.folder / "broken.py").write_text("def f():\n    raise KeyError('x')\nf()\n")
    (bench.folder / "lacking.py").write_text("import left_pad\n")
    (tmp_path / "cold").mkdir()
    logs = []
    for one in (bench, LocalBench(tmp_path / "cold")):
        for name in ("broken", "lacking"):
            (one.folder / f"{name}.py").write_text((bench.folder / f"{name}.py").read_text())
            job = one.job(f"imports-{name}", f"import {name}\n")
            one.end_of(job)
            logs.append(one.log(job).read_text().replace(str(one.folder), ""))
        assert one.backend.close() == []
    assert logs[:2] == logs[2:]
    assert "Traceback" in logs[0]


@pytest.mark.slow
def test_torch_and_numpy_are_learnt(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    bench = LocalBench(tmp_path, preload=("auto",))
    code = """
        import sys
        there = [name in sys.modules for name in ("numpy", "torch")]
        import numpy, torch
        report(there=there, sum=int(torch.ones(3).sum()))
    """
    assert [bench.metrics_of(bench.job(name, code)) for name in ("one", "two")] == [
        [{"there": [False, False], "sum": 3}],
        [{"there": [True, True], "sum": 3}],
    ]
    assert bench.backend.close() == []
