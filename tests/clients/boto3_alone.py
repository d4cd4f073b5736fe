"""boto3 with the environment alone."""

import io
import os
import urllib.request

import boto3
import checks


def who_am_i():
    assert boto3.client("sts").get_caller_identity()["Account"] == "123456789012"


def a_job_from_creation_to_its_model():
    sagemaker = boto3.client("sagemaker")
    sagemaker.create_training_job(
        TrainingJobName="boto3-1",
        AlgorithmSpecification={
            "TrainingImage": os.environ["IMAGE"],
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["sh", "-c", "echo loss=0.5; echo w > /opt/ml/model/w"],
            "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}],
        },
        RoleArn=os.environ["ROLE"],
        OutputDataConfig={"S3OutputPath": "s3://sagemaker-us-east-1-123456789012/out"},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        StoppingCondition={"MaxRuntimeInSeconds": 60},
    )
    sagemaker.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName="boto3-1", WaiterConfig={"Delay": 1, "MaxAttempts": 60})
    job = sagemaker.describe_training_job(TrainingJobName="boto3-1")
    assert job["TrainingJobStatus"] == "Completed", job.get("FailureReason")
    expression = {"Filters": [{"Name": "Metrics.loss", "Operator": "LessThan", "Value": "0.6"}]}
    assert sagemaker.search(Resource="TrainingJob", SearchExpression=expression)["Results"]


def uploads_in_parts_and_signed_addresses():
    s3 = boto3.client("s3")
    s3.upload_fileobj(io.BytesIO(bytes(20 << 20)), "sagemaker-us-east-1-123456789012", "big")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "sagemaker-us-east-1-123456789012", "Key": "big"})
    with urllib.request.urlopen(url) as answer:
        assert len(answer.read()) == 20 << 20


checks.run(who_am_i, a_job_from_creation_to_its_model, uploads_in_parts_and_signed_addresses)
