"""What is asked by requests alone, which start nothing and cost nothing."""

from __future__ import annotations

from typing import Any

from backends.emulator.s3.store import split_uri
from backends.emulator.smoke.account import Account, Observations, error_of


def refusals(account: Account) -> Observations:
    """Yield codes and words of requests that are refused."""
    sagemaker = account.client("sagemaker")
    unknown = f"{account.tag}-none"
    yield "describe an unknown job", error_of(lambda: sagemaker.describe_training_job(TrainingJobName=unknown))
    yield "stop an unknown job", error_of(lambda: sagemaker.stop_training_job(TrainingJobName=unknown))
    wrong: dict[str, dict[str, Any]] = {
        "a name with an underscore": {"TrainingJobName": "bad_name"},
        "spot without a wait time": {"EnableManagedSpotTraining": True},
        "a runtime of 29 days": {"StoppingCondition": {"MaxRuntimeInSeconds": 29 * 86400}},
        "a duplicate tag": {"Tags": [{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]},
        "a long hyperparameter": {"HyperParameters": {"k": "v" * 2501}},
        "keep-alive of 3601 s": {"ResourceConfig": account.resources(KeepAlivePeriodInSeconds=3601)},
        "a role that is none": {"RoleArn": "a-role-that-is-no-arn-at-all"},
        "an output that is no URI": {"OutputDataConfig": {"S3OutputPath": "no-uri"}},
        "two channels of one name": {"InputDataConfig": [_channel(account, "a"), _channel(account, "a")]},
    }
    for what, changes in wrong.items():
        request = account.request("refused", "true", **changes)
        yield f"create with {what}", error_of(lambda request=request: sagemaker.create_training_job(**request))  # type: ignore[misc]


def _channel(account: Account, name: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": account.uri("data/"), "S3DataDistributionType": "FullyReplicated"}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}}


def conditional_writes(account: Account) -> Observations:
    """Yield what S3 answers writes whose condition does not hold."""
    s3 = account.client("s3")
    bucket, key = split_uri(account.uri("condition"))
    first = s3.put_object(Bucket=bucket, Key=key, Body=b"1", IfNoneMatch="*")["ETag"]
    yield "if none, where there is one", error_of(lambda: s3.put_object(Bucket=bucket, Key=key, Body=b"2", IfNoneMatch="*"))
    s3.put_object(Bucket=bucket, Key=key, Body=b"2", IfMatch=first)
    yield "if match, of an earlier content", error_of(lambda: s3.put_object(Bucket=bucket, Key=key, Body=b"3", IfMatch=first))
    yield "if match, where there is none", error_of(lambda: s3.put_object(Bucket=bucket, Key=f"{key}-none", Body=b"3", IfMatch=first))
    yield "delete if match, of an earlier content", error_of(lambda: s3.delete_object(Bucket=bucket, Key=key, IfMatch=first))
    s3.delete_object(Bucket=bucket, Key=key)


def quotas_and_prices(account: Account) -> Observations:
    """Yield the forms in which quotas and prices are told."""
    found = account.client("service-quotas").list_service_quotas(ServiceCode="sagemaker", MaxResults=10)["Quotas"]
    yield "fields of a quota", sorted({name for quota in found for name in quota})
    import json

    filters = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in (
        ("instanceName", account.instance_type), ("regionCode", "us-east-1"), ("component", "Training"),
    )]  # fmt: skip
    products = account.client("pricing").get_products(ServiceCode="AmazonSageMaker", Filters=filters)["PriceList"]
    yield "products of an instance type", len(products)
    for product in map(json.loads, products[:1]):
        terms = product["terms"]["OnDemand"].values()
        units = sorted({dimension["unit"] for term in terms for dimension in term["priceDimensions"].values()})
        yield "unit of a price", units
