"""What answers of AWS mean for a first start: one check for each. Pure; the calls are made in `aws.lookups`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.checks import Check, CheckStatus
from backends.sagemaker.admin.iam_policy import trusts_sagemaker
from backends.sagemaker.aws.errors import CallFailure, FailureKind, masked
from backends.sagemaker.aws.lookups import Quota, ecr_image, increase_command
from backends.sagemaker.jobs.images import Image
from definitions.instance_tables import Price
from definitions.program import command


def check_credentials(answer: Mapping[str, Any] | CallFailure) -> Check:
    """Return the check of GetCallerIdentity's answer; the account's id is not shown."""
    if isinstance(answer, CallFailure):
        return _refused("credentials", answer)
    return Check("credentials", CheckStatus.OK, masked(str(answer["Arn"]).rpartition(":")[2]))


def check_role(arn: str, account: str, answer: Mapping[str, Any] | CallFailure) -> Check:
    """Return the check of the role that jobs run as.

    Args:
        arn: of the role.
        account: that calls are made from.
        answer: of GetRole.
    """
    name = arn.rpartition("/")[2]
    owner = arn.split(":")[4] if arn.count(":") >= 5 else ""
    if not owner:
        return Check("role", CheckStatus.FAILED, f"{name!r} is no ARN", "give it as arn:aws:iam::<account>:role/<name>")
    if account and owner != account:
        return Check(
            "role", CheckStatus.FAILED, f"{name} belongs to another account", "give a role of the account that the credentials are of"
        )
    if isinstance(answer, CallFailure):
        if answer.kind is FailureKind.MISSING:
            return Check("role", CheckStatus.FAILED, f"there is no role {name}", f"`{command('doctor', '--cloudformation')}` makes one")
        if answer.kind is FailureKind.DENIED:
            return Check("role", CheckStatus.UNKNOWN, f"{name}: iam:GetRole is not allowed", "nothing, if jobs were run with it before")
        return _refused("role", answer)
    if not trusts_sagemaker(answer["Role"].get("AssumeRolePolicyDocument") or {}):
        advice = f"let it trust sagemaker.amazonaws.com: `{command('doctor', '--policy', 'trust')}`"
        return Check("role", CheckStatus.FAILED, f"{name} exists, but SageMaker may not take it", advice)
    return Check("role", CheckStatus.OK, f"{name} exists and trusts SageMaker")


def check_bucket(bucket: str, found: str | CallFailure, region: str, made_when_missing: bool) -> Check:
    """Return the check of where the bucket is.

    Args:
        bucket: its name.
        found: its region.
        region: of the jobs.
        made_when_missing: whether the first start makes it.
    """
    name = masked(bucket)
    if isinstance(found, CallFailure):
        if found.kind is FailureKind.MISSING and made_when_missing:
            return Check("bucket", CheckStatus.OK, f"{name} does not exist yet; the first start makes it")
        if found.kind is FailureKind.MISSING:
            return Check("bucket", CheckStatus.FAILED, f"there is no bucket {name}", f"aws s3 mb s3://{name} --region {region}")
        return _refused("bucket", found, name)
    if found != region:
        advice = f"give a bucket in {region}, or --region {found}"
        return Check("bucket", CheckStatus.FAILED, f"{name} is in {found}, but jobs run in {region}", advice)
    return Check("bucket", CheckStatus.OK, f"{name} in {found}")


def check_writable(where: str, problem: CallFailure | None) -> Check:
    """Return the check of writing and deleting an object below a URI."""
    if problem is not None:
        return _refused("bucket is writable", problem, masked(where))
    return Check("bucket is writable", CheckStatus.OK, f"an object in {masked(where)} was written and deleted")


def check_dataset(name: str, uri: str, found: str | CallFailure, first: bool | CallFailure | None, region: str) -> Check:
    """Return the check of a data set in S3.

    Args:
        name: of the data set.
        uri: where it is.
        found: its bucket's region.
        first: whether there is an object below the URI; None where that was not looked at.
        region: of the jobs.
    """
    title, uri = f"data set {name}", masked(uri)
    for answer in (found, first):
        if isinstance(answer, CallFailure):
            if answer.kind is FailureKind.DENIED:
                text = f"{uri}: these credentials may not look at it"
                return Check(title, CheckStatus.UNKNOWN, text, "the role of the jobs has to be allowed to read it")
            if answer.kind is FailureKind.MISSING:
                return Check(title, CheckStatus.FAILED, f"{uri}: there is no such bucket", "check the URI")
            return _refused(title, answer, uri)
    if found != region:
        text = f"{uri} is in {found}, but jobs run in {region}, which read their own region only"
        return Check(title, CheckStatus.FAILED, text, f"copy it: aws s3 sync {uri} s3://<a bucket in {region}>/, or give --region {found}")
    if not first:
        return Check(title, CheckStatus.FAILED, f"{uri}: there is no object below it", "check the URI, or upload the data")
    return Check(title, CheckStatus.OK, f"{uri} in {found}")


def check_quota(name: str, quota: Quota | CallFailure | None, each: int, n_workers: int | None, region: str, without: str = "") -> Check:
    """Return the check of a quota of instances.

    Args:
        name: of the quota.
        quota: what the account has; None where no listing has it.
        each: instances of one job.
        n_workers: jobs at once, as asked for; None for as many as the quota allows.
        region: of the quota.
        without: what happens without any, where jobs can run all the same; empty where they cannot.
    """
    title = f"quota: {name}"
    if quota is None:
        return Check(title, CheckStatus.UNKNOWN, "Service Quotas does not list it", "check the instance type's name and the region")
    if isinstance(quota, CallFailure):
        if quota.kind is FailureKind.DENIED:
            return Check(title, CheckStatus.UNKNOWN, "servicequotas:ListServiceQuotas is not allowed", quota.advice)
        return Check(title, CheckStatus.UNKNOWN, str(quota), quota.advice)
    wanted = each * (n_workers or 1)
    command = increase_command(quota.code, wanted, region)
    has = f"{quota.limit} instance{'' if quota.limit == 1 else 's'}"
    if quota.limit < each and not without:
        return Check(title, CheckStatus.FAILED, f"{has}, and one job takes {each}", command)
    if quota.limit < each:
        return Check(title, CheckStatus.WARNING, f"{has}: {without}", command)
    if quota.limit < wanted:
        return Check(title, CheckStatus.WARNING, f"{has}: {quota.limit // each} of {n_workers} jobs at once", command)
    return Check(title, CheckStatus.OK, f"{has}: {quota.limit // each} job{'' if quota.limit // each == 1 else 's'} at once")


def check_image(uri: str, facts: Image | None, exists: bool | CallFailure | None, region: str, today: str) -> Check:
    """Return the check of a training image.

    Args:
        uri: of the image.
        facts: the table's row of it; None where it is the user's own.
        exists: whether ECR has it; None where it was not looked up.
        region: of the jobs.
        today: YYYY-MM-DD.
    """
    place, name = ecr_image(uri), masked(uri.rpartition("/")[2])
    if place is not None and place.region != region:
        return Check(
            "image", CheckStatus.FAILED, f"{name} is in {place.region}, but jobs run in {region}", "push it to ECR in the jobs' region"
        )
    if facts is not None:
        text = f"{name}, AWS's own (table of {facts.date})"
        if facts.supported_until and facts.supported_until < today:
            return Check(
                "image", CheckStatus.WARNING, f"{text}, not patched since {facts.supported_until}", "take a newer framework_version"
            )
        return Check("image", CheckStatus.OK, text)
    if place is None:
        return Check(
            "image", CheckStatus.UNKNOWN, f"{name} is not in ECR, so that it cannot be looked up", "SageMaker has to be able to pull it"
        )
    if isinstance(exists, CallFailure):
        if exists.kind is FailureKind.MISSING:
            return Check("image", CheckStatus.FAILED, f"ECR has no {name}", "check repository and tag, or push it")
        return Check(
            "image", CheckStatus.UNKNOWN, f"{name} could not be looked up: {exists}", "the role of the jobs has to be allowed to pull it"
        )
    if exists is None:
        return Check("image", CheckStatus.UNKNOWN, f"{name} was not looked up")
    return Check("image", CheckStatus.OK, f"{name} is in ECR")


def check_price(instance_type: str, price: Price | None, region: str, capped: bool) -> Check:
    """Return the check of a price.

    Args:
        instance_type: whose price.
        price: of an hour; None where it is not known.
        region: of the jobs.
        capped: whether `max_cost` is given, which cannot be kept without a price.
    """
    title = f"price of {instance_type}"
    if price is not None:
        return Check(title, CheckStatus.OK, f"${price.usd_per_hour:g} an hour in {price.region} (as of {price.date})")
    advice = command("prices", "--refresh", "--region", region, instance_type)
    if capped:
        return Check(title, CheckStatus.FAILED, f"not known in {region}, so that max_cost cannot be kept", advice)
    return Check(title, CheckStatus.WARNING, f"not known in {region}: its cost will be unknown, not zero", advice)


def _refused(title: str, failure: CallFailure, what: str = "") -> Check:
    text = f"{what}: {failure}" if what else str(failure)
    return Check(title, CheckStatus.FAILED, text, failure.advice, refused=True)
