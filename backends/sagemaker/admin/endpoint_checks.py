"""What is checked of a definition with an endpoint before a first start, and what its configurations can ask for."""

from __future__ import annotations

from typing import Any

from backends.checks import Check, CheckStatus
from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.jobs.existing_endpoints import existing_endpoints
from backends.sagemaker.jobs.hosting_server import AWS_SERVER, server_problem
from definitions.schema import BenchmarkDefinition


def server_checks(definition: BenchmarkDefinition, backend: str, region: str, emulated: bool) -> list[Check]:
    """Return the check of the servers that configurations ask for on endpoints: one is missing for some of them, or for all."""
    if definition.endpoint is None or None not in existing_endpoints(definition):
        return []
    has_image = definition.block(backend, SageMakerBlock).image is not None
    asked = asked_for(definition, "server") or [definition.endpoint.server or AWS_SERVER]
    found = [server_problem(str(one), region, emulated, has_image) for one in asked]
    wrong = [one for one in found if one is not None]
    if not wrong:
        return [Check("server", CheckStatus.OK, f"{' and '.join(str(one) for one in asked)} can be had for endpoints")]
    status = CheckStatus.FAILED if len(wrong) == len(found) else CheckStatus.WARNING
    return [Check("server", status, f"{one.asked}: {one.fact}", one.advice) for one in wrong]


def asked_for(definition: BenchmarkDefinition, key: str) -> list[Any]:
    """Return the values that configurations can have of a key; empty where they have none."""
    if definition.trials:
        return [*dict.fromkeys(one[key] for one in definition.explicit_configurations if one.get(key) is not None)]
    domain = definition.search_space.domains.get(key)
    return [] if domain is None else list(domain.grid(0))
