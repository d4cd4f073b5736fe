"""The environment variables of a job: SageMaker's, script mode's, access to the emulator, and the user's own. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from backends.common import script_mode
from backends.emulator.container import filesystem as contract
from backends.emulator.container.filesystem import Container
from backends.emulator.container.namespaces import MARK
from backends.emulator.container.program import Program
from backends.emulator.core.credentials import Credentials
from backends.emulator.core.job import Instance, Job
from backends.emulator.core.settings import SDK_CONFIG, Settings, client_environment

_PIP = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_KEPT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "HOME", "USER", "CUDA_VISIBLE_DEVICES", "TZ")


def search_path(settings: Settings, view: Path | None, folder: Path, inherited: Mapping[str, str]) -> str:
    """Return the PATH of jobs, in which `python` is the interpreter of the settings.

    Args:
        settings: of the emulator.
        view: programs of the job's own view of the interpreter; None where there is none.
        folder: where programs are that Python runs, made by `provide_programs`.
        inherited: the emulator's own environment.
    """
    own = [*([view] if view else []), folder, Path(settings.python).parent]
    return os.pathsep.join([*map(str, own), inherited.get("PATH", "/usr/local/bin:/usr/bin:/bin")])


def job_environment(
    job: Job,
    container: Container,
    hosts: Sequence[Instance],
    program: Program,
    settings: Settings,
    endpoint_url: str,
    path: str,
    mark: str,
    credentials: Credentials,
    sdk_config: Path,
    inherited: Mapping[str, str],
) -> dict[str, str]:
    """Return all variables of one host's program.

    Args:
        job: the job.
        container: of the host.
        program: what is to run.
        settings: of the emulator.
        endpoint_url: where jobs reach it.
        hosts: the instances of the job.
        path: where programs are looked for.
        mark: by which the job's processes are found.
        credentials: that it signs its calls with.
        sdk_config: configuration of SageMaker's SDK.
        inherited: the emulator's own environment, of which little is passed on.
    """
    found = {name: inherited[name] for name in _KEPT if name in inherited}
    if settings.install_requirements:
        found.update({name: value for name, value in inherited.items() if name in _PIP or name.startswith("PIP_")})
    found["NO_PROXY"] = found["no_proxy"] = "127.0.0.1,localhost"
    found["PATH"] = path
    found["PYTHONUNBUFFERED"] = "1"
    found["TMPDIR"] = str(container.temporary)
    found[MARK] = mark
    found.update(client_environment(endpoint_url, settings.region, credentials))
    found[SDK_CONFIG] = str(sdk_config)
    found["TRAINING_JOB_NAME"] = job.name
    found["TRAINING_JOB_ARN"] = settings.arn(job.name)
    found["SAGEMAKER_REGION"] = settings.region
    found["SAGEMAKER_JOB_NAME"] = job.name
    if job.keep_alive_s:
        found["SAGEMAKER_MANAGED_WARMPOOL_CACHE_DIRECTORY"] = container.seen("sagemaker/warmpoolcache")
    found.update(_script_variables(job, container, hosts, program))
    if program.script:
        found["PYTHONPATH"] = container.seen("code")
    user = job.request.get("Environment", {})
    found.update({name: container.relocated(value) for name, value in user.items()})
    return found


def _script_variables(job: Job, container: Container, hosts: Sequence[Instance], program: Program) -> dict[str, str]:
    user = job.request.get("Environment", {})
    return script_mode.script_variables(
        container.view,
        contract.resource_config(hosts, container.host),
        contract.input_config(job.request),
        script_mode.decoded(job.request.get("HyperParameters", {})),
        script=program.script or None,
        module_dir=program.source or container.relocated(program.folder) if program.script else "",
        job_name=job.name,
        framework_module=user.get("SAGEMAKER_TRAINING_MODULE"),
        devices={"cpus": os.cpu_count() or 1, "gpus": gpus(), "neurons": 0},
    ) | {
        # Beside what the toolkit sets.
        "SM_HOST_COUNT": str(len(hosts)),
        "SM_MASTER_ADDR": hosts[0].host,
        "SM_CHECKPOINT_DIR": container.relocated(job.request.get("CheckpointConfig", {}).get("LocalPath", contract.CHECKPOINTS)),
    }


def gpus() -> int:
    """Return how many GPUs a container sees."""
    return sum(1 for path in Path("/dev").glob("nvidia[0-9]*") if path.name[6:].isdigit())
