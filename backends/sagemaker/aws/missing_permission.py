"""The line of a policy that a denied call lacked, from what AWS says of it, else from the table of operations. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from backends.sagemaker.aws.iam_operations import OPERATIONS, Grant, Target
from definitions.program import command

_ACTION = re.compile(r"\bauthorized to perform:? ['\"]?([a-z0-9-]+:[A-Za-z*]+)")
_RESOURCE = re.compile(r"\bon (?:the )?resource:? ['\"]?(arn:[^\s'\"]+)")
_EXPLICIT = re.compile(r"\bwith an explicit deny(?: in an? ([a-z-]+(?: [a-z-]+){0,3}? (?:policy|boundary)))?")
_ROLE = re.compile(r":(?:assumed-role/([^/\s'\"]+)/|(user|role)/([^\s'\"]+))")
_MASKED = "*" * 12
_ANYWHERE: dict[Target, str] = {
    Target.JOBS: "arn:aws:sagemaker:*:*:training-job/*",
    Target.EXPERIMENTS: "arn:aws:sagemaker:*:*:experiment*",
    Target.ROLE: "arn:aws:iam::*:role/<role of the jobs>",
    Target.BUCKET: "arn:aws:s3:::<bucket>",
    Target.OBJECTS: "arn:aws:s3:::<bucket>/<prefix>/*",
    Target.LOGS: "arn:aws:logs:*:*:log-group:/aws/sagemaker/TrainingJobs:*",
}


def advice(operation: str, message: str) -> str:
    """Return what to do about a call that was denied: which line the policy of whoever made it lacks.

    Args:
        operation: of AWS, by botocore's name; empty where that is not known.
        message: what AWS said, account ids masked.
    """
    explicit = _EXPLICIT.search(message)
    if explicit is not None:
        where = f"a {explicit[1]}" if explicit[1] else "a policy"
        return f"an explicit deny in {where} forbids it, whatever else is allowed: only the account's administrator can lift that"
    printed = f"`{command('doctor', '--policy')}` (of a controller's role: `--policy controller`) prints all that is needed"
    lines = policy_lines(operation, message)
    if not lines:
        return f"let the account's administrator allow it: {printed}"
    return f"the policy of {_who(message)} lacks {', '.join(lines)}; {printed}"


def policy_lines(operation: str, message: str) -> list[str]:
    """Return the statements, as JSON, that would allow a denied call: the one that AWS names, else all that the operation needs.

    Args:
        operation: of AWS, by botocore's name; empty where that is not known.
        message: what AWS said, account ids masked.
    """
    action, resource = _ACTION.search(message), _RESOURCE.search(message)
    if action is not None:
        return [_line(action[1], _widened(resource[1]) if resource is not None else _anywhere(action[1]))]
    return [_line(grant.action, _ANYWHERE.get(grant.target, "*")) for grant in _own(OPERATIONS.get(operation, ()))]


def _own(grants: tuple[Grant, ...]) -> Iterator[Grant]:
    """Yield the grants on what is ours: those on data of the user's are the same actions once more."""
    yield from (grant for grant in grants if grant.target not in (Target.DATA_BUCKETS, Target.DATA_OBJECTS))


def _line(action: str, resource: str) -> str:
    return json.dumps({"Effect": "Allow", "Action": action, "Resource": resource})


def _anywhere(action: str) -> str:
    targets = (grant.target for grants in OPERATIONS.values() for grant in _own(grants) if grant.action == action)
    return _ANYWHERE.get(next(targets, Target.ANY), "*")


def _widened(resource: str) -> str:
    """Return the resources of which a denied one is an example: the next job has another name, the next object another key."""
    found = resource.rstrip(".,;").replace(_MASKED, "*")
    found = re.sub(r"(:training-job/|:experiment(?:-trial)?(?:-component)?/).*", r"\1*", found)
    return re.sub(r"(:s3:::[^/]+/).*", r"\1*", found)


def _who(message: str) -> str:
    found = _ROLE.search(message)
    if found is None:
        return "whoever made this call"
    return f"the role {found[1]}" if found[1] else f"the {found[2]} {found[3]}"
