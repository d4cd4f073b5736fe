"""All checks of a launch: what the training jobs need that run a study themselves."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backends.checks import Check, CheckStatus
from backends.sagemaker.admin import checks, remote_checks
from backends.sagemaker.admin.iam_policy import partition_of
from backends.sagemaker.admin.network_checks import CONTROLLERS, check_network
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure
from backends.sagemaker.aws.iam_operations import CONTROLLER, JOB, Target, grants_for
from backends.sagemaker.aws.lookups import SPOT, TRAINING, Lookups
from backends.sagemaker.aws.network_lookups import network_of
from backends.sagemaker.aws.role_permissions import lacking
from backends.sagemaker.aws.s3 import joined
from backends.sagemaker.controllers.options import ControllerOptions
from backends.sagemaker.jobs.images import image_facts
from backends.sagemaker.logs.parser import GROUP
from definitions.instances import price_of


@dataclass(frozen=True)
class RemoteStart:
    """A study that would be launched.

    Args:
        options: of its controllers.
        bucket, prefix: where it would be kept.
        is_own: whether the bucket is the account's default one, which is made where it is missing.
        jobs_role: ARN of the role of trials; empty where they run in the controllers.
        beside: instances that trials take at once of the same type.
        capped: whether `max_cost` is given, which covers the controllers.
    """

    options: ControllerOptions
    bucket: str
    prefix: str
    is_own: bool = False
    jobs_role: str = ""
    beside: int = 0
    capped: bool = False


def controller_checks(start: RemoteStart, clients: Clients, today: datetime.date | None = None) -> list[Check]:
    """Return all checks of the controllers of a study, in the order in which they are to be mended.

    Args:
        start: what would be launched.
        clients: of the region of the jobs; that there are credentials is checked before.
        today: for the age of images; by the clock where None.
    """
    lookups, region, options = Lookups(clients), clients.region, start.options
    identity = lookups.call("sts", "get_caller_identity")
    account = "" if isinstance(identity, CallFailure) else str(identity["Account"])
    found = [*_role_checks(lookups, start, region, account), *_storage_checks(lookups, start, region)]
    form = SPOT if options.spot else TRAINING
    quota_name = form.format(options.instance_type)
    quotas = lookups.quotas([quota_name])
    quota = quotas if isinstance(quotas, CallFailure) else quotas.get(quota_name)
    enough = checks.check_quota(quota_name, quota, 1, options.count + start.beside, region)
    found.append(dataclasses.replace(enough, name=f"controllers' {enough.name}"))
    day = (today or datetime.datetime.now(datetime.UTC).date()).isoformat()
    facts = image_facts(options.image)
    exists = None if facts is not None else lookups.image_exists(options.image)
    image = checks.check_image(options.image, facts, exists, region, day)
    price = checks.check_price(options.instance_type, price_of(options.instance_type, region), region, start.capped)
    found += [dataclasses.replace(one, name=f"controllers' {one.name}") for one in (image, price)]
    network = network_of(lookups, options.subnets, options.security_groups, region) if options.subnets else None
    return [*found, check_network(network, CONTROLLERS)]


def _role_checks(lookups: Lookups, start: RemoteStart, region: str, account: str) -> list[Check]:
    role = start.options.role
    name = role.rpartition("/")[2]
    exists = checks.check_role(role, account, lookups.call("iam", "get_role", RoleName=name))
    found = [dataclasses.replace(exists, name="controllers' role")]
    if exists.verdict is not CheckStatus.FAILED:
        resources = _resources(start, region, account)
        found.append(remote_checks.check_permissions(name, lacking(lookups, role, [*grants_for(CONTROLLER), *JOB], resources)))
    return found


def _resources(start: RemoteStart, region: str, account: str) -> Mapping[Target, Sequence[str]]:
    """Return examples of what a controller needs to be allowed things on; trackers and data are no matter of a launch."""
    beginning = f"arn:{partition_of(region)}"
    return {
        Target.JOBS: [f"{beginning}:sagemaker:{region}:{account or '*'}:training-job/outrider-doctor"],
        Target.ROLE: [role for role in dict.fromkeys((start.options.role, start.jobs_role)) if role],
        Target.BUCKET: [f"{beginning}:s3:::{start.bucket}"],
        Target.OBJECTS: [f"{beginning}:s3:::{start.bucket}/{joined(start.prefix, 'runs')}outrider-doctor"],
        Target.LOGS: [f"{beginning}:logs:{region}:{account or '*'}:log-group:{GROUP}:log-stream:outrider-doctor"],
        Target.ANY: ["*"],
    }


def _storage_checks(lookups: Lookups, start: RemoteStart, region: str) -> list[Check]:
    where = lookups.bucket_region(start.bucket, region)
    bucket = dataclasses.replace(checks.check_bucket(start.bucket, where, region, made_when_missing=start.is_own), name="bucket of the run")
    if where != region:
        return [bucket]
    return [bucket, remote_checks.check_conditions(f"s3://{start.bucket}/{joined(start.prefix, 'doctor')}", conditions(lookups, start))]


def conditions(lookups: Lookups, start: RemoteStart) -> bool | CallFailure:
    """Return whether the second of two writes of a new object is refused; the object is deleted again."""
    place = lookups.new_place(start.bucket, start.prefix)
    first = lookups.call("s3", "put_object", **place, Body=b"1", IfNoneMatch="*")
    if isinstance(first, CallFailure):
        return first
    second = lookups.call("s3", "put_object", **place, Body=b"2", IfNoneMatch="*")
    deleted = lookups.call("s3", "delete_object", **place)
    if isinstance(second, CallFailure):
        return True if second.code == "PreconditionFailed" else second
    return deleted if isinstance(deleted, CallFailure) else False
