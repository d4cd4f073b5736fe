"""Changes the code at random and looks whether the fast tests notice: `python tests/tools/mutate.py`, `--help` for more.

A mutant is one small change: a comparison, a number, a condition, a statement left out. It is made in a copy of the tree, never in the
checkout. First every fast test runs once to learn which lines it executes; then each mutant meets only the tests that execute its line,
those of the mirrored file first, until one fails. A line that runs on import (a constant, a field's default, what a decorator does) is
executed by no single test: its mutant meets the tests that execute anything of its file or of a file that imports it. What survives is
either a hole in the tests or no change of behaviour at all.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kept import Kept, digest_of
from mutants import Mutant, diff_of, mutants_of

ROOT = Path(__file__).resolve().parents[2]
CORE = (
    "definitions",
    "backends/*.py",
    "backends/common",
    "backends/simulated",
    # Of the SageMaker back-end what decides; what calls the service is tested against an emulator, and not by fast tests.
    "backends/sagemaker/aws/[efr]*.py",
    "backends/sagemaker/aws/call_queue.py",
    "backends/sagemaker/jobs/[iot]*.py",
    "backends/sagemaker/jobs/channels.py",
    "backends/sagemaker/jobs/job.py",
    "backends/sagemaker/jobs/request.py",
    "backends/sagemaker/jobs/status_*.py",
    "backends/sagemaker/logs",
    "backends/sagemaker/pools",
    # Not the adapters, nor workloads, which are programs that slow tests run.
    "benchmarking/*.py",
    "benchmarking/controller",
    "benchmarking/archive",
    "benchmarking/planning",
    "benchmarking/forecasting",
    "benchmarking/methods",
    "benchmarking/analysis",
    "benchmarking/report",
    "benchmarking/export",
    "benchmarking/datasets",
)
PACKAGES = ("definitions", "backends", "benchmarking", "launch")
FAST = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:faulthandler", "-o", "timeout=0"]
LEFT_OUT = {".git", ".venv", "results", "build", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
FIRST = 40
IMPORTS = "imports"
"""In place of a test's name: what executes while modules are imported."""
MOST_BYTES = 16 * 1024**3
"""Of address space for a process, of which a fast test needs a few at most."""
# Imported once, so that each mutant's process begins with them; nothing of ours is among them.
PRELOADED = ("numpy", "scipy.optimize", "scipy.stats", "pydantic", "yaml", "botocore.session", "pandas", "rich.console")


def files_of(patterns: Sequence[str]) -> list[str]:
    """Return the modules that paths and patterns name, relative to the root."""
    found: set[Path] = set()
    for pattern in patterns:
        for path in ROOT.glob(str(pattern).rstrip("/")):
            found |= set(path.rglob("*.py")) if path.is_dir() else {path}
    return sorted(str(path.relative_to(ROOT)) for path in found if path.name != "__init__.py" and path.suffix == ".py")


def forget_caches() -> None:
    """Empty the caches of our functions: what a cached one computes is executed by every test that needs it, not by the first alone."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in PACKAGES:
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()


class Recorder:
    """Has pytest remember which lines of the files each test executes, and how long it takes."""

    def __init__(self, tree: Path, files: Sequence[str]) -> None:
        self._names = {str(tree / name): name for name in files}
        self._item = ""
        self._lines: set[tuple[str, int]] = set()
        self.seen: dict[str, dict[str, Any]] = {}
        self._failed = False

    def pytest_sessionstart(self) -> None:
        """Begin before anything of ours is imported: what executes then, decorators say, is no single test's."""
        self._begin(IMPORTS)

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        """Begin a test: what was executed until here belongs to the one before."""
        self._keep()
        forget_caches()
        self._begin(item.nodeid)

    def _begin(self, name: str) -> None:
        self._item, self._began, self._lines, self._failed = name, time.monotonic(), set(), False
        threading.settrace(self._call)
        sys.settrace(self._call)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember what fails as it is."""
        self._failed = self._failed or report.failed

    def pytest_sessionfinish(self) -> None:
        """Keep what the last test executed."""
        sys.settrace(None)
        self._keep()

    def _keep(self) -> None:
        if self._item:
            lines: dict[str, list[int]] = defaultdict(list)
            for path, line in self._lines:
                lines[self._names[path]].append(line)
            self.seen[self._item] = {"s": time.monotonic() - self._began, "lines": lines, "failed": self._failed}

    def _call(self, frame: Any, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename in self._names else None

    def _line(self, frame: Any, event: str, argument: Any) -> Any:
        self._lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


class Chosen:
    """Has pytest run these tests alone, in this order, and remember which one failed; one that goes on for too long ends the process."""

    def __init__(self, tests: Sequence[str], seen: dict[str, dict[str, Any]]) -> None:
        self._place = {name: place for place, name in enumerate(tests)}
        self._seen = seen
        self.failed = ""

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        """Begin a test: an endless loop is a mutant that was noticed, as is one that takes all memory."""
        signal.alarm(20 + 4 * int(self._seen[item.nodeid]["s"]))

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep the chosen ones."""
        items[:] = sorted((item for item in items if item.nodeid in self._place), key=lambda item: self._place[item.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember what failed first."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


def in_child(tree: Path, limit_s: float, arguments: Sequence[str], plugin: Any, answer: Path) -> tuple[int | None, Any]:
    """Run pytest in a forked process in a copy of the tree.

    Returns:
        Its exit code, None where it ran past the limit; and what the plugin found.
    """
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        os.chdir(tree)
        sys.path[:0] = [str(tree)]
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        import pytest

        code = int(pytest.main([*FAST, "--rootdir", str(tree), *arguments], plugins=[plugin]))
        answer.write_text(json.dumps(plugin.seen if isinstance(plugin, Recorder) else plugin.failed), encoding="utf-8")
        os._exit(code)
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else None
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None, None


def importers_of(files: Sequence[str]) -> dict[str, set[str]]:
    """Return the modules and test files that import each of the files themselves, also within a function."""
    modules = {name.removesuffix(".py").replace("/", "."): name for name in files}
    found: dict[str, set[str]] = {name: set() for name in files}
    for folder in (*PACKAGES, "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names: list[str] = []
                if isinstance(node, ast.Import):
                    names = [one.name for one in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module:
                    names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
                for name in names:
                    if name in modules:
                        found[modules[name]].add(str(path.relative_to(ROOT)))
    return found


def tests_of(mutant: Mutant, seen: dict[str, dict[str, Any]], importers: set[str]) -> list[str]:
    """Return the tests that execute a mutant's lines, the mirrored file's first, then those that execute its file, then the quickest."""
    wanted = set(range(mutant.first, mutant.last + 1))
    inside = mutant.inside and not wanted & set(seen.get(IMPORTS, {"lines": {}})["lines"].get(mutant.path, ()))
    own, others = set(), set()
    for name, one in seen.items():
        if name == IMPORTS:
            continue
        lines = set(one["lines"].get(mutant.path, ()))
        if (lines & wanted) if inside else lines:
            own.add(name)
        elif not inside and (name.split("::")[0] in importers or importers & one["lines"].keys()):
            others.add(name)
    mirrored = f"tests/{Path(mutant.path).parent}/test_{Path(mutant.path).stem}"
    return sorted(own | others, key=lambda name: (not name.startswith(mirrored), name not in own, seen[name]["s"]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Make mutants, run tests, print what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=CORE, help="modules, folders or patterns, relative to the root (default: the core)")
    parser.add_argument("--mutants", type=int, default=200, help="how many of all that there are (default 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the choice (default 0)")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="where tests are looked for (default: tests)")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep there what is found, and go on from it while the tree is the same"
    )
    parser.add_argument("--list", action="store_true", help="show the chosen mutants, run nothing")
    asked = parser.parse_args(arguments)
    files = files_of(asked.paths)
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in files}
    every = [mutant for name in files for mutant in mutants_of(name, texts[name])]
    chosen = random.Random(asked.seed).sample(every, min(asked.mutants, len(every)))
    print(f"{len(chosen)} of {len(every)} mutants of {len(files)} modules, seed {asked.seed}", flush=True)
    if asked.list:
        for mutant in chosen:
            print(diff_of(mutant, texts[mutant.path]))
        return 0
    for name in PRELOADED:
        importlib.import_module(name)
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree, answer = Path(folder).resolve() / "tree", Path(folder).resolve() / "answer"
        shutil.copytree(ROOT, tree, ignore=lambda _, names: LEFT_OUT & set(names), symlinks=True)
        importers = importers_of(files)
        watched = sorted({*files, *(name for names in importers.values() for name in names if not name.startswith("tests/"))})
        kept = Kept(asked.keep, f"{digest_of(ROOT, (*PACKAGES, 'tests'))} {watched} {asked.tests}")
        seen = kept.watched
        if seen is None:
            # Watched, they take a few times as long as otherwise, and far longer on a machine with other work.
            code, seen = in_child(tree, 4 * 3600, asked.tests, Recorder(tree, watched), answer)
            if code not in (0, 1) or not seen:
                raise SystemExit(f"the fast tests do not run without any change (exit code {code})")
            kept.keep_watched(seen)
        failing = [name for name, one in seen.items() if one["failed"]]
        for name in failing:
            print(f"fails without any change, and is left out: {name}")
            del seen[name]
        print(f"{len(seen) - 1} tests take {sum(one['s'] for one in seen.values()):.0f} s while they are watched", flush=True)
        outcomes: Counter[str] = Counter()
        rooms: dict[str, Counter[str]] = defaultdict(Counter)
        for number, mutant in enumerate(chosen, 1):
            name = f"{mutant.path}:{mutant.line}:{zlib.crc32(mutant.source.encode())}"
            known = kept.outcome(name)
            outcome, by = known or _judge(mutant, texts[mutant.path], tree, answer, tests_of(mutant, seen, importers[mutant.path]), seen)
            if known is None:
                kept.keep_outcome(name, outcome, by)
            outcomes[outcome] += 1
            print(f"{number:4} {outcome:8} {mutant.path}:{mutant.line} {mutant.what} {by}", flush=True)
            if outcome != "killed":
                print(diff_of(mutant, texts[mutant.path]), flush=True)
            rooms[room_of(mutant.path)][outcome] += 1
    for room, found in sorted(rooms.items()):
        print(f"{found['killed']:4} of {found.total():4} killed: {room}")
    print(f"{outcomes['killed']} of {len(chosen)} killed ({outcomes['killed'] / max(1, len(chosen)):.0%})")
    return 0


def _judge(mutant: Mutant, text: str, tree: Path, answer: Path, tests: Sequence[str], seen: dict[str, dict[str, Any]]) -> tuple[str, str]:
    if not tests:
        return "survived", "(no fast test executes it)"
    place = tree / mutant.path
    place.write_text(mutant.source, encoding="utf-8")
    try:
        # Most fall to the first few; the others' imports are made only for what survives these.
        for some in (tests[:FIRST], tests[FIRST:]):
            files = dict.fromkeys(name.split("::")[0] for name in some)
            limit_s = 30 + 4 * sum(seen[name]["s"] for name in some)
            code, failed = in_child(tree, limit_s, ["-x", *files], Chosen(some, seen), answer) if some else (0, "")
            if code not in (0, 5):  # 5: none of these tests is there any more
                return "killed", "past its time" if code in (None, -signal.SIGALRM) else failed or "not importable"
    finally:
        place.write_text(text, encoding="utf-8")
    return "survived", f"({len(tests)} tests)"


def room_of(path: str) -> str:
    """Return the room that a module lies in: its package, and the folder therein."""
    return "/".join(path.split("/")[:-1][:2])


if __name__ == "__main__":
    sys.exit(main())
