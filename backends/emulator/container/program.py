"""Which program a job runs: its own entry point, a script in script mode, or what the settings know of its image."""

from __future__ import annotations

import fnmatch
import json
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.emulator.container.filesystem import ML, Container
from backends.emulator.core.settings import Settings
from backends.emulator.http.errors import ServiceError
from backends.emulator.s3.store import S3Store, split_uri

RESERVED = "sagemaker_"


class ProgramError(Exception):
    """The job cannot run; the message becomes its reason of failure."""


@dataclass(frozen=True)
class Program:
    """What to run.

    Args:
        command: with paths as in a container; `folder`: where it starts.
        script: the entry point in script mode, else empty; `source`: where its folder comes from, empty where it is there already.
        arguments: of the script.
    """

    command: tuple[str, ...]
    folder: str = ML
    script: str = ""
    source: str = ""
    arguments: tuple[str, ...] = ()


def program_of(request: Mapping[str, Any], settings: Settings) -> Program:
    """Return the program of a request; raises `ProgramError` where there is none that could be run without the image."""
    algorithm = request.get("AlgorithmSpecification", {})
    if algorithm.get("ContainerEntrypoint"):
        return Program((*algorithm["ContainerEntrypoint"], *algorithm.get("ContainerArguments", ())))
    parameters = decoded(request.get("HyperParameters", {}))
    environment = request.get("Environment", {})
    script = str(parameters.get("sagemaker_program") or environment.get("SAGEMAKER_PROGRAM") or "")
    if script:
        source = str(parameters.get("sagemaker_submit_directory") or environment.get("SAGEMAKER_SUBMIT_DIRECTORY") or f"{ML}/code")
        return script_mode(script, source, parameters)
    image = algorithm.get("TrainingImage") or algorithm.get("AlgorithmName", "")
    for pattern, command in settings.images.items():
        if fnmatch.fnmatchcase(image, pattern):
            return Program((*command, *algorithm.get("ContainerArguments", ())))
    raise ProgramError(
        f"no program for image {image}: images are not pulled here; give ContainerEntrypoint, or the hyperparameters sagemaker_program "
        "and sagemaker_submit_directory, or map the image to a command in the settings"
    )


def script_mode(script: str, source: str, parameters: Mapping[str, Any]) -> Program:
    """Return the program that a framework container would make of script-mode hyperparameters."""
    arguments: list[str] = []
    for key in sorted(parameters):
        if not key.startswith(RESERVED):
            arguments += [f"-{key}" if len(key) == 1 else f"--{key}", str(parameters[key])]
    folder = source if source.startswith("/") and not source.endswith(".tar.gz") else f"{ML}/code"
    if script.endswith(".py"):
        command: tuple[str, ...] = ("python", script)
    elif script.endswith(".sh"):
        command = ("/bin/sh", "-c", './"$0" "$@"', script)
    else:
        command = ("python", "-m", script)
    return Program((*command, *arguments), folder, script, "" if folder == source else source, tuple(arguments))


def decoded(parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return hyperparameters with those decoded that are JSON, as the SageMaker SDK encodes them."""
    found: dict[str, Any] = {}
    for key, text in parameters.items():
        try:
            found[key] = json.loads(text)
        except ValueError:
            found[key] = text
    return found


def fetch_source(program: Program, container: Container, s3: S3Store) -> None:
    """Put the script's source into place; raises `ProgramError` where it cannot be had."""
    if not program.source:
        return
    target = container.ml / "code"
    try:
        if program.source.startswith("s3://"):
            archive = s3.get(*split_uri(program.source)).path
        else:
            archive = container.inside(program.source) or Path(program.source)
        with tarfile.open(archive) as tar:
            _extract(tar, target)
    except (ServiceError, OSError, tarfile.TarError) as error:
        raise ProgramError(f"the source {program.source} could not be unpacked: {error}") from None
    if program.script.endswith((".py", ".sh")) and not (target / program.script).is_file():
        raise ProgramError(f"the source {program.source} holds no {program.script}")
    if program.script.endswith(".sh"):
        (target / program.script).chmod(0o755)


def _extract(tar: tarfile.TarFile, target: Path) -> None:
    if hasattr(tarfile, "data_filter"):
        tar.extractall(target, filter="data")
        return
    # Python before 3.11.4 has no filters.
    for member in tar:
        inside = (target / member.name).resolve().is_relative_to(target.resolve())
        if not inside or not (member.isfile() or member.isdir()):
            raise tarfile.TarError(f"{member.name} is no file or folder within the source")
        tar.extract(member, target)


def with_requirements(command: Sequence[str], container: Container, program: Program, settings: Settings) -> list[str]:
    """Return a command that first installs the source's requirements.txt where that is asked for and there is one."""
    folder = container.inside(program.folder)
    if not (settings.install_requirements and program.script and folder and (folder / "requirements.txt").is_file()):
        return list(command)
    install = 'python -m pip install --quiet --disable-pip-version-check --target "$0" -r requirements.txt && exec "$@"'
    return ["/bin/sh", "-c", install, str(container.folder / "packages"), *command]


def resolve_command(command: Sequence[str], path: str) -> list[str]:
    """Return a command whose program is looked for along `path`, as the emulator's own may be another."""
    found = shutil.which(command[0], path=path) if "/" not in command[0] else None
    return [found or command[0], *command[1:]]
