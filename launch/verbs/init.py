"""`outrider init train.py`: reads what a script can be told, runs it once, and writes a definition that explains itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from definitions.errors import UserError
from definitions.program import command
from launch.parser import VerbParser

if TYPE_CHECKING:
    from backends.scripts.interface import Interface
    from benchmarking.scripts.call import ScriptCall
    from benchmarking.scripts.definition_text import ScriptSetting
    from benchmarking.scripts.plan import CallPlan
    from benchmarking.scripts.trial_log import TrialLog
    from definitions.schema import BenchmarkDefinition

_EPILOG = """\
The arguments are read from the script's source, and from its --help where that does not say all. Then the script is run once, with its
own values but few epochs, in a folder that is gone afterwards, for --limit seconds at most, to see how it prints its metrics (--no_run: not
run).
How it is called otherwise than by `python SCRIPT` is said as you would type it, with the arguments that it cannot do without:

  outrider init --run "python train.py data/ --epochs 3"
  outrider init --run "torchrun --nproc_per_node 2 train.py"
  outrider init --run "python -m package.train fit"

What is proposed is a beginning: each line says why it is there. Change it as you like."""

_HELP_S = 60.0
_FILE = "${arguments_file}"


def main(arguments: Sequence[str]) -> int:
    """Write a definition for a script and return the exit code; raises `UserError` for wrong use."""
    given = make_parser().parse_args(arguments)
    if not given.script and not given.run:
        raise UserError("init needs a script", "", f"e.g. {command('init', 'train.py')}, or --run 'python -m package.train'")
    call = _call(given.script, given.run)
    from benchmarking.scripts.definition_text import ScriptSetting, name_of
    from benchmarking.scripts.plan import make_plan

    output = given.output or Path(f"{name_of(call.script or call.module or call.words[0])}.yaml")
    if output.exists() and not given.force:
        raise UserError(f"{output} exists", "it would be written over", "--force does so; --output FILE.yaml writes another")
    interface = _with_variables(_interface(call), os.environ)
    plan = _config_plan(call, interface) or make_plan(call, interface)
    setting = ScriptSetting(call.script, interface.form, python=call.python)
    log = _no_log()
    if given.limit > 0 and not given.no_run:
        plan, log, setting = _tried(plan, setting, given.limit, lambda: make_plan(call, interface, guess=True))
    _write(output, plan, setting, log)
    print(f"wrote {output}; look through it, then: {command('run', '--benchmark', str(output))}")
    return 0


def _call(script: str | None, run: str | None) -> ScriptCall:
    from benchmarking.scripts.call import call_of, parse_call

    if script is not None and Path(script).is_dir():
        raise UserError(f"init {script}: it is a folder", _scripts_in(Path(script)), f"name the script: {command('init', 'train.py')}")
    if script is not None and not Path(script).is_file():
        raise UserError(f"init {script}: there is no such file", f"looked for {Path(script).absolute()}")
    call = call_of(_from_here(script or "")) if run is None else parse_call(run, lambda word: Path(word).is_file(), _is_own_module)
    if call.script.endswith(".ipynb"):
        text = f"`jupyter nbconvert --to script {call.script}` writes a script of it; outrider.run tunes a function in it (docs/python.md)"
        raise UserError(f"init {call.script}", "it is a notebook, and no script", text)
    if script is not None and run is not None and Path(script) != Path(call.script):
        if call.script or call.module:
            raise UserError(f"init {script} --run {run!r}", f"the command starts {call.script or call.module}", "leave one of them out")
        raise UserError(f"init {script} --run {run!r}", f"{script} is no word of the command", "--run is the whole command")
    missing = call.given[0] if call.words == ("python",) and call.given and call.given[0].endswith(".py") else None
    if missing is not None:
        raise UserError(f"init --run {run!r}: there is no file {missing}", f"looked for {Path(missing).absolute()}")
    return call


def _from_here(script: str) -> str:
    """Return a script's path as it is from this folder, where it is below it."""
    path = Path(script)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else script


def _scripts_in(folder: Path) -> str:
    """Return which scripts there are in a folder, those first that are to be started."""
    found = sorted(path for ending in ("*.py", "*.sh") for path in folder.glob(ending))
    starts = [path for path in found if path.suffix == ".sh" or "__main__" in path.read_text(encoding="utf-8", errors="replace")]
    names = [str(path) for path in dict.fromkeys([*starts, *found])]
    return f"in it are {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}" if names else "there is no script in it"


def _is_own_module(name: str) -> bool:
    return _module_file(name) is not None


def _module_file(name: str) -> Path | None:
    """Return the file that `python -m` runs of a module below this folder; None where there is none here."""
    base = Path(*name.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__main__.py") if path.is_file()), None)


def _interface(call: ScriptCall) -> Interface:
    """Return what a script can be told: by its source, and by its --help where that does not say all."""
    from backends.scripts.interface import Interface, merged
    from backends.scripts.read_source import has_parser, read_script
    from benchmarking.scripts.call import typed_interface
    from benchmarking.scripts.plan import usual_command
    from launch.ask_help import ask_help

    file = Path(call.script) if call.script else _module_file(call.module) if call.module else None
    found = None if file is None else read_script(file, Path.cwd())
    typed = typed_interface(call.given)
    if found is None and file is not None and not has_parser(file, Path.cwd()):
        return typed
    if file is None and typed.style == "key=value":
        # Of a program such as make --help tells its own flags, and not what it hands on.
        return typed
    if found is not None and found.is_complete:
        return found
    _say(f"asking for its arguments: {' '.join(call.words)} --help ({_HELP_S:g} s at most)")
    said = ask_help(call, _HELP_S)
    both = said if found is None else found if said is None else merged(found, said)
    if both is None or not (both.arguments or both.commands):
        return typed
    command = next((word for word in call.given if word in both.commands), "") or usual_command(both.commands)
    if command and not both.commands[command]:
        inner = ask_help(call, _HELP_S, command)
        if inner is not None:
            both = merged(both, Interface("--help", (), {command: inner.arguments}))
    return both


def _with_variables(interface: Interface, environ: Mapping[str, str]) -> Interface:
    """Return what a script can be told where variables that it needs are set already; of their values only numbers are noted."""
    from dataclasses import replace

    from backends.scripts.literals import kind_of_value
    from definitions.scalars import is_number
    from definitions.yaml_source import parse_scalar

    arguments = []
    for argument in interface.arguments:
        if argument.is_required and argument.flag.startswith("$") and argument.flag[1:] in environ:
            value = parse_scalar(environ[argument.flag[1:]])
            argument = replace(argument, is_required=False)
            if is_number(value):
                argument = replace(argument, default=value, kind=kind_of_value(value))
        arguments.append(argument)
    return replace(interface, arguments=tuple(arguments))


def _config_plan(call: ScriptCall, interface: Interface) -> CallPlan | None:
    """Return the plan of a script that reads its arguments from a file; None where it does not."""
    from benchmarking.scripts.config_file import config_plan, config_word
    from definitions.yaml_source import read_yaml

    file, flag = config_word(call, interface, lambda word: Path(word).is_file())
    if not file:
        return None
    if not file.endswith(".toml"):
        return config_plan(call, file, flag, read_yaml(file).data)
    import tomllib

    try:
        return config_plan(call, file, flag, tomllib.loads(Path(file).read_text(encoding="utf-8")))
    except (ValueError, OSError) as error:
        raise UserError(f"{file} cannot be read", str(error), "it is the file of arguments that --run names") from None


def _no_log() -> TrialLog:
    from benchmarking.scripts.trial_log import TrialLog

    return TrialLog()


def _tried(
    plan: CallPlan, setting: ScriptSetting, limit_s: float, guessed: Callable[[], CallPlan]
) -> tuple[CallPlan, TrialLog, ScriptSetting]:
    """Run the script once; return the plan that it ran with, what it reported, and the setting with a remark and where it has to start.

    Args:
        plan: how it is called.
        setting: what else is known of it.
        limit_s: seconds that it may run.
        guessed: makes the plan that gives also such numbers a range as nothing is known of.
    """
    from dataclasses import replace

    from benchmarking.scripts.definition_text import first_values, told_values
    from benchmarking.scripts.trial_log import read_trial_log
    from launch.one_start import start_once

    definition = _definition(plan, setting)
    level = definition.arguments.get(plan.level.name) if plan.level is not None else None
    few = min(2, int(level)) if isinstance(level, (int, float)) else None
    exists = definition.search_space.conditions.holds
    first = first_values(plan)
    values = {key: value for key, value in first.items() if exists(key, first)}
    _say(f"running it once, for {limit_s:g} s at most (--no_run: not run)")
    if few is not None and plan.level is not None:
        definition = definition.model_copy(update={"arguments": {**definition.arguments, plan.level.name: few}})
    start = start_once(definition, values, limit_s, say=_say)
    if start.is_failed and "working_dir: source" in start.message and setting.working_dir == "job":
        _say("it reads files beside it; once more, from there")
        return _tried(plan, replace(setting, working_dir="source"), limit_s, guessed)
    if (
        start.is_failed
        and "NoneType" in start.message
        and _FILE not in (plan.command or ())
        and (other := guessed()).space.keys() != plan.space.keys()
    ):
        names = ", ".join(key for key in other.space if key not in plan.space)
        _say(f"it needs values that it does not have: once more, with guesses for {names}")
        return _tried(other, setting, limit_s, guessed)
    if start.is_failed:
        last = "\n  ".join(start.tail[-5:])
        raise UserError(
            f"the script failed in its trial run: {start.message}",
            last,
            "--run 'COMMAND' says how it is called; --no_run writes without a run",
        )
    log = replace(read_trial_log(start.output), asked_level=None if start.is_cut_off else few, is_whole=not start.is_cut_off)
    log = log.without_echoes(told_values(plan, few))
    how = f"was ended after {start.seconds:.3g} s" if start.is_cut_off else f"took {start.seconds:.3g} s"
    told = "" if few is None or plan.level is None else f" with {plan.level.name}={few}"
    remark = f"The trial run{told} {how}" + ("." if log.source else ", and printed no metric that was recognised.")
    if not log.source and start.written:
        reads = " or ".join(f"`read: {one}`" for one in start.written)
        remark += f" But it wrote files: {reads} takes metrics from there (docs/metrics.md)."
    return plan, log, replace(setting, remark=remark)


def _definition(plan: CallPlan, setting: ScriptSetting) -> BenchmarkDefinition:
    from benchmarking.scripts.definition_text import definition_text, name_of
    from benchmarking.scripts.trial_log import TrialLog

    return _parsed(definition_text(name_of(setting.script or "script"), plan, setting, TrialLog()))


def _parsed(text: str) -> BenchmarkDefinition:
    from definitions.schema import BenchmarkDefinition
    from definitions.yaml_source import parse_yaml

    data: dict[str, Any] = dict(parse_yaml(text, Path("definition.yaml")).data)
    data["source_dir"] = str(Path(data.get("source_dir", ".")).absolute())
    if "/" in data.get("python", ""):
        # The trial run is in a folder of its own, where a path from here leads nowhere.
        data["python"] = str(Path(data["python"]).absolute())
    return BenchmarkDefinition.model_validate(data)


def _write(output: Path, plan: CallPlan, setting: ScriptSetting, log: TrialLog) -> None:
    from dataclasses import replace

    from benchmarking.scripts.definition_text import definition_text, name_of
    from definitions.files import write_atomically

    name = name_of(setting.script or output.stem)
    home = os.path.relpath(Path.cwd(), output.absolute().parent)
    # Paths in a definition are relative to its folder.
    python = str(Path(home) / setting.python) if home != "." and "/" in setting.python else setting.python
    text = definition_text(name, plan, replace(setting, source_dir=home, python=python), log)
    _parsed(text)
    write_atomically(output, text)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(prog=command("init"), description="Propose a benchmark definition for a script as it stands.", epilog=_EPILOG)
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="the script, e.g. train.py")
    parser.add_argument("--run", metavar="COMMAND", help="how it is called, as you would type it, with what it cannot do without")
    parser.add_argument("--output", type=Path, default=None, metavar="FILE", help="file to write (default: the script's name with .yaml)")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="seconds that the trial run may take (default 60)")
    parser.add_argument("--no_run", action="store_true", help="do not run the script")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    return parser
