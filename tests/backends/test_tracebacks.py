"""The exception that ended a script is found whatever stands around it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from backends.reports import ReportParser
from backends.tracebacks import Raised, TracebackFinder, find_raised

HEADER = "Traceback (most recent call last):"
FRAMES = [HEADER, '  File "/x/train.py", line 9, in <module>', "    main()", '  File "/x/data.py", line 4, in load', "    raise error"]
LAUNCHER = [
    HEADER,
    '  File "/env/bin/torchrun", line 8, in <module>',
    "    sys.exit(main())",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    "============================================================",
    "train.py FAILED",
    "  error_file: <N/A>",
]


def message(*lines: str) -> str | None:
    found = find_raised(lines)
    return None if found is None else found.message


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], None),
        (["ValueError: only said"], None),
        ([*FRAMES, "KeyError: 'lr'"], "KeyError: 'lr'"),
        ([*FRAMES, "KeyError: 'lr'", "Error: the job has failed"], "KeyError: 'lr'"),
        ([*FRAMES, "pkg.errors.Bad.<locals>.Worse: x: y"], "pkg.errors.Bad.<locals>.Worse: x: y"),
        ([*FRAMES, "MemoryError"], "MemoryError"),
        ([*FRAMES, "ValueError: 3 errors", "lr", "  must be positive", "See: https://x"], "ValueError: 3 errors"),
        ([*FRAMES, "RuntimeError: ", "", "  no such device"], "RuntimeError: no such device"),
        ([*FRAMES, "RuntimeError: ", " x"], "RuntimeError: x"),
        ([*FRAMES, "failed: by name in lower case"], "failed: by name in lower case"),
        ([*FRAMES, "epoch: 3", "zlib.error: Error -3"], "zlib.error: Error -3"),
        ([*FRAMES, "ray.exceptions.RayTaskError(ValueError): in f()"], "ray.exceptions.RayTaskError(ValueError): in f()"),
        ([*FRAMES, "KeyError: 1", "", "During handling of the above exception, another ...:", "", *FRAMES, "OSError: 2"], "OSError: 2"),
        ([*FRAMES, "ValueError: bad", *LAUNCHER], "ValueError: bad"),
        ([*FRAMES, "ValueError: bad", *FRAMES, "subprocess.CalledProcessError: Command 'x' returned 1."], "ValueError: bad"),
        (LAUNCHER, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"),
        (['  File "train.py", line 3', "    x = (", "        ^", "SyntaxError: '(' was never closed"], "SyntaxError: '(' was never closed"),
        ([*FRAMES, "KeyError: 1", "Exception ignored in: <function A.__del__>", *FRAMES, "AttributeError: no x"], "KeyError: 1"),
        ([f"\x1b[31m{HEADER}\x1b[0m", *FRAMES[1:], "\x1b[1;31mKeyError\x1b[0m: \x1b[35m1\x1b[0m"], "KeyError: 1"),
        ([" 45%|████ | 22/50" + HEADER, *FRAMES[1:], "KeyError: 1"], "KeyError: 1"),
        ([f"2026-01-01 10:00:00,123 ERROR {HEADER}", *FRAMES[1:], "KeyError: 1"], "KeyError: 1"),
        ([f"12:00:0{n} | {line}" for n, line in enumerate([*FRAMES, "KeyError: 1"])], "KeyError: 1"),
        (["terminate called after throwing an instance of 'c10::Error'", "  what():  CUDA error", "Aborted"], "c10::Error: CUDA error"),
        (["terminate called after throwing an instance of 'std::bad_alloc'", "  what():  std::bad_alloc"], "std::bad_alloc"),
        (["KeyError: Caught KeyError in worker 0.", f"Original {HEADER}", *FRAMES[1:], "KeyError: 'a'"], "KeyError: 'a'"),
    ],
)  # fmt: skip
def test_the_exception_is_found(lines: list[str], expected: str | None) -> None:
    assert message(*lines) == expected


def test_ranks_that_print_between_each_other_are_told_apart() -> None:
    one = [f"[rank1]: {line}" for line in [*FRAMES, "ValueError: of one"]]
    zero = [f"[rank0]: {line}" for line in [*FRAMES, "TimeoutError: of zero"]]
    mixed = [line for pair in zip(one, zero, strict=True) for line in pair]
    assert find_raised(mixed[:-1]) == Raised("ValueError: of one", "data.py:load")
    assert find_raised([*one, *zero, *LAUNCHER]) == Raised("TimeoutError: of zero", "data.py:load")


def test_what_a_script_only_logged_did_not_end_it() -> None:
    finder = TracebackFinder()
    for line in [*FRAMES, "KeyError: 'handled'"]:
        finder.feed(line)
    finder.reported()
    for line in [*FRAMES, "subprocess.CalledProcessError: its own"]:
        finder.feed(line)
    assert finder.raised == Raised("subprocess.CalledProcessError: its own", "data.py:load", is_launchers=True)


def test_a_box_drawn_around_a_traceback_is_read() -> None:
    box = [
        "╭───────────── Traceback (most recent call last) ─────────────╮",
        "│ /tmp/x/train.py:5 in main                                    │",
        "│ ❱ 5 │   raise ValueError('bad')                              │",
        "╰──────────────────────────────────────────────────────────────╯",
        "ValueError: bad",
    ]
    assert find_raised(box) == Raised("ValueError: bad", "train.py:main")


def test_a_traceback_is_kept_however_much_follows_and_memory_stays_bounded() -> None:
    parser = ReportParser()
    parser.feed("\n".join([*FRAMES, "KeyError: 'lr'", *(f"launcher noise {n}" for n in range(1000))]).encode() + b"\n")
    assert parser.tracebacks.raised == Raised("KeyError: 'lr'", "data.py:load")
    parser.feed(b"".join(b"[rank%d]: Traceback (most recent call last):\n" % n for n in range(1000)))
    assert parser.tracebacks.n_open == 16


RAISING = {
    "group": ("raise ExceptionGroup('two', [ValueError(1), TypeError(2)])", "ExceptionGroup: two (2 sub-exceptions)"),
    "from": ("try:\n    {}['a']\nexcept KeyError as e:\n    raise RuntimeError('no a') from e", "RuntimeError: no a"),
    "deep": ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
    "syntax": ("import ast\nast.parse('x = (')", "SyntaxError: '(' was never closed"),
    "pool": (
        "from concurrent.futures import ProcessPoolExecutor as P\n"
        "if __name__ == '__main__':\n    with P(1) as pool: pool.submit(int, 'a').result()",
        "ValueError: invalid literal for int() with base 10: 'a'",
    ),
    "called": (
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', '1 / 0'], check=True)",
        "ZeroDivisionError: division by zero",
    ),
    "notes": ("e = ValueError('bad')\ne.add_note('note: of it')\nraise e", "ValueError: bad"),
    "local": ("def f():\n    class Odd(Exception): pass\n    raise Odd('x')\nf()", "f.<locals>.Odd: x"),
    "del": ("class A:\n    def __del__(self): {}[1]\na = A()\nraise ValueError('first')", "ValueError: first"),
    "atexit": ("import atexit\natexit.register(lambda: {}[1])\nraise ValueError('first')", "ValueError: first"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", RAISING)
def test_what_the_interpreter_really_prints_is_read(tmp_path: Path, kind: str) -> None:
    code, expected = RAISING[kind]
    (tmp_path / "x.py").write_text(textwrap.dedent(code))
    ran = subprocess.run([sys.executable, tmp_path / "x.py"], stderr=subprocess.PIPE, text=True, check=False)
    found = find_raised(ran.stderr.splitlines())
    assert found is not None
    assert found.message == expected, ran.stderr
