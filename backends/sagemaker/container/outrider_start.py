"""Starts a script within a training job: unpacks the source, sets what script mode would set, runs the script, passes on its end.

It travels beside the packed source, with an archive of the modules that it imports; all of it standard library only, Python 3.8 or later.
It lies in <ml>/input/data/code. Usage::

    outrider_start.py SCRIPT ARGUMENT...
    outrider_start.py --arguments-file FILE     (JSON: {"script": ..., "arguments": [...], "command": [...], "files": {...}, ...})
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import signal
import sys
import tarfile
import time
from pathlib import Path

# In a job they come from the archive beside this file; in our own packages they are found without.
sys.path.insert(0, str(Path(__file__).with_name("outrider_modules.zip")))
from backends.common import script_mode
from backends.common.requirements import unsatisfied
from backends.sagemaker.container.runner import Runner

# Types are named in annotations only: this file must not pay for importing `typing` in every container.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence
    from typing import Any

    from backends.metrics.files.printer import ReportPrinter

OWN_CHANNELS = ("code", "job")
ARCHIVE = "source.tar.gz"
REQUIREMENTS = "requirements.txt"
REQUIREMENTS_VARIABLE = "OUTRIDER_REQUIREMENTS"
END_MARK = "[outrider-end]: "
_UNPACKED = ".outrider-unpacked"


class StartError(Exception):
    """The script cannot be started; the message becomes the job's reason of failure."""


def main(arguments: Sequence[str], environment: Mapping[str, str], measured: MutableMapping[str, float] | None = None) -> int:
    """Start the script and return its exit code, 1 where it could not be started; `measured` gets what the script alone took."""
    ml = Path(__file__).absolute().parents[3]  # not resolved, as a link must not lead out of the folder
    runner = Runner()
    runner.listen()
    try:
        asked = _asked(arguments)
        script, rest = asked["script"], asked["arguments"]
        code = ml / "code"
        unpack(ml / "input" / "data" / "code" / ARCHIVE, code)
        variables = dict(environment)
        set_variables(variables, ml, script, rest, asked.get("parameters"))
        ended = install(code, ml, variables, runner)
        what = "pip"
        if ended == 0:
            ended, what = run_all(asked, ml, variables, runner, {} if measured is None else measured)
    except StartError as error:
        return _fail(ml, str(error))
    except OSError as error:
        return _fail(ml, f"the script could not be started: {error}")
    if ended != 0 and not runner.stopped:
        name = _signal_name(ended - 128)
        _write_failure(ml, f"{what} ended by signal {name}" if name else f"{what} ended with exit code {ended}")
    return ended


def _asked(arguments: Sequence[str]) -> dict[str, Any]:
    if arguments[:1] != ["--arguments-file"]:
        if not arguments:
            raise StartError("outrider_start.py: no script was named")
        return {"script": arguments[0], "arguments": list(arguments[1:])}
    try:
        content: dict[str, Any] = json.loads(Path(arguments[1]).read_text(encoding="utf-8"))
        return {**content, "script": str(content["script"]), "arguments": [str(value) for value in content["arguments"]]}
    except (IndexError, OSError, ValueError, KeyError, TypeError) as error:
        raise StartError(f"the file of arguments cannot be read: {type(error).__name__}: {error}") from None


def run_all(
    asked: Mapping[str, Any], ml: Path, variables: MutableMapping[str, str], runner: Runner, measured: MutableMapping[str, float]
) -> tuple[int, str]:
    """Run what comes before the script, the script, and what comes after it; return the exit code that counts, and whose it is.

    Raises:
        StartError: there is no such script.
    """
    code = ml / "code"
    places = _places(asked, ml, variables)
    for name, text in asked.get("files", {}).items():
        (ml / "files").mkdir(exist_ok=True)
        (ml / "files" / name).write_text(text, encoding="utf-8")
    python = places["python"]
    variables["PATH"] = os.pathsep.join([os.path.dirname(python), variables.get("PATH", os.defpath)])  # noqa: PTH120 (beside it is torchrun)
    words = [_filled(word, places) for word in asked.get("command", ())] or command_of(code, asked["script"], asked["arguments"], python)
    prepare = [_filled(word, places) for word in asked.get("prepare", ())]
    ended = runner.run(prepare, code, variables) if prepare else 0
    if ended != 0:
        return ended, "prepare"
    for _ in range(int(asked.get("warmup_runs", 0))):
        ended = _warm_up(words, ml, variables, runner)
        if ended != 0:
            return ended, "a warm-up run"
    printer = _printer(asked.get("read", ()), str(code), places)
    begun = time.monotonic()
    ended = runner.run(words, code, variables)
    usage = runner.usage
    if printer is not None:
        printer.finish(ended == 0)
    if prepare or asked.get("cleanup") or asked.get("warmup_runs"):
        measured["duration_s"] = time.monotonic() - begun
    if usage is not None:
        measured.update(cpu_s=usage.ru_utime + usage.ru_stime, peak_rss_bytes=runner.peak_rss_bytes)
    cleanup = [_filled(word, places) for word in asked.get("cleanup", ())]
    if cleanup:
        runner.run(cleanup, code, variables)
    return ended, asked["script"] or os.path.basename(words[0])  # noqa: PTH119


def _printer(sources: Sequence[Mapping[str, Any]], folder: str, places: Mapping[str, str]) -> ReportPrinter | None:
    """Return what prints the metrics in files that the script writes; None where none are read."""
    if not sources:
        return None
    from backends.metrics.files.printer import ReportPrinter

    printer = ReportPrinter(sources, folder, places)
    printer.start()
    return printer


def _warm_up(words: Sequence[str], ml: Path, variables: Mapping[str, str], runner: Runner) -> int:
    """Run the script once with output and checkpoint of no account; what it printed is shown where it fails."""
    folder = ml / "files" / "warmup"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "output.log").open("w+b") as output:
        ended = runner.run(words, ml / "code", {**variables, "OUTRIDER_CHECKPOINT_DIR": str(folder)}, output)
        if ended != 0:
            output.seek(0)
            sys.stderr.write(output.read().decode("utf-8", "replace")[-20000:])
    return ended


def _places(asked: Mapping[str, Any], ml: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Return what the placeholders of a command stand for in a container."""
    data = {name[len("SM_CHANNEL_") :].lower(): value for name, value in variables.items() if name.startswith("SM_CHANNEL_")}
    config = _json(ml / "input" / "config" / "inputdataconfig.json")
    found = {f"data.{name}": variables.get("OUTRIDER_CHANNEL_" + _suffix(name)) or str(ml / "input" / "data" / name) for name in config}
    found.update({f"data.{name}": value for name, value in data.items() if f"data.{name}" not in found})
    return {
        **found,
        "data": found.get(f"data.{asked.get('data', '')}", ""),
        "output": str(ml / "output" / "data"),
        "model": str(ml / "model"),
        "checkpoint": variables.get("OUTRIDER_CHECKPOINT_DIR", str(ml / "checkpoints")),
        "arguments_file": str(ml / "files" / next(iter(asked.get("files", {})), "")),
        "python": asked.get("python") or sys.executable or "python3",
        "source": str(ml / "code"),
        "script": str(ml / "code" / asked["script"]),
    }


def _suffix(channel: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in channel).upper()


def _filled(word: str, places: Mapping[str, str]) -> str:
    return re.sub(r"\$(\$\{)|\$\{([^{}]+)\}", lambda match: match[1] or places[match[2]], word)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the source into a folder, once, whoever else does so at the same time.

    Raises:
        StartError: the archive cannot be unpacked.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _UNPACKED).open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if file.read():
            return
        try:
            with tarfile.open(str(archive)) as tar:
                _extract(tar, folder)
        except (OSError, tarfile.TarError, EOFError) as error:
            raise StartError(f"{ARCHIVE} cannot be unpacked: {error}") from None
        file.write("done\n")


def _extract(tar: tarfile.TarFile, folder: Path) -> None:
    if hasattr(tarfile, "data_filter"):
        tar.extractall(str(folder), filter="data")
        return
    # Older versions of Python have no filter.
    root = folder.resolve()
    for member in tar:
        places = [root / member.name]
        if member.issym():
            places.append(root / Path(member.name).parent / member.linkname)
        if any(root not in place.resolve().parents for place in places):
            raise tarfile.TarError(f"{member.name} leaves the folder")
        if not (member.isfile() or member.isdir() or member.issym()):
            raise tarfile.TarError(f"{member.name} is neither a file, a folder nor a link")
        tar.extract(member, str(folder))


def set_variables(
    variables: MutableMapping[str, str], ml: Path, script: str, arguments: Sequence[str], parameters: Mapping[str, Any] | None = None
) -> None:
    """Add what script mode sets, unless it is there already.

    Args:
        variables: the process's own; changed.
        ml: the place of /opt/ml.
        script: relative to the source.
        arguments: the script's own.
        parameters: whole, where hyperparameters.json cannot hold them so.
    """
    config = ml / "input" / "config"
    resources = _json(config / "resourceconfig.json")
    inputs = {name: value for name, value in _json(config / "inputdataconfig.json").items() if name not in OWN_CHANNELS}
    hosts = resources.get("hosts") or ["algo-1"]
    devices = os.listdir("/dev")  # noqa: PTH208 (names are all that is wanted)
    shown = script_mode.script_variables(
        str(ml),
        resources,
        inputs,
        script_mode.decoded(_json(config / "hyperparameters.json")) if parameters is None else parameters,
        script=script,
        arguments=arguments,
        job_name=variables.get("TRAINING_JOB_NAME"),
        devices={
            "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            "gpus": sum(name[:6] == "nvidia" and name[6:].isdigit() for name in devices),
            "neurons": sum(name[:6] == "neuron" and name[6:].isdigit() for name in devices),
        },
    )
    shown.update(SM_HOST_COUNT=str(len(hosts)), SM_MASTER_ADDR=hosts[0], SM_MASTER_PORT=script_mode.MASTER_PORT)
    # Channels by which a script itself travels are none of its data, and values that were cut none of its own, whoever set these.
    ours = {"SM_CHANNELS", "SM_INPUT_DATA_CONFIG", "SM_TRAINING_ENV", "SM_USER_ARGS", "SM_USER_ENTRY_POINT", "SM_MODULE_NAME"}
    for name in [name for name in variables if name.startswith("SM_HP") or name in {"SM_CHANNEL_" + own.upper() for own in OWN_CHANNELS}]:
        del variables[name]
    for name, value in shown.items():
        if name in ours or name not in variables:
            variables[name] = value
    if (ml / "checkpoints").is_dir():
        variables.setdefault("SM_CHECKPOINT_DIR", str(ml / "checkpoints"))
    variables.setdefault("PYTHONUNBUFFERED", "1")
    _first_on_path(variables, ml / "code")


def install(code: Path, ml: Path, variables: MutableMapping[str, str], runner: Runner) -> int:
    """Install what is not there of the source's requirements and of what this job's data take.

    Returns 0, or the signal's code if it was stopped.

    Raises:
        StartError: pip failed; says what it was needed for.
    """
    path = code / REQUIREMENTS
    missing = unsatisfied(path.read_text(encoding="utf-8-sig").splitlines()) if path.is_file() else []
    of_data = unsatisfied(variables.get(REQUIREMENTS_VARIABLE, "").split())
    if not missing and not of_data:
        return 0
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *of_data]
    if missing:
        pip += ["-r", str(path)]
    missing += of_data
    if "//127.0.0.1:" in variables.get("AWS_ENDPOINT_URL", ""):
        # An emulated job runs with an interpreter of somebody's own, which is left as it is.
        pip += ["--target", str(ml / "packages")]
        _first_on_path(variables, ml / "packages")
        _first_on_path(variables, code)
    ended = runner.run(pip, code, variables)
    if ended != 0 and not runner.stopped:
        asked = REQUIREMENTS if len(missing) > len(of_data) else "packages"
        raise StartError(f"{asked}: pip ended with exit code {ended}; not satisfied: {', '.join(missing)[:400]}")
    return ended


def command_of(code: Path, script: str, arguments: Sequence[str], python: str) -> list[str]:
    """Return the command that runs a script; raises StartError where there is no such file."""
    path = code / script
    if not path.is_file():
        raise StartError(f"the source holds no {script}")
    if script.endswith(".py"):
        return [python, str(path), *arguments]
    with path.open("rb") as file:
        has_interpreter = file.read(2) == b"#!"
    if script.endswith(".sh") and not has_interpreter:
        return ["/bin/sh", str(path), *arguments]
    if not os.access(path, os.X_OK):
        path.chmod(0o755)
    return [str(path), *arguments]


def _first_on_path(variables: MutableMapping[str, str], folder: Path) -> None:
    rest = [part for part in variables.get("PYTHONPATH", "").split(os.pathsep) if part and part != str(folder)]
    variables["PYTHONPATH"] = os.pathsep.join([str(folder), *rest])


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _signal_name(number: int) -> str:
    """Return a signal's name; empty where there is none of this number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return ""


def _fail(ml: Path, message: str) -> int:
    sys.stderr.write(message + "\n")
    _write_failure(ml, message)
    return 1


def _write_failure(ml: Path, message: str) -> None:
    with contextlib.suppress(OSError):
        (ml / "output").mkdir(exist_ok=True)
        with (ml / "output" / "failure").open("x", encoding="utf-8") as file:  # what the script itself has written says more
            file.write(message[:1000])


def _kernel_kills() -> int | None:
    """Return how many processes the kernel has killed for lack of memory; None where it does not tell."""
    with contextlib.suppress(OSError), Path("/proc/vmstat").open(encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("oom_kill ")), None)
    return None


def _say_end(code: int, measured: Mapping[str, float], kills_before: int | None) -> None:
    """Print the line by which a log is known to be whole; with one call, so that it does not mix with others."""
    said: dict[str, Any] = {"exit_code": code, "measured": dict(measured)}
    kills = _kernel_kills()
    if code == 128 + signal.SIGKILL and kills is not None and kills_before is not None:
        said["kernel_kills"] = kills - kills_before
    with contextlib.suppress(OSError):
        sys.stderr.flush()
        os.write(1, (END_MARK + json.dumps(said) + "\n").encode())


if __name__ == "__main__":
    found: dict[str, float] = {}
    kills = _kernel_kills()
    ended = main(sys.argv[1:], os.environ, found)
    _say_end(ended, found, kills)
    sys.exit(ended)
