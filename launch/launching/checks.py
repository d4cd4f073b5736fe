"""What stands in the way of a launch: the checks of `outrider doctor --remote`, and those before real money is spent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.checks import Check, CheckStatus, problems
from backends.registry import backend_class
from backends.sagemaker.admin.checks import check_credentials
from backends.sagemaker.admin.remote_doctor import RemoteStart, controller_checks
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure
from backends.sagemaker.aws.lookups import Lookups
from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.controllers.options import controller_options
from backends.sagemaker.jobs.options import DEFAULT_PREFIX
from backends.sagemaker.jobs.resolve_options import EMULATED_ROLE, ROLE_VARIABLE
from benchmarking.planning.concurrency import instance_types
from definitions.backend_registry import backend_description
from definitions.errors import UserError
from definitions.program import command
from definitions.remote import RemoteOptions
from definitions.schema import BenchmarkDefinition
from launch.launching.launching import Launching
from launch.launching.trials_inside import own_options, with_own


def remote_checks(
    asked: RemoteOptions,
    backend: str,
    environ: Mapping[str, str],
    *,
    definition: BenchmarkDefinition | None = None,
    benchmark: Any = None,
    region: str | None = None,
    role: str | None = None,
) -> list[Check]:
    """Return all checks of a launch beside those of its trials' back-end.

    Args:
        asked: what the `remote:` block says.
        backend: of the trials.
        environ: of the launcher.
        definition: resolved for it; None where none is named.
        benchmark: the same as it was named.
        region: in place of theirs.
        role: ARN of the trials', in place of theirs.
    """
    described = backend_description(backend)
    block = SageMakerBlock()
    if definition is not None and issubclass(described.block, SageMakerBlock):
        block = definition.block(backend, described.block)
    clients = Clients(region or asked.region or block.region, environ)
    try:
        if benchmark is not None and described.shares_this_machine:
            asked = with_own(asked, own_options(benchmark))
        first = check_credentials(Lookups(clients).call("sts", "get_caller_identity"))
        if first.verdict is not CheckStatus.OK:
            return [first]
        name = clients.region
        options = controller_options(asked, region=name, environ=environ, emulated=clients.emulated, longest_s=None)
    except UserError as error:
        return [Check("controllers", CheckStatus.FAILED, ": ".join(part for part in (error.asked, error.fact) if part), error.advice)]
    is_inside = not backend_class(backend).expected_capabilities(environ).survives_controller
    jobs_role = role or block.role or environ.get(ROLE_VARIABLE) or (EMULATED_ROLE if clients.emulated else "")
    bucket = asked.bucket or block.bucket
    where = asked.prefix if block.prefix is None else block.prefix
    start = RemoteStart(
        options,
        bucket or _default_bucket(clients),
        DEFAULT_PREFIX if where is None else where.strip("/"),
        is_own=not bucket,
        jobs_role="" if is_inside else jobs_role,
        beside=0 if is_inside else _beside(definition, backend, options.instance_type),
        capped=definition is not None and definition.budget.max_cost is not None,
    )
    return [first, Check("region", CheckStatus.OK, name + (" (emulated)" if clients.emulated else "")), *controller_checks(start, clients)]


def check_controllers(plan: Launching) -> None:
    """Raise `UserError` where something is missing for the controllers of a launch on a real account."""
    place, options = plan.place, plan.options
    jobs_role = options.environment.get(ROLE_VARIABLE, "") if plan.trials_are_billed else ""
    start = RemoteStart(options, place.bucket, place.prefix, place.is_own, jobs_role, capped=plan.money.max_cost is not None)
    found = problems(controller_checks(start, place.clients))
    if found:
        raise UserError(
            f"launch: {len(found)} {'thing is' if len(found) == 1 else 'things are'} missing for its controllers",
            "\n  ".join(f"{one.name}: {one.found}" + (f" ({one.advice})" if one.advice else "") for one in found),
            f"`{command('doctor', '--remote')}` with the same --benchmark and --backend shows all checks",
        )


def _default_bucket(clients: Clients) -> str:
    found = Lookups(clients).call("sts", "get_caller_identity")
    return "" if isinstance(found, CallFailure) else f"sagemaker-{clients.region}-{found['Account']}"


def _beside(definition: BenchmarkDefinition | None, backend: str, instance_type: str) -> int:
    """Return how many jobs of trials there may be at once on the controllers' instance type, by what the definition asks for."""
    if definition is None or instance_type not in instance_types(definition, backend):
        return 0
    return definition.n_workers or 1
