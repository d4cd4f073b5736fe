"""What the emulator imitates, what it hands to moto by name, and what it refuses: the list that its router and the README's table go by."""

from __future__ import annotations

from collections.abc import Mapping

from backends.emulator.http.errors import ServiceError
from backends.emulator.s3.operations import PARAMETERS

_PLAIN = ("Create", "Describe", "List", "Delete")

_GROUPS = "CreateLogGroup DeleteLogGroup CreateLogStream DeleteLogStream PutRetentionPolicy DeleteRetentionPolicy"
_JOBS = "CreateTrainingJob DescribeTrainingJob ListTrainingJobs StopTrainingJob UpdateTrainingJob DeleteTrainingJob"
_QUOTAS = "ListServiceQuotas GetServiceQuota ListAWSDefaultServiceQuotas GetAWSDefaultServiceQuota ListServices"
_EVENTS = "PutLogEvents GetLogEvents FilterLogEvents DescribeLogStreams"


def _kept(*things: str) -> frozenset[str]:
    return frozenset(f"{verb}{thing}{'s' if verb == 'List' else ''}" for thing in things for verb in _PLAIN)


_ENDPOINTS = _kept("Model", "EndpointConfig", "Endpoint")
_EXPERIMENTS = _kept("Experiment", "Trial", "TrialComponent") | {
    *("UpdateTrialComponent", "AssociateTrialComponent", "DisassociateTrialComponent")
}
SERVED: Mapping[str, frozenset[str]] = {
    "sagemaker": frozenset({*_JOBS.split(), *_EXPERIMENTS, *_ENDPOINTS, "Search", "AddTags", "ListTags", "DeleteTags"}),
    "logs": frozenset({"DescribeLogGroups", "DescribeLogStreams", "GetLogEvents", "FilterLogEvents", "DeleteLogStream"}),
    "pricing": frozenset({"GetProducts", "GetAttributeValues", "DescribeServices"}),
    "service-quotas": frozenset(_QUOTAS.split()),
    "sts": frozenset({"GetCallerIdentity", "AssumeRole", "GetSessionToken"}),
    "iam": frozenset({"GetRole", "SimulatePrincipalPolicy"}),
    "sagemaker-metrics": frozenset({"BatchPutMetrics"}),
    "sagemaker-runtime": frozenset({"InvokeEndpoint"}),
    "s3": frozenset(PARAMETERS),
}
"""Operations that are imitated, by botocore's name of the service. What is not on this list is answered by nobody here."""
HANDED: Mapping[str, frozenset[str]] = {
    "sagemaker": (
        _kept("ModelPackageGroup", "ModelPackage", "NotebookInstanceLifecycleConfig")
        - {"DeleteModelPackageGroup", "DeleteModelPackage", "ListNotebookInstanceLifecycleConfigs"}
    )
    | {"UpdateModelPackage", "AddTags", "ListTags", "DeleteTags"},
    "logs": frozenset({*_GROUPS.split(), *_EVENTS.split()}),
}
"""Operations of services that are imitated for the rest, by botocore's name: mere bookkeeping, which moto does. Nothing of it runs."""
WHOLE: Mapping[str, str] = {
    "iam": "IAM",
    "ecr": "ECR",
    "monitoring": "CloudWatch",
    "ec2": "EC2",
    "kms": "KMS",
    "secretsmanager": "Secrets Manager",
    "ssm": "Systems Manager",
    "dynamodb": "DynamoDB",
    "sqs": "SQS",
    "sns": "SNS",
    "events": "EventBridge",
}
"""Services that moto answers as far as it knows their operations, by the name that requests are signed for, and how they are called."""

ROWS: Mapping[str, tuple[str, ...]] = {
    "imitated": (
        "Create, Describe, List (page cut before StatusEquals), Stop, Update, Delete, tags, Search, also by `Metrics.NAME`",
        "model and documented limits",
        "/opt/ml, `SM_*`, script mode with torchrun, and mpirun on one host",
        "requirements.txt, which is checked, and installed with `--install_requirements`",
        "packages that a job installs, which are gone with it",
        "File, FastFile, Pipe (RecordIO, gzip, shuffle), sharding, manifests",
        "several hosts",
        "checkpoints",
        "TERM, grace, KILL",
        "MaxRuntime, MaxWait, retries, spot, warm pools with cache",
        "quotas",
        "models, endpoint configurations and endpoints: Create, Describe, List, Delete, tags; Creating, InService, Failed with its reason, "
        "Deleting, with the quota of endpoints",
        "InvokeEndpoint with TargetModel: archives of S3 loaded by a server of models on this machine, within the instance's memory; "
        "413, 424, 429, 503 and ValidationError; ModelLatency, OverheadLatency, ModelLoadingWaitTime and ModelCacheHit in CloudWatch",
        "jobs of `trtexec`, by a stand-in that reads its arguments and the ONNX file and writes what nothing can serve",
        "metrics by regex, in Describe, Search and CloudWatch",
        "logs",
        "system profile of CPU, memory, disk, network",
        "S3 with uploads in parts and the rules of buckets' names",
        "signatures of version 4, in headers, addresses and chunks, and temporary credentials",
        "GetProducts",
        "Service Quotas",
        "SageMaker Experiments, with components of jobs, names once, 50 components a trial, 300 trials an experiment, BatchPutMetrics",
    ),
    "not imitated": (
        "images (give ContainerEntrypoint, script mode, or `Settings.images`)",
        "file system and augmented-manifest sources",
        "VPC, KMS, IAM permissions",
        "disk size",
        "MaxPendingTime",
        "debugger rules",
        "several variants, serverless and asynchronous endpoints, their scaling and updates, inference components, data capture",
        "TensorRT: nothing here makes or serves an engine",
        "GPU profile",
        "other launchers of `distribution=`",
        "serverless jobs, training plans",
        "S3 versions, tags, access lists, keys of customers, uploads by HTML forms, and whatever else a sub-resource names",
        "all that is neither training job nor endpoint: tuning, processing, transform, AutoML, pipelines, notebooks, clusters, which "
        "are refused as actions that the service does not know",
        "checkpoint paths outside /opt/ml",
        "log filters other than plain and optional terms",
        "CloudWatch's metrics of hosts, and those of jobs of an earlier emulator on the folder",
    ),
    "beyond the real one": (
        "`SM_*` is set for ContainerEntrypoint jobs too",
        "hosts share the loopback",
        "log tokens are in order of arrival",
    ),
    "only read in documentation or public reports": (
        "secondary statuses and their words",
        '"Requested resource not found." as ValidationException',
        "CapacityError on create",
        "an endpoint that is being created cannot be deleted; words of endpoints' errors and reasons",
        "newest first by default in List",
        "keep-alive at most 3600 s (the model says 21600)",
        "spot billed at 0.3",
        "output uploaded on failure",
        "control characters in logs as `#011`",
        "forms of log streams, profiles, products and quotas",
    ),
}
"""What the README says of the emulator, by row."""


def unknown(operation: str, protocol: str = "json") -> ServiceError:
    """Return what a service answers an action that it does not know, with a sentence of ours.

    Args:
        operation: its name, or what the request says in place of one.
        protocol: `json` or `query`, whose error codes differ.
    """
    code = "InvalidAction" if protocol == "query" else "UnknownOperationException"
    return ServiceError(
        code, f"The emulator does not imitate {operation}: it runs training jobs and endpoints, and says of nothing else that it has run."
    )


def readme_rows() -> list[str]:
    """Return the rows of the README's table."""
    return [f"| {name} | {'; '.join(texts)} |" for name, texts in ROWS.items()]


def operations_table() -> list[str]:
    """Return a table of all operations that are answered, as lines."""
    lines = ["| service | imitated | handed to moto, which keeps it and runs nothing |", "|---|---|---|"]
    for service in SERVED:
        handed = sorted(HANDED.get(service, frozenset()) - SERVED[service])
        kept = "what moto knows" if service in WHOLE else ", ".join(handed)
        lines.append(f"| {service} | {', '.join(sorted(SERVED[service]))} | {kept} |")
    others = ", ".join(name for service, name in WHOLE.items() if service not in SERVED)
    return [*lines, f"| {others} | | what moto knows |"]
