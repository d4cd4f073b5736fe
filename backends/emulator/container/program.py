"""Which program a job runs: its own entry point, a script in script mode, or what the settings know of its image."""

from __future__ import annotations

import fnmatch
import shutil
import tarfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.common import requirements, script_mode
from backends.emulator.container.filesystem import Container
from backends.emulator.container.paths import ML, resolve
from backends.emulator.container.source_archive import unpack
from backends.emulator.core.settings import Settings
from backends.emulator.http.errors import ServiceError
from backends.emulator.s3.store import S3Store, split_uri

_INSTALL = """python -m pip install --quiet --disable-pip-version-check -r requirements.txt || {
printf 'InstallRequirementsError:\nExitCode 1\nErrorMessage ""\nCommand "python -m pip install -r requirements.txt"' > "$1"; exit 1; }
shift; exec "$@"
"""
_CHECK = """missing=$(python "$0" requirements.txt) || {
echo "requirements.txt: $missing: not there, and nothing is installed here unless the emulator is started with --install_requirements"
printf 'InstallRequirementsError:\nExitCode 1\nErrorMessage "not there: %s"\nCommand "python -m pip install -r requirements.txt"' \
"$missing" > "$1"; exit 1; }
echo "requirements.txt: all is there, so nothing is installed"
shift; exec "$@"
"""


STAND_INS: Mapping[str, str] = {"trtexec": str(Path(__file__).with_name("trtexec.py"))}
"""Scripts of our own by the names of programs of images that they stand in for."""


@dataclass(frozen=True)
class Launcher:
    """What `distribution=` asks for: the hyperparameter that does so, and how many processes each host gets, 0 where it does not say."""

    name: str
    per_host: int = 0


class ProgramError(Exception):
    """The job cannot run; the message becomes its reason of failure."""


@dataclass(frozen=True)
class Program:
    """What to run.

    Args:
        command: with paths as in a container, empty in script mode; `folder`: where it starts.
        script: the entry point in script mode, else empty; `source`: where its folder comes from, empty where it is there already.
        arguments: of the script; `launcher`: what starts it, None for nothing but an interpreter.
    """

    command: tuple[str, ...]
    folder: str = ML
    script: str = ""
    source: str = ""
    arguments: tuple[str, ...] = ()
    launcher: Launcher | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        """The command as a reason of failure quotes it."""
        return self.command or ("python", self.script, *self.arguments)


def program_of(request: Mapping[str, Any], settings: Settings) -> Program:
    """Return the program of a request; raises `ProgramError` where there is none that could be run without the image."""
    algorithm = request.get("AlgorithmSpecification", {})
    if algorithm.get("ContainerEntrypoint"):
        return Program(stood_in((*algorithm["ContainerEntrypoint"], *algorithm.get("ContainerArguments", ()))))
    parameters = script_mode.decoded(request.get("HyperParameters", {}))
    environment = request.get("Environment", {})
    script = str(parameters.get("sagemaker_program") or environment.get("SAGEMAKER_PROGRAM") or "")
    if script:
        source = str(parameters.get("sagemaker_submit_directory") or environment.get("SAGEMAKER_SUBMIT_DIRECTORY") or f"{ML}/code")
        return script_mode_program(script, source, parameters)
    image = algorithm.get("TrainingImage") or algorithm.get("AlgorithmName", "")
    for pattern, command in settings.images.items():
        if fnmatch.fnmatchcase(image, pattern):
            return Program((*command, *algorithm.get("ContainerArguments", ())))
    raise ProgramError(
        f"no program for image {image}: images are not pulled here; give ContainerEntrypoint, or the hyperparameters sagemaker_program "
        "and sagemaker_submit_directory, or map the image to a command in the settings"
    )


def stood_in(command: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command with a stand-in for a program that images have and this machine has not; as it is for all others."""
    stand_in = STAND_INS.get(Path(command[0]).name)
    if stand_in is None or Path(command[0]).exists():
        return command
    return ("python", stand_in, *command[1:])


def script_mode_program(script: str, source: str, parameters: Mapping[str, Any]) -> Program:
    """Return the program that a framework container would make of script-mode hyperparameters.

    Raises:
        ProgramError: a launcher is asked for that is not here.
    """
    asked = script_mode.launchers_of(parameters)
    missing = [script_mode.LAUNCHERS[name] for name in asked if name not in (script_mode.TORCHRUN, script_mode.MPI)]
    if missing:
        raise ProgramError(f"distribution {', '.join(missing)} is not imitated here; torch_distributed is, and mpi on one host")
    folder = source if source.startswith("/") and not source.endswith(".tar.gz") else f"{ML}/code"
    arguments = tuple(script_mode.arguments_of(parameters))
    launcher = Launcher(asked[0], int(parameters.get(script_mode.PER_HOST) or 0)) if asked else None
    return Program((), folder, script, "" if folder == source else source, arguments, launcher)


def script_command(program: Program, names: Collection[str], hosts: Sequence[str], host: str, port: int, gpus: int) -> list[str]:
    """Return the command that starts a script in script mode.

    Args:
        program: in script mode.
        names: of the files at the top of its source.
        hosts: all of the job.
        host: where it starts.
        port: where processes of all hosts meet.
        gpus: of one host.

    Raises:
        ProgramError: the launcher does not start such a script.
    """
    script, arguments, launcher = program.script, program.arguments, program.launcher
    is_package = "setup.py" in names and not script.endswith(".sh")
    is_python = script.endswith(".py") and not is_package
    if is_package:
        plain = ["python", "-m", script.removesuffix(".py"), *arguments]
    elif is_python:
        plain = ["python", script, *arguments]
    else:
        plain = ["/bin/sh", "-c", './"$0" "$@"', script, *arguments]
    if launcher is None:
        return plain
    each = launcher.per_host or gpus or 1
    if launcher.name == script_mode.MPI:
        if len(hosts) > 1:
            raise ProgramError("distribution mpi is imitated on one host only, as hosts here have no ssh between them")
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(each), *plain]
    if not is_python:
        raise ProgramError(f"torch_distributed starts Python scripts only, and no packages: {script}")
    # As the hosts share one address, they meet at a port of their own and not at 7777.
    meeting = ["--master_addr", "127.0.0.1", "--master_port", str(port), "--node_rank", str(hosts.index(host))] if len(hosts) > 1 else []
    alone = [] if meeting else ["--standalone"]
    return ["torchrun", "--nnodes", str(len(hosts)), "--nproc_per_node", str(each), *meeting, *alone, script, *arguments]


def fetch_source(program: Program, container: Container, s3: S3Store) -> None:
    """Put the script's source into place; raises `ProgramError` where it cannot be had."""
    if container.inside(program.folder) is None:
        raise ProgramError(f"the source {program.folder} is not in the container: only paths below {ML} are imitated")
    if program.source:
        _unpack_source(program, container, s3)
    script = resolve(container.ml, f"{program.folder}/{program.script}", program.folder)
    if script is None:
        raise ProgramError(f"the script {program.script} leads out of its source")
    if not program.source:
        return
    if program.script.endswith((".py", ".sh")) and not script.is_file():
        raise ProgramError(f"the source {program.source} holds no {program.script}")
    if not program.script.endswith(".py") and script.is_file():
        script.chmod(0o755)


def _unpack_source(program: Program, container: Container, s3: S3Store) -> None:
    try:
        if program.source.startswith("s3://"):
            archive = s3.get(*split_uri(program.source)).path
        else:
            archive = container.inside(program.source) or Path()
            if not archive.is_file():
                raise ProgramError(f"the source {program.source} is neither on S3 nor in the container")
        unpack(archive, container.ml)
    except (ServiceError, OSError, tarfile.TarError) as error:
        raise ProgramError(f"the source {program.source} could not be unpacked: {error}") from None


def with_requirements(command: Sequence[str], container: Container, program: Program, settings: Settings) -> list[str]:
    """Return a command that first installs the source's requirements.txt, or where that is not asked for fails unless it is satisfied."""
    folder = container.inside(program.folder)
    if not (program.script.endswith(".py") and folder and (folder / "requirements.txt").is_file()):
        return list(command)
    words = ["/bin/sh", "-c", _INSTALL if settings.install_requirements else _CHECK]
    return [*words, str(requirements.__file__), container.seen("output/failure"), *command]


def resolve_command(command: Sequence[str], path: str, launcher: Launcher | None = None) -> list[str]:
    """Return a command whose program is looked for along `path`, as the emulator's own may be another.

    Raises:
        ProgramError: it is a launcher, and is not there.
    """
    found = shutil.which(command[0], path=path) if "/" not in command[0] else None
    if launcher is not None and found is None:
        asked = script_mode.LAUNCHERS[launcher.name]
        raise ProgramError(f"distribution {asked} needs {command[0]}, which the interpreter of the emulator's jobs does not have beside it")
    return [found or command[0], *command[1:]]
