"""What the controllers of one launched study have in common, and from what it follows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from backends.sagemaker.block import LONGEST_KEY, LONGEST_VALUE, MOST_TAGS
from backends.sagemaker.jobs.images import find_images, has_gpu, image_facts
from backends.sagemaker.jobs.resolve_options import CONTROLLER_ROLE_VARIABLE, EMULATED_ROLE
from backends.sagemaker.jobs.static_checks import check_exists
from definitions.errors import UserError
from definitions.program import command
from definitions.remote import RemoteOptions

INSTANCE_TYPE = "ml.m5.large"
VOLUME_GB = 30
RESTARTS = 3
LONGEST_GENERATION_S = 86400.0
"""Seconds of one generation where nobody says, at most."""
SHORTEST_GENERATION_S = 3600.0
"""The same, at least: a successor costs a start."""
OWN_TAGS = 3
_MARGIN = 1.2
_FRAMEWORK = "pytorch"
_OLDEST_PYTHON = (3, 11)
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-/]+")
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class ControllerOptions:
    """What all controllers of a study have in common.

    Args:
        role: ARN that they run with.
        image: URI.
        instance_type: of each; `count`: how many share the experiments.
        max_run_s: seconds of one generation; `generations`: how many of them follow one another at most.
        spot: managed spot training.
        restarts: starts after a fault without a finished trial in between.
        volume_gb: disk of each.
        subnets, security_groups: of the VPC; empty for none.
        tags: beside Outrider's own.
        environment: variables of each.
        metrics: name -> regular expression of what the console shows of each.
    """

    role: str
    image: str
    instance_type: str = INSTANCE_TYPE
    count: int = 1
    max_run_s: float = LONGEST_GENERATION_S
    generations: int = 1
    spot: bool = False
    restarts: int = RESTARTS
    volume_gb: int = VOLUME_GB
    subnets: tuple[str, ...] = ()
    security_groups: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=lambda: _NONE)
    environment: Mapping[str, str] = field(default_factory=lambda: _NONE)
    metrics: Mapping[str, str] = field(default_factory=lambda: _NONE)


def controller_options(
    asked: RemoteOptions,
    *,
    region: str,
    environ: Mapping[str, str],
    emulated: bool,
    longest_s: float | None,
    count: int = 1,
    environment: Mapping[str, str] = _NONE,
) -> ControllerOptions:
    """Return the options of the controllers of a study.

    Args:
        asked: what the `remote:` blocks say.
        region: whose images are taken.
        environ: of the launcher.
        emulated: whether calls go to an emulator, for which any role does.
        longest_s: seconds that the study takes at most; None where nobody knows.
        count: how many controllers there are where nobody says.
        environment: variables of each.

    Raises:
        UserError: no role, an image with a Python that is too old, or options that do not go together.
    """
    _check(asked)
    instance_type = asked.instance_type or INSTANCE_TYPE
    if not instance_type.startswith("ml."):
        raise UserError(f"remote.instance_type {instance_type!r}", "types of training jobs begin with ml.", f"e.g. {INSTANCE_TYPE}")
    check_exists(instance_type)
    max_run_s, generations = generations_of(longest_s, asked.max_run)
    return ControllerOptions(
        role=_role(asked, environ, emulated=emulated),
        image=_image(asked, instance_type, region),
        instance_type=instance_type,
        count=asked.controllers or count,
        max_run_s=max_run_s,
        generations=generations,
        spot=bool(asked.spot),
        restarts=RESTARTS if asked.restarts is None else asked.restarts,
        volume_gb=asked.volume_gb or VOLUME_GB,
        subnets=asked.subnets or (),
        security_groups=asked.security_groups or (),
        tags=dict(asked.tags or {}),
        environment=dict(environment),
    )


def generations_of(longest_s: float | None, max_run_s: float | None) -> tuple[float, int]:
    """Return the seconds of a generation, and how many of them a study needs at most.

    A generation lasts for the study's longest time and a fifth, between an hour and a day; where nobody knows that time, a day. So many
    follow one another that this time fits, and one more, as each begins with a start that takes time.

    Args:
        longest_s: seconds that the study takes at most; None where nobody knows.
        max_run_s: of a generation as it was asked for; None where it was not.
    """
    wanted_s = None if longest_s is None else longest_s * _MARGIN
    usual_s = LONGEST_GENERATION_S if wanted_s is None else min(max(wanted_s, SHORTEST_GENERATION_S), LONGEST_GENERATION_S)
    found_s = usual_s if max_run_s is None else max_run_s
    needed = 30 if wanted_s is None else max(1, -int(-wanted_s // found_s))
    return found_s, needed + 1


def _check(asked: RemoteOptions) -> None:
    if (asked.subnets is None) != (asked.security_groups is None):
        raise UserError("remote: a VPC needs both", "only one of subnets and security_groups is given", "give the other too")
    if asked.image is not None and asked.framework is not None:
        raise UserError("remote: image and framework", "a controller has one of them", "leave one out")
    tags = asked.tags or {}
    for key, value in tags.items():
        if not key or key.lower().startswith("aws:") or len(key) > LONGEST_KEY or len(value) > LONGEST_VALUE:
            fact = f"AWS takes keys of 1 to {LONGEST_KEY} and values of {LONGEST_VALUE} characters, and keeps keys that begin with aws:"
            raise UserError(f"remote.tags.{key[:60]}", fact, "call it differently")
    if len(tags) > MOST_TAGS - OWN_TAGS:
        raise UserError(
            f"remote.tags: {len(tags)} are given", f"a job has at most {MOST_TAGS}, {OWN_TAGS} of them Outrider's", "leave some out"
        )


def _role(asked: RemoteOptions, environ: Mapping[str, str], *, emulated: bool) -> str:
    role = asked.role or environ.get(CONTROLLER_ROLE_VARIABLE) or (EMULATED_ROLE if emulated else "")
    if not role:
        raise UserError(
            "launch: no role is given that controllers run with",
            f"neither remote.role nor the environment variable {CONTROLLER_ROLE_VARIABLE} says; unlike that of trials it may create jobs",
            f"`{command('doctor', '--cloudformation')}` prints a CloudFormation template for roles and bucket",
        )
    if not _ROLE.fullmatch(role):
        raise UserError(f"role {role!r} is no ARN of an IAM role", "the form is arn:aws:iam::<account>:role/<name>")
    return role


def _image(asked: RemoteOptions, instance_type: str, region: str) -> str:
    if asked.image is not None:
        _check_python(asked.image)
        return asked.image
    cpu, gpu = find_images(asked.framework or _FRAMEWORK, asked.framework_version, region)
    found = gpu if has_gpu(instance_type) else cpu
    if found is None:
        kind = "with a GPU" if has_gpu(instance_type) else "without a GPU"
        raise UserError(f"remote.framework {asked.framework}: there is no image for instances {kind}", "", "give remote.image")
    _check_python(found)
    return found


def _check_python(uri: str) -> None:
    """Refuse an image that is known to have a Python which is too old; of one of the user's own the job itself finds out at its start."""
    facts = image_facts(uri)
    found = None if facts is None else re.fullmatch(r"py(\d)(\d+)", facts.py_version)
    if found is not None and (int(found[1]), int(found[2])) < _OLDEST_PYTHON:
        raise UserError(
            f"remote: the image {uri.rpartition('/')[2]} has Python {found[1]}.{found[2]}",
            f"controllers need {'.'.join(map(str, _OLDEST_PYTHON))} or later",
            "take a later framework_version, or an image of your own",
        )
