"""Turns a fresh fork of the warm worker into the process of one script, as the interpreter would have set it up. Standard library only."""

from __future__ import annotations

import builtins
import os
import sys
import time
from _frozen_importlib_external import SourceFileLoader

from backends.processes.warm import import_times, noted_facts, script_code, thread_pools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str | None]:
    """Return what imports did to the environment: new values by name, None for what they removed."""
    names = before.keys() | after.keys()
    return {name: after.get(name) for name in sorted(names) if before.get(name) != after.get(name)}


def take_over(
    request: Mapping[str, Any],
    output: int,
    changed: Mapping[str, str | None],
    loaded: thread_pools.ThreadPools,
    noted: noted_facts.NotedFacts,
) -> None:
    """Give this process the output, folder, environment, arguments, thread pools and random state of its job.

    Args:
        request: of the controller; see `worker.WarmWorker.ask`.
        output: descriptor that standard output and errors go to.
        changed: what the imports did to the environment.
        loaded: the thread pools of what they loaded.
        noted: what they noted about the process that did the imports.
    """
    # Output first, so that whatever goes wrong from here on is in the job's log.
    for number in (1, 2):
        os.dup2(output, number)
    os.close(output)
    os.chdir(request["folder"])
    # The environment in place, as modules keep `os.environ` itself; on top of it what their imports changed, as a new interpreter's would.
    os.environ.clear()
    os.environ.update(request["environment"])
    # What imports set or removed, an import in the job would have too; the values are those that it would have seen itself.
    for name, value in changed.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    script, module = request["script"], request["module"]
    # The lists themselves stay, as a module may have imported them by name.
    sys.argv[:] = ["-m" if module else script, *request["arguments"]]
    sys.orig_argv[:] = [sys.executable, *(["-m", module] if module else [script]), *request["arguments"]]
    if module and not getattr(sys.flags, "safe_path", False):
        # A module is looked for in the working directory first, and only a script has its own folder on the path.
        sys.path[0] = os.getcwd()  # noqa: PTH109
    # The folder was listed for the worker and may have changed since.
    sys.path_importer_cache.pop(sys.path[0], None)
    # Thread pools by the job's cores and variables, which were not known when the libraries were loaded.
    loaded.resize(request["environment"])
    noted.renew()
    _begin_anew()
    # Last, so that none of our own imports is timed.
    if request["imports"]:
        import_times.measure(request["imports"])


def _begin_anew() -> None:
    """Renew what modules drew or noted when they were imported; `random` renews itself after a fork."""
    # Random numbers: every job would draw the same.
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.default_generator.seed()  # drawn by chance in each new process; those of GPUs begin with a constant
    # The key by which a process knows its children: a constant one would let jobs into each other's.
    processes: Any = sys.modules.get("multiprocessing.process")
    if processes is not None:
        processes.current_process().authkey = os.urandom(32)
    # `threading` itself renews all of its main thread in a forked process but the kernel's number of it.
    threading: Any = sys.modules.get("threading")
    if threading is not None and hasattr(threading.main_thread(), "_native_id"):
        threading.main_thread()._native_id = threading.get_native_id()
    # Times of log records are told from when `logging` was imported; in nanoseconds from Python 3.13 on.
    logging: Any = sys.modules.get("logging")
    if logging is not None and hasattr(logging, "_startTime"):
        logging._startTime = time.time_ns() if isinstance(logging._startTime, int) else time.time()
    reporter = sys.modules.get("outrider_report")
    if reporter is not None:
        reporter.begin_anew()


def run(script: str, code: script_code.ScriptCode) -> None:
    """Run a script as `__main__`; what it raises arrives as from `python script`, without frames of ours."""
    # The module that the interpreter makes for a script, attribute by attribute.
    main = type(sys)("__main__")
    loader = SourceFileLoader("__main__", script)
    main.__dict__.update(
        __file__=script, __loader__=loader, __builtins__=builtins, __cached__=None, __annotations__={}, __spec__=None, __package__=None
    )
    sys.modules["__main__"] = main
    # SystemExit goes on to the interpreter, which flushes, runs `atexit` and sets the exit code as ever.
    try:
        exec(code.of(script), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        _show_without_us(error)
        raise


def _show_without_us(error: BaseException) -> None:
    """Print a script's exception as its own interpreter would, without the frames of this folder."""
    ours = __file__.rpartition("/")[0] + "/"
    while error.__traceback__ is not None and error.__traceback__.tb_frame.f_code.co_filename.startswith(ours):
        error.__traceback__ = error.__traceback__.tb_next
    _show(error)


def run_module(name: str) -> None:
    """Run a module as `python -m` does; what it raises arrives as from there."""
    import runpy

    main = type(sys)("__main__")
    main.__dict__.update(__builtins__=builtins, __annotations__={})
    sys.modules["__main__"] = main
    try:
        runpy._run_module_as_main(name)  # type: ignore[attr-defined]  # what `python -m` itself calls
    except SystemExit:
        raise
    except BaseException as error:
        _show_without_us(error)
        raise


def _show(error: BaseException) -> None:
    """Print what ended the script by its own hook; the interpreter then only exits, with the code or signal that is due."""
    # Printed here, while the traceback can still be shortened; the interpreter, which would print it whole, finds a hook that is silent.
    arguments: Sequence[Any] = (type(error), error, error.__traceback__)
    try:
        sys.excepthook(*arguments)
    except BaseException:  # noqa: BLE001 (the hook is the script's, and nothing of it may hide the error)
        sys.__excepthook__(*arguments)
    sys.excepthook = lambda *_: None
