"""The job that runs a trial's load script on this machine, against an endpoint elsewhere."""

from __future__ import annotations

import base64
import json
import urllib.request
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from backends.endpoint.deployed_job import DeployedJob
from backends.job_spec import JobSpec
from backends.load_targets import targets_document
from backends.sagemaker.aws.clients import Clients

TARGETS_FILE = "endpoint_targets.json"
_ASK_S = 5.0


def cores_of(client_cores: int) -> int:
    """Return the cores that the load takes of this machine: there is no server here to share them with."""
    return max(1, client_cores)


def load_spec(job: DeployedJob, folder: Path, variables: Mapping[str, str]) -> JobSpec:
    """Return the job of the local back-end that loads an endpoint.

    Args:
        job: whose endpoint is in service.
        folder: of the experiment, below which the local back-end keeps its jobs.
        variables: that lead the script to the endpoint.
    """
    document = json.dumps(targets_document(job.deployment, client_shares_cores=False))
    told = {**variables, "OUTRIDER_ENDPOINT_TARGETS": str(folder.absolute() / "jobs" / job.name / TARGETS_FILE)}
    if job.spec.limits.max_run_s is not None:
        told["OUTRIDER_ENDPOINT_LEFT_S"] = str(job.spec.limits.max_run_s)
    # A further life goes on from what the one before it kept.
    restore_from = job.spec.checkpoint if job.local_lives and job.spec.checkpoint else job.spec.restore_from
    return replace(
        job.spec,
        endpoint=None,
        restore_from=restore_from,
        instance_type=f"local.{cores_of(job.deployment.client_cores)}cpu",
        instance_count=1,
        files={**job.spec.files, TARGETS_FILE: document},
        environment={**job.spec.environment, **told},
    )


def endpoint_variables(clients: Clients, endpoint: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return what leads a load script to an endpoint; of the emulator's also to what the server tells of itself.

    Args:
        clients: of AWS.
        endpoint: its name.
        environ: the controller's environment.
    """
    url = str(clients.get("sagemaker-runtime").meta.endpoint_url).rstrip("/")
    found = {"OUTRIDER_ENDPOINT_URL": f"{url}/endpoints/{endpoint}/invocations", "OUTRIDER_ENDPOINT_REGION": clients.region}
    if clients.emulated:
        told = _told_by_emulator(clients.endpoint("sagemaker") or "", endpoint, environ)
        if told:
            found |= {"OUTRIDER_ENDPOINT_STATUS_URL": str(told[0]["status_url"]), "OUTRIDER_ENDPOINT_KEY": str(told[0]["key"])}
    return found


def _told_by_emulator(url: str, endpoint: str, environ: Mapping[str, str]) -> list[dict[str, Any]]:
    pair = f"{environ.get('AWS_ACCESS_KEY_ID', '')}:{environ.get('AWS_SECRET_ACCESS_KEY', '')}"
    request = urllib.request.Request(
        f"{url.rstrip('/')}/_emulator/endpoints", headers={"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    )
    # By no proxy: it is this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_ASK_S) as answer:
            found: list[dict[str, Any]] = json.load(answer).get(endpoint, [])
    except (OSError, ValueError):
        return []
    return found
