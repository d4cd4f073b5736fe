"""All checks of a first start on SageMaker."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.checks import Check, CheckStatus, problems
from backends.sagemaker.admin import checks
from backends.sagemaker.admin.endpoint_checks import asked_for, server_checks
from backends.sagemaker.admin.network_checks import check_network, trials
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, FailureKind, failure_of
from backends.sagemaker.aws.lookups import ENDPOINT, SPOT, TRAINING, WARM_POOL, Lookups
from backends.sagemaker.aws.network_lookups import network_of
from backends.sagemaker.aws.s3 import joined, split_uri
from backends.sagemaker.block import SageMakerBlock
from backends.sagemaker.code.project import REQUIREMENTS
from backends.sagemaker.jobs.existing_endpoints import existing_endpoints
from backends.sagemaker.jobs.images import image_facts
from backends.sagemaker.jobs.options import DEFAULT_PREFIX, Options
from backends.sagemaker.jobs.resolve_options import EMULATED_ROLE, ROLE_VARIABLE, options_of
from backends.sagemaker.jobs.static_checks import check_static
from definitions.errors import OutriderError, UserError
from definitions.instance_tables import HOSTING, load_tables
from definitions.instance_tables import TRAINING as TRAINING_USE
from definitions.instances import price_of
from definitions.program import command
from definitions.schema import BenchmarkDefinition, PathDataset, S3Dataset

_PLACEHOLDER_ROLE = "arn:aws:iam::000000000000:role/not-given"
_ANY = "outrider-doctor"


@dataclass(frozen=True)
class _Account:
    region: str
    id: str
    role: str
    bucket: str
    prefix: str


def run_checks(
    definition: BenchmarkDefinition | None,
    backend: str,
    instance_types: Sequence[str],
    clients: Clients,
    environ: Mapping[str, str],
    *,
    role: str = "",
    today: datetime.date | None = None,
) -> list[Check]:
    """Return all checks of a first start, in the order in which they are to be mended.

    Args:
        definition: resolved for the back-end; None to check the account alone.
        backend: `sagemaker` or `warm_pool`.
        instance_types: that the definition's configurations can ask for.
        clients: of the region of the jobs.
        environ: the controller's environment.
        role: ARN in place of the definition's.
        today: for the age of images; by the clock where None.
    """
    lookups = Lookups(clients)
    try:
        region = clients.region
        identity = lookups.call("sts", "get_caller_identity")
    except UserError as error:
        return [Check("AWS configuration", CheckStatus.FAILED, f"{error.asked}: {error.fact}", error.advice)]
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        identity, region = failure, ""
    found = [checks.check_credentials(identity)]
    if isinstance(identity, CallFailure) and identity.kind in (FailureKind.CREDENTIALS, FailureKind.UNREACHABLE):
        return [*found, Check("all else", CheckStatus.UNKNOWN, "nothing more can be asked without credentials and a connection")]
    account_id = "" if isinstance(identity, CallFailure) else str(identity["Account"])
    block = definition.block(backend, SageMakerBlock) if definition is not None else None
    account = _Account(
        region=region,
        id=account_id,
        role=role or (block.role if block and block.role else environ.get(ROLE_VARIABLE) or (EMULATED_ROLE if clients.emulated else "")),
        bucket=(block.bucket if block and block.bucket else f"sagemaker-{region}-{account_id}" if account_id else ""),
        prefix=DEFAULT_PREFIX if block is None or block.prefix is None else block.prefix.strip("/"),
    )
    found.append(Check("region", CheckStatus.OK, region + (" (emulated)" if clients.emulated else "")))
    found.append(_role_check(lookups, account))
    found += _bucket_checks(lookups, account, bool(block and block.bucket))
    if definition is not None:
        found += _definition_checks(lookups, definition, backend, instance_types, clients, environ, account, today)
    return found


def first_start_problems(
    definition: BenchmarkDefinition, backend: str, instance_types: Sequence[str], clients: Clients, environ: Mapping[str, str]
) -> list[Check]:
    """Return the checks that failed, for a first start on a real account; arguments as of `run_checks`."""
    return problems(run_checks(definition, backend, instance_types, clients, environ))


def _role_check(lookups: Lookups, account: _Account) -> Check:
    if not account.role:
        text = f"none is given: neither the definition's role nor the variable {ROLE_VARIABLE} says"
        return Check("role", CheckStatus.FAILED, text, f"`{command('doctor', '--cloudformation')}` prints a template that makes one")
    name = account.role.rpartition("/")[2]
    return checks.check_role(account.role, account.id, lookups.call("iam", "get_role", RoleName=name))


def _bucket_checks(lookups: Lookups, account: _Account, named: bool) -> list[Check]:
    if not account.bucket:
        return [Check("bucket", CheckStatus.UNKNOWN, "none is given, and the account of the default one is not known", "give bucket")]
    where = lookups.bucket_region(account.bucket, account.region)
    found = [checks.check_bucket(account.bucket, where, account.region, made_when_missing=not named)]
    if where == account.region:
        problem = lookups.writing_problem(account.bucket, account.prefix)
        found.append(checks.check_writable(f"s3://{account.bucket}/{joined(account.prefix, 'doctor')}", problem))
    return found


def _definition_checks(
    lookups: Lookups,
    definition: BenchmarkDefinition,
    backend: str,
    instance_types: Sequence[str],
    clients: Clients,
    environ: Mapping[str, str],
    account: _Account,
    today: datetime.date | None,
) -> list[Check]:
    found = []
    options: Options | None = None
    try:
        given = {**environ, ROLE_VARIABLE: account.role or _PLACEHOLDER_ROLE}
        options = options_of(definition, backend, _ANY, clients, given, create_bucket=False)
        if definition.endpoint is None:
            check_static(definition, options)
        found.append(Check("definition", CheckStatus.OK, f"{definition.name} resolves for {backend}"))
    except OutriderError as error:
        found.append(_of_user_error("definition", error))
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        found.append(Check("definition", CheckStatus.UNKNOWN, str(failure), failure.advice))
    found += server_checks(definition, backend, account.region, clients.emulated)
    found += _dataset_checks(lookups, definition, account.region)
    found += _instance_checks(lookups, definition, options, backend, instance_types, environ, account.region)
    if options is not None:
        day = (today or datetime.datetime.now(datetime.UTC).date()).isoformat()
        for uri in _images(options, instance_types):
            found.append(_of_user_error("image", uri) if isinstance(uri, UserError) else _image_check(lookups, uri, account.region, day))
        found += _network_checks(lookups, definition, options, account.region)
    return found


def _network_checks(lookups: Lookups, definition: BenchmarkDefinition, options: Options, region: str) -> list[Check]:
    """Return the check of the VPC that jobs are in; none where they are in none, which nobody asked for."""
    if not options.subnets:
        return []
    installs = (Path(definition.source_dir) / REQUIREMENTS).is_file()
    return [check_network(network_of(lookups, options.subnets, options.security_groups, region), trials(installs=installs))]


def _image_check(lookups: Lookups, uri: str, region: str, today: str) -> Check:
    facts = image_facts(uri)
    # AWS's own registries answer nobody's questions.
    return checks.check_image(uri, facts, None if facts is not None else lookups.image_exists(uri), region, today)


def _dataset_checks(lookups: Lookups, definition: BenchmarkDefinition, region: str) -> list[Check]:
    found = []
    for name, dataset in definition.datasets.items():
        if isinstance(dataset, S3Dataset):
            where = lookups.bucket_region(split_uri(dataset.uri)[0], region)
            first = lookups.has_objects(dataset.uri) if where == region else None
            found.append(checks.check_dataset(name, dataset.uri, where, first, region))
        elif isinstance(dataset, PathDataset):
            there = Path(dataset.path).is_dir()
            verdict = CheckStatus.OK if there else CheckStatus.FAILED
            text = f"{dataset.path} is {'there, and is uploaded' if there else 'no folder'}"
            found.append(Check(f"data set {name}", verdict, text, "" if there else "check the path"))
    return found


def _instance_checks(
    lookups: Lookups,
    definition: BenchmarkDefinition,
    options: Options | None,
    backend: str,
    instance_types: Sequence[str],
    environ: Mapping[str, str],
    region: str,
) -> list[Check]:
    cloud = [name for name in instance_types if name.startswith("ml.")]
    others = [name for name in instance_types if not name.startswith("ml.")]
    found = [
        Check(
            f"instance type {name}", CheckStatus.FAILED, "SageMaker's begin with ml.", f"give {backend}: {{space: {{instance_type: ...}}}}"
        )
        for name in others
    ]
    spot = options is not None and options.spot
    fallbacks = [name for name in (options.fallback_instance_types if options is not None else ()) if name not in cloud]
    form = ENDPOINT if definition.endpoint is not None else SPOT if spot else TRAINING
    # Of an endpoint that exists no instance is taken from the account's.
    taken = cloud if None in existing_endpoints(definition) else []
    wanted = [(form.format(name), "") for name in taken] + [(form.format(name), "no job falls back to it") for name in fallbacks]
    if backend == "warm_pool" and definition.endpoint is None:
        wanted += [(WARM_POOL.format(name), "nothing is kept warm, jobs start cold") for name in cloud]
    if not cloud and not wanted:
        return found
    quotas = {} if not wanted else lookups.quotas(name for name, _ in wanted)
    each = most_instances(definition)
    for name, without in wanted:
        quota = quotas if isinstance(quotas, CallFailure) else quotas.get(name)
        found.append(checks.check_quota(name, quota, each, definition.n_workers, region, without))
    capped = definition.budget.max_cost is not None
    tables, use = load_tables(environ=environ), TRAINING_USE if definition.endpoint is None else HOSTING
    priced = {name: price_of(name, region, use=use, tables=tables) for name in (*cloud, *fallbacks)}
    return found + [checks.check_price(name, price, region, capped) for name, price in priced.items()]


def most_instances(definition: BenchmarkDefinition) -> int:
    """Return how many instances the largest job of a definition takes."""
    counts = [definition.arguments.get("instance_count"), *asked_for(definition, "instance_count")]
    return max((int(count) for count in counts if count), default=1)


def _images(options: Options, instance_types: Sequence[str]) -> list[str | UserError]:
    found: list[str | UserError] = []
    for name in instance_types:
        try:
            image = options.image_for(name)
        except UserError as error:
            found.append(error)
        else:
            if image is not None and image not in found:
                found.append(image)
    return found


def _of_user_error(title: str, error: OutriderError) -> Check:
    if isinstance(error, UserError):
        return Check(title, CheckStatus.FAILED, ": ".join(part for part in (error.asked, error.fact) if part), error.advice)
    return Check(title, CheckStatus.FAILED, str(error), refused=True)
