"""`outrider VERB` = `python -m launch VERB`: finds the verb's module, shows `UserError` without a traceback, returns the exit code."""

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence

from launch.python_version import too_old

VERBS = {
    "run": "run benchmarks",
    "launch": "run benchmarks inside training jobs, which go on when this machine is off",
    "collect": "bring a launched run from S3 into the folder of results, while it runs or after",
    "advise": "say which configuration to use, without running any in full",
    "init": "propose a benchmark definition for a script as it stands",
    "list": "list the known benchmarks",
    "show": "show a benchmark's resolved definition",
    "datagen": "make data sets, here and in S3",
    "import_bencher": "turn a file of SageMaker Bencher into a definition",
    "forecast": "forecast a full job from measured canaries",
    "emulate": "run an emulator of SageMaker's training jobs on this machine",
    "doctor": "check whether a first start can work, and print policies and a CloudFormation template",
    "stop": "stop a run or one of its trials; the training jobs of a tag, from anywhere",
    "logs": "show a trial's log, its command and its folder",
    "clean": "delete what the training jobs of a tag left in S3",
    "best": "show the winner's exact values, and run it again",
    "status": "show how experiments stand, from another terminal",
    "compare": "compare methods over seeds and benchmarks: which is better, by how much, and is that decided",
    "report": "write a report of tags or folders as one HTML file",
    "export": "bring a run into files or services anew from its journals",
    "prices": "show what instances cost; --refresh asks AWS",
}


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run one verb and return its exit code (see the README for their meaning)."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    problem = too_old(sys.version_info[:3])
    if problem is not None:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    from launch.streams import lenient_streams

    with lenient_streams():
        return _run(arguments)


def program(usual: str = "") -> int:
    """Run as a program: the command line is a verb and its arguments; return the exit code.

    Args:
        usual: the verb where the command line begins with none; without it there has to be one.
    """
    words = sys.argv[1:]
    words = words if not usual or (words[:1] and words[0] in VERBS) else [usual, *words]
    if too_old(sys.version_info[:3]) is not None:
        return main(words)
    from launch.few_collections import few_collections
    from launch.streams import speak_utf8

    with few_collections():
        speak_utf8()
        return main(words)


def _run(arguments: "Sequence[str]") -> int:
    from launch.origin import check_origin

    problem = check_origin()
    if problem is not None:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_usage())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from definitions import __version__

        print(f"outrider {__version__}")
        return 0
    verb, rest = arguments[0], arguments[1:]
    if verb not in VERBS:
        from definitions.errors import did_you_mean

        print(f"error: there is no verb {verb!r}; {did_you_mean(verb, list(VERBS))}\n\n{_usage()}", file=sys.stderr)
        return 2
    return _guarded(verb, rest)


def _guarded(verb: str, arguments: "Sequence[str]") -> int:
    from definitions.errors import EXIT_INTERRUPTED, OutriderError

    try:
        with contextlib.ExitStack() as stack:
            if "--emulate" in arguments:
                from launch.emulated import emulated

                stack.enter_context(emulated(os.environ))
            rest = [word for word in arguments if word != "--emulate"]
            return int(importlib.import_module(f"launch.verbs.{verb}").main(rest))
    except OutriderError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED


def _usage() -> str:
    from definitions.program import command

    lines = [f"  {verb:<15}{summary}" for verb, summary in VERBS.items()]
    return (
        f"usage: {command('VERB')} ... | --version\n\nverbs:\n"
        + "\n".join(lines)
        + f"\n\n`{command('VERB', '--help')}` explains each. --emulate on any of them runs an emulator of AWS beside it."
    )


if __name__ == "__main__":
    sys.exit(program())
