"""`outrider doctor`: whether a first start can work, and what is missing; also policies, a CloudFormation template, and `--smoke`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from definitions.builtin_backends import DEFAULT, OF_AN_ACCOUNT
from definitions.errors import UserError
from definitions.program import command
from launch.parser import VerbParser
from launch.remote_flags import add_controller_flags

if TYPE_CHECKING:
    from backends.base import Backend
    from backends.checks import Check, CheckRequest
    from definitions.parts import Overrides
    from definitions.resolve import Resolved
    from definitions.schema import BenchmarkDefinition

_EPILOG = """\
Nothing is started. One small object is written to the bucket and deleted, with --remote another. Without --benchmark the account (or
machine) alone is checked.
`outrider doctor --smoke --help` tells about the comparison of the emulator with a real account.
Exit codes: 0 ready, 2 something is missing, 5 AWS refuses."""


def main(arguments: Sequence[str]) -> int:
    """Check, or print what was asked for, and return the exit code; raises `UserError` for wrong use."""
    if "--smoke" in arguments:
        from launch.smoke import main as smoke

        return smoke(arguments)
    given = make_parser().parse_args(arguments)
    from backends.registry import backend_class

    backend = backend_class(given.backend)
    if given.policy and given.cloudformation:
        raise UserError("--policy and --cloudformation", "each prints a document of its own", "give one after the other")
    if given.policy or given.cloudformation:
        if given.policy == "controller" or given.cloudformation:
            # Controllers, and what an account has for jobs, are of the cloud wherever trials run.
            backend = backend_class(OF_AN_ACCOUNT)
        kind = given.policy or given.cloudformation
        document = backend.permission_document(kind, _request(given, _resolved(given) if given.benchmark else None))
        if document is None:
            raise UserError(f"--backend {given.backend}", "nobody needs a policy for it", "leave it out, or give a back-end in the cloud")
        if document.remark:
            print(document.remark, file=sys.stderr)
        print(document.text, end="")
        return 0
    found = _checks(given, backend)
    if given.remote:
        known = {check.name for check in found}
        found += [check for check in _remote_checks(given) if check.name not in known]
    return _show(found, given.format)


def _checks(given: argparse.Namespace, backend: type[Backend]) -> list[Check]:
    """Return the back-end's checks; what is wrong with the definition is one more, and the surroundings are then checked alone."""
    resolved: Resolved | None = None
    broken: list[Check] = []
    try:
        resolved = _resolved(given) if given.benchmark else None
        return backend.checks(_request(given, resolved))
    except UserError as error:
        if not given.benchmark:
            raise
        broken = [_failed("definition", error)]
    return broken + backend.checks(_request(given, None))


def _remote_checks(given: argparse.Namespace) -> list[Check]:
    """Return the checks of a launch; where the definition is wrong, which is said already, by the flags alone."""
    from definitions.resolve import resolve_python
    from launch.launching.checks import remote_checks
    from launch.remote_flags import remote_settings

    definition = None
    with contextlib.suppress(UserError):
        definition = _resolved(given).definition if given.benchmark else None
    if definition is not None:
        return remote_checks(
            definition.remote, given.backend, os.environ, definition=definition, benchmark=given.benchmark, region=given.region,
            role=given.role,
        )  # fmt: skip
    asked = resolve_python(_nothing(), DEFAULT, remote_settings(given), check_files=False).definition.remote
    return remote_checks(asked, given.backend, os.environ, region=given.region, role=given.role)


def _request(given: argparse.Namespace, resolved: Resolved | None) -> CheckRequest:
    from backends.checks import CheckRequest
    from benchmarking.planning.concurrency import instance_types

    definition = None if resolved is None else resolved.definition
    types = () if definition is None else tuple(instance_types(definition, given.backend))
    block = _options(given) if definition is None else definition.blocks.get(given.backend)
    return CheckRequest(os.environ, given.results_dir, definition, types, given.region, given.role, given.remote_role, block)


def _options(given: argparse.Namespace) -> Overrides | None:
    """Return the back-end's options as the flags alone say them; None where they say none.

    Raises:
        UserError: there is no such option; where a definition is wrong, that was said already.
    """
    from definitions.resolve import resolve_python

    asked = [text for text in given.settings if text.partition(".")[0] == given.backend]
    if not asked:
        return None
    with contextlib.suppress(UserError) if given.benchmark else contextlib.nullcontext():
        return resolve_python(_nothing(), given.backend, asked, check_files=False, environ=os.environ).definition.blocks.get(given.backend)
    return None


def _nothing() -> BenchmarkDefinition:
    """Return a definition that says nothing, for what flags alone say."""
    from definitions.schema import BenchmarkDefinition

    asked = {"name": "nothing", "script": "none.py", "objectives": {"duration_s": "min"}, "trials": [{"x": 1}]}
    return BenchmarkDefinition.model_validate(asked)


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

        if not checks:
            print("nothing to check: this back-end asks for nothing beforehand; give --benchmark to check a definition on it")
            return EXIT_DONE
        print(table(["check", "verdict", "found"], [[check.name, check.verdict.value, check.found] for check in checks]))
        advised = [check for check in checks if check.advice and check.verdict != "ok"]
        if advised:
            print("\nwhat to do:\n" + "\n".join(f"  {check.name}: {check.advice}" for check in advised))
        print("\n" + ("ready" if not failed else f"{len(failed)} problem{'s' if len(failed) > 1 else ''}"))
    if not failed:
        return EXIT_DONE
    return EXIT_CLOUD if any(check.refused for check in failed) else EXIT_USAGE


def _failed(name: str, error: Any) -> Check:
    from backends.checks import Check, CheckStatus

    return Check(name, CheckStatus.FAILED, ": ".join(part for part in (error.asked, error.fact) if part), error.advice)


def _resolved(given: argparse.Namespace) -> Resolved:
    from benchmarking.methods.registry import known_methods
    from benchmarking.planning.machine_default import with_machine_default
    from definitions.registry import Registry
    from definitions.resolve import resolve, resolve_python
    from definitions.schema import BenchmarkDefinition
    from launch.remote_flags import remote_settings

    found = Registry().find(given.benchmark)
    methods, settings = tuple(known_methods()), [*given.settings, *remote_settings(given)]
    if isinstance(found, BenchmarkDefinition):
        resolved = resolve_python(found, given.backend, settings, methods=methods, environ=os.environ)
    else:
        resolved = resolve(found, given.backend, settings, methods=methods, environ=os.environ)
    return with_machine_default(resolved, os.environ)


def make_parser() -> VerbParser:
    """Return the parser of this verb."""
    parser = VerbParser(
        prog=command("doctor"),
        description="Check whether a first start can work, and say what is missing.",
        epilog=_EPILOG,
    )
    parser.add_argument("--benchmark", default=None, metavar="NAME|FILE", help="whose start is checked; without it the account alone")
    parser.add_argument("--backend", default=OF_AN_ACCOUNT, metavar="NAME", help=f"where (default {OF_AN_ACCOUNT})")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", dest="settings",
                        help="override a key of the definition, as for a run")  # fmt: skip
    parser.add_argument("--role", default=None, metavar="ARN", help="role that jobs run as (default: the definition's, or $OUTRIDER_ROLE)")
    parser.add_region("where jobs run (default: the definition's, or the AWS configuration's)")
    remote = parser.add_argument_group("a launch (docs/remote.md)")
    remote.add_argument("--remote", action="store_true", help="check what controllers need besides: roles, bucket, quota, image, network")
    add_controller_flags(remote)
    parser.add_results_dir("folder of results, for the disk check of --backend local")
    parser.add_argument("--format", choices=("table", "json"), default="table", help="form of the answer (default table)")
    parser.add_argument("--policy", nargs="?", const="caller", default=None, choices=("caller", "role", "controller", "trust"),
                        help="print an IAM policy and stop: of whoever starts Outrider (caller), of the role of the jobs, of that of "
                        "controllers, or who may take these roles (trust)")  # fmt: skip
    parser.add_argument("--cloudformation", nargs="?", const="template", default=None, choices=("template", "network"),
                        help="print a CloudFormation template and stop: of bucket, roles and policies, or of a network for jobs "
                        "(network: VPC, endpoints, FSx for Lustre)")  # fmt: skip
    return parser
