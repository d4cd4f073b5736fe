"""`outrider doctor`: whether a first start can work, and what is missing; also policies, a CloudFormation template, and `--smoke`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from definitions.errors import UserError
from launch.parser import VerbParser

if TYPE_CHECKING:
    from backends.checks import Check
    from backends.sagemaker.block import SageMakerBlock
    from definitions.resolve import Resolved

_EPILOG = """\
Nothing is started. One small object is written to the bucket and deleted. Without --benchmark the account (or machine) alone is checked.
`outrider doctor --smoke --help` tells about the comparison of the emulator with a real account.
Exit codes: 0 ready, 2 something is missing, 5 AWS refuses."""


def main(arguments: Sequence[str]) -> int:
    """Check, or print what was asked for, and return the exit code; raises `UserError` for wrong use."""
    if "--smoke" in arguments:
        from launch.smoke import main as smoke

        return smoke(arguments)
    given = _parser().parse_args(arguments)
    if given.backend == "local" and (given.policy or given.cloudformation):
        raise UserError("--backend local", "this machine needs no policy", "leave it out, or give sagemaker or warm_pool")
    if given.policy:
        print(_policy(given))
        return 0
    if given.cloudformation:
        from backends.sagemaker.admin.cloudformation import template

        resolved = _resolved(given) if given.benchmark else None
        print(template(_prefix(resolved, given), _data(resolved), _in_vpc(resolved, given)), end="")
        return 0
    checks = _local(given) if given.backend == "local" else _cloud(given)
    return _show(checks, given.format)


def _show(checks: Sequence[Check], form: str) -> int:
    from backends.checks import problems
    from definitions.errors import EXIT_CLOUD, EXIT_DONE, EXIT_USAGE

    failed = problems(checks)
    if form == "json":
        import dataclasses

        from definitions import strict_json

        listed = [dataclasses.asdict(check) for check in checks]
        print(strict_json.dumps({"ready": not failed, "checks": listed}))
    else:
        from benchmarking.report.text import table

        print(table(["check", "verdict", "found"], [[check.name, check.verdict.value, check.found] for check in checks]))
        advised = [check for check in checks if check.advice and check.verdict != "ok"]
        if advised:
            print("\nwhat to do:\n" + "\n".join(f"  {check.name}: {check.advice}" for check in advised))
        print("\n" + ("ready" if not failed else f"{len(failed)} problem{'s' if len(failed) > 1 else ''}"))
    if not failed:
        return EXIT_DONE
    return EXIT_CLOUD if any(check.refused for check in failed) else EXIT_USAGE


def _cloud(given: argparse.Namespace) -> list[Check]:
    from backends.sagemaker.admin.doctor import run_checks
    from backends.sagemaker.aws.clients import Clients

    resolved, broken = None, []
    if given.benchmark:
        try:
            resolved = _resolved(given)
        except UserError as error:
            broken = [_failed("definition", error)]
    block = _block(resolved, given)
    clients = Clients(given.region or (block.region if block is not None else None), os.environ)
    types: list[str] = []
    if resolved is not None:
        from benchmarking.planning.concurrency import instance_types

        types = instance_types(resolved.definition, given.backend)
    definition = resolved.definition if resolved is not None else None
    return broken + run_checks(definition, given.backend, types, clients, os.environ, role=given.role or "")


def _local(given: argparse.Namespace) -> list[Check]:
    import shutil
    import tempfile
    from pathlib import Path

    from backends.base import BackendContext
    from backends.local.checks import machine_checks, share_checks
    from backends.registry import backend_class
    from benchmarking.planning.concurrency import instance_types

    folder = given.results_dir.expanduser().absolute()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    checks = machine_checks(cores, _memory_bytes(), shutil.disk_usage(existing).free, str(folder))
    if not given.benchmark:
        return checks
    from backends.checks import Check, CheckStatus

    try:
        definition = _resolved(given).definition
        rooms: dict[str, int | str] = {}
        with tempfile.TemporaryDirectory() as scratch:
            backend = backend_class("local").create(BackendContext(definition, Path(scratch), 0, os.environ))
            try:
                for name in instance_types(definition, "local"):
                    rooms[name] = _room(backend, name)
            finally:
                backend.close()
    except UserError as error:
        return [*checks, _failed("definition", error)]
    resolves = Check("definition", CheckStatus.OK, f"{definition.name} resolves for local")
    return [*checks, resolves, *share_checks(rooms, definition.n_workers)]


def _room(backend: Any, name: str) -> int | str:

    try:
        return int(backend.room(name))
    except UserError as error:
        return str(error.asked)


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def _failed(name: str, error: Any) -> Check:
    from backends.checks import Check, CheckStatus

    return Check(name, CheckStatus.FAILED, ": ".join(part for part in (error.asked, error.fact) if part), error.advice)


def _resolved(given: argparse.Namespace) -> Resolved:
    from benchmarking.methods.registry import known_methods
    from definitions.registry import Registry
    from definitions.resolve import resolve, resolve_python
    from definitions.schema import BenchmarkDefinition

    found = Registry().find(given.benchmark)
    methods = tuple(known_methods())
    if isinstance(found, BenchmarkDefinition):
        return resolve_python(found, given.backend, given.settings, methods=methods)
    return resolve(found, given.backend, given.settings, methods=methods)


def _policy(given: argparse.Namespace) -> str:
    import json

    from backends.sagemaker.admin.iam_policy import PolicyScope, job_policy_document, partition_of, policy_document, trust_document
    from backends.sagemaker.jobs.resolve_options import ROLE_VARIABLE

    if given.policy == "trust":
        return json.dumps(trust_document(), indent=2)
    resolved = _resolved(given) if given.benchmark else None
    block = _block(resolved, given)
    arn = given.role or (block.role if block is not None else None) or os.environ.get(ROLE_VARIABLE) or ""
    region = given.region or (block.region if block is not None else None) or "*"
    default = f"sagemaker-{region}-${{aws:PrincipalAccount}}"
    keys = tuple(key for key in ((block.volume_kms_key, block.output_kms_key) if block is not None else ()) if key)
    scope = PolicyScope(
        role=arn.partition(":role/")[2] or "*",
        bucket=(block.bucket if block is not None else None) or default,
        prefix=_prefix(resolved, given),
        data=_data(resolved),
        keys=tuple(dict.fromkeys(keys)),
        region=region,
        partition=partition_of(region),
    )
    if not arn:
        print("no role is known, so that any may be passed to SageMaker; give --role to narrow it", file=sys.stderr)
    document = policy_document(scope) if given.policy == "caller" else job_policy_document(scope, _in_vpc(resolved, given))
    return json.dumps(document, indent=2)


def _block(resolved: Resolved | None, given: argparse.Namespace) -> SageMakerBlock | None:
    from backends.sagemaker.block import SageMakerBlock

    return None if resolved is None else resolved.definition.block(given.backend, SageMakerBlock)


def _prefix(resolved: Resolved | None, given: argparse.Namespace) -> str:
    from backends.sagemaker.jobs.options import DEFAULT_PREFIX

    block = _block(resolved, given)
    return str((block.prefix if block is not None else None) or DEFAULT_PREFIX)


def _data(resolved: Resolved | None) -> tuple[str, ...]:
    from definitions.schema import S3Dataset

    return () if resolved is None else tuple(one.uri for one in resolved.definition.datasets.values() if isinstance(one, S3Dataset))


def _in_vpc(resolved: Resolved | None, given: argparse.Namespace) -> bool:
    block = _block(resolved, given)
    return block is not None and bool(block.subnets)


def _parser() -> VerbParser:
    parser = VerbParser(
        prog="outrider doctor",
        description="Check whether a first start can work, and say what is missing.",
        epilog=_EPILOG,
    )
    parser.add_argument("--benchmark", default=None, metavar="NAME|FILE", help="whose start is checked; without it the account alone")
    parser.add_argument("--backend", choices=("sagemaker", "warm_pool", "local"), default="sagemaker", help="where (default sagemaker)")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", dest="settings",
                        help="override a key of the definition, as for a run")  # fmt: skip
    parser.add_argument("--role", default=None, metavar="ARN", help="role that jobs run as (default: the definition's, or $OUTRIDER_ROLE)")
    parser.add_region("where jobs run (default: the definition's, or the AWS configuration's)")
    parser.add_results_dir("folder of results, for the disk check of --backend local")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="form of the answer (default table)")
    parser.add_argument("--policy", nargs="?", const="caller", default=None, choices=("caller", "role", "trust"),
                        help="print an IAM policy and stop: of whoever starts Outrider (caller), of the role of the jobs, "
                        "or who may take that role (trust)")  # fmt: skip
    parser.add_argument(
        "--cloudformation", action="store_true", help="print a CloudFormation template for role, bucket and policy, and stop"
    )
    return parser
