"""Finds a trainable and runs it to its end, as one trial."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import outrider_report

from .call import TrialCall, flattened, merged, parse_call, undecided
from .session import ITERATION, Checkpoints, TuneSession
from .tuning import ToRun, bridge


def run_class(kind: Any, config: dict[str, Any], session: TuneSession, frequency: int) -> None:
    """Train a `Trainable` step by step, from its newest checkpoint to its end."""
    base = importlib.import_module("ray.tune").Trainable
    saves = kind.save_checkpoint is not base.save_checkpoint
    # Else each trial leaves a folder in the user's own.
    base._setup_logdir = lambda self: setattr(self, "_logdir", str(Path.cwd()))
    newest = session.checkpoints.newest()
    trainable = kind(config=config)
    try:
        if newest is not None:
            trainable.restore(str(newest[1]))
            trainable._iteration = session.iteration
        while True:
            result = trainable.train()
            due = bool(result.get("should_checkpoint")) or (session.iteration + 1) % frequency == 0
            if saves and (due or session.is_last(session.metrics(result), result)):
                session.keep(lambda place: trainable.save(str(place)))
            if session.told(result):
                return
    finally:
        trainable.stop()


def run_function(function: Callable[[dict[str, Any]], Any], config: dict[str, Any], session: TuneSession) -> None:
    """Call a function, and report what it returns or yields as Ray does."""
    found = function(config)
    for one in found if inspect.isgenerator(found) else [found]:
        if isinstance(one, Mapping):
            session.report(one)
        elif isinstance(one, (int, float)) and not isinstance(one, bool):
            session.report({"_metric": one})


def main(words: Sequence[str]) -> int:
    """Run a trial, and return the exit code."""
    try:
        call = parse_call(words)
    except (ValueError, OSError) as error:
        return _refused(f"{error}; python -m outrider_ray FILE [NAME] ARGUMENTS")
    most = call.config.pop(ITERATION, None)
    folder = Path(outrider_report.checkpoint_dir() or Path("checkpoints"), "ray")
    session = TuneSession(outrider_report.report, Checkpoints(folder), {} if most is None else {ITERATION: int(most)})
    try:
        return _run_script(call, session) if call.name is None else _run_named(call, call.name, session)
    except CannotRunError as error:
        return _refused(str(error))


class CannotRunError(Exception):
    """What is asked for cannot be run; the text says why."""


def _run_named(call: TrialCall, name: str, session: TuneSession) -> int:
    """Run a function or class of a file or module."""

    def tunes(_: ToRun) -> None:
        raise CannotRunError(
            f"{call.source} tunes when it is imported; put what calls Tuner.fit or tune.run under `if __name__ == '__main__':`, "
            f"or leave {name} out, so that the script is run as it is"
        )

    _bridge(session, tunes)
    file = _file(call)
    if file is None:
        module = importlib.import_module(call.source)
    else:
        made = importlib.util.spec_from_file_location(file.stem, file)
        assert made is not None
        assert made.loader is not None
        module = sys.modules[file.stem] = importlib.util.module_from_spec(made)
        made.loader.exec_module(module)
    if not hasattr(module, name):
        raise CannotRunError(f"{call.source} has no {name}")
    return _run(ToRun(getattr(module, name), {}, None, call.checkpoint_frequency), call, session)


def _run_script(call: TrialCall, session: TuneSession) -> int:
    """Run a script as it is, up to where it would tune: that is the trial."""
    ray: Any = importlib.import_module("ray")
    init = ray.init

    def tunes(found: ToRun) -> None:
        ray.init = init
        raise SystemExit(_run(found, call, session))

    _bridge(session, tunes)
    ray.init = lambda *_, **__: None  # a trial needs no cluster of its own
    file = _file(call)
    if file is None:
        runpy.run_module(call.source, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(str(file), run_name="__main__")
    raise CannotRunError(f"{call.source} has ended without Tuner.fit or tune.run; name its function or class after it")


def _bridge(session: TuneSession, tunes: Callable[[ToRun], None]) -> None:
    try:
        bridge(session, tunes)
    except ImportError as error:
        raise CannotRunError(f"Ray Tune cannot be imported here: {error}; python -m pip install 'ray[tune]'") from error


def _file(call: TrialCall) -> Path | None:
    """Return the file that is asked for, its folder on the path; None where a module is."""
    sys.argv = [call.source]
    if not call.source.endswith(".py"):
        return None
    file = Path(call.source).resolve()
    if not file.is_file():
        raise CannotRunError(f"there is no file {file}")
    sys.path.insert(0, str(file.parent))
    return file


def _run(found: ToRun, call: TrialCall, session: TuneSession) -> int:
    _check(found, call.source)
    tune = importlib.import_module("ray.tune")
    domain = importlib.import_module("ray.tune.search.sample").Domain
    config = merged(found.space, call.config)
    if missing := undecided(config, lambda value: isinstance(value, domain)):
        raise CannotRunError(f"{call.source} searches over {', '.join(missing)}, which the definition's space has to name too")
    if isinstance(found.stop, Mapping):
        session.stop = {**dict(flattened(found.stop)), **session.stop}
    trainable = found.trainable
    if inspect.isclass(trainable) and issubclass(trainable, tune.Trainable):
        if not session.stop:
            print("outrider_ray: the trial goes on until its step says done, as no training_iteration was given", file=sys.stderr)
        run_class(trainable, config, session, found.checkpoint_frequency)
    elif callable(trainable) and not inspect.isclass(trainable):
        run_function(trainable, config, session)
    else:
        raise CannotRunError(f"{trainable!r} is neither a function nor a class of ray.tune.Trainable")
    return 0


def _check(found: ToRun, source: str) -> None:
    """Refuse what nobody would heed here, or what starts workers of its own."""
    kind = type(found.trainable)
    if any(one.__module__.startswith("ray.train") for one in kind.__mro__):
        raise CannotRunError(
            f"{source} tunes a {kind.__name__}, whose workers Ray Train starts; name the function that each of them runs (its "
            f"train_loop_per_worker) in place of it, with `instance_count` for several nodes, or call its fit() in a script of its own"
        )
    if found.stop is not None and not isinstance(found.stop, Mapping):
        raise CannotRunError(
            f"stop of {source} is a {type(found.stop).__name__}, which nobody here would ask; let the trainable end by itself (a function "
            f"returns, a step returns done=True), or say stop={{'{ITERATION}': N}}"
        )


def _refused(text: str) -> int:
    print(f"outrider_ray: {text}", file=sys.stderr)
    return 2
