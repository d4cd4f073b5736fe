"""What is asked by short jobs: their lives, their words, what they find in their container, what they leave."""

from __future__ import annotations

from typing import Any

from backends.emulator.smoke.account import Account, Observations, error_of, of_job

_ODD_BYTES = r"printf 'tab\011end\ncr\rback\n\n\033[31mred\033[0m\nnul\000end\n\342\202\254 \377\n'"
_LONG_LINE = "head -c 300000 /dev/zero | tr '\\0' 'x'; echo"


def completed(account: Account) -> Observations:
    """Yield what a job shows that prints a metric, leaves a model and ends well."""
    name = account.start("good", "echo loss=0.5; echo weights > /opt/ml/model/w; sleep 1")
    yield "create a name that exists", error_of(lambda: account.start("good", "true"))
    yield from of_job(account, account.wait(name))
    yield "stop a job that is over", error_of(lambda: account.client("sagemaker").stop_training_job(TrainingJobName=name))


def failed(account: Account) -> Observations:
    """Yield what a job shows that writes the failure file, leaves output and exits 3."""
    code = "echo out > /opt/ml/output/data/o; echo weights > /opt/ml/model/w; echo 'no such layer' > /opt/ml/output/failure; exit 3"
    name = account.start("bad", code)
    yield from of_job(account, account.wait(name))
    yield "what is uploaded", account.keys(f"{account.output.rstrip('/')}/{name}/")
    said = account.wait(account.start("mute", "echo last words; exit 4"))
    yield "reason without a failure file", said.get("FailureReason")
    killed = account.wait(account.start("killed", "kill -9 $$"))
    yield "reason of a script that was killed", killed.get("FailureReason")


def stopped(account: Account) -> Observations:
    """Yield what a job shows that is stopped and ends on TERM."""
    name = account.start("long", "trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 1; done")
    account.printed(name, "ready")
    sagemaker = account.client("sagemaker")
    yield "answer", error_of(lambda: sagemaker.stop_training_job(TrainingJobName=name))
    yield "status at once", sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobStatus"]
    yield from of_job(account, account.wait(name))


def over_time(account: Account) -> Observations:
    """Yield what a job shows that runs into its limit and does not mind TERM."""
    code = "trap 'echo told' TERM; echo model > /opt/ml/model/w; while :; do sleep 1; done"
    job = account.wait(account.start("over", code, StoppingCondition={"MaxRuntimeInSeconds": 5}))
    yield "status", [job["TrainingJobStatus"], job["SecondaryStatus"]]
    yield "secondary statuses", [step["Status"] for step in job["SecondaryStatusTransitions"]]
    yield "reason", job.get("FailureReason")
    yield "told once", account.lines(job) == ["told"]
    yield "its model is kept", bool(job.get("ModelArtifacts", {}).get("S3ModelArtifacts"))


def log_bytes(account: Account) -> Observations:
    """Yield how lines of control characters, of no text, of no UTF-8, and a very long one come out of the log."""
    job = account.wait(account.start("bytes", f"{_ODD_BYTES}; {_LONG_LINE}; printf 'without an end'"))
    lines = account.lines(job)
    yield "lines", [line if len(line) < 100 else f"{len(line)} characters" for line in lines]


def container(account: Account) -> Observations:
    """Yield what a script finds around it."""
    code = "env | cut -d= -f1 | grep -E '^(SM_|SAGEMAKER_|TRAINING_|AWS_|DMLC_|OMP_)' | sort; echo; cd /opt/ml && find . -maxdepth 3 | sort"
    job = account.wait(account.start("container", f"{code}; id -u; pwd", HyperParameters={"rate": "0.1"}))
    lines = [account.masked(line, job) for line in account.lines(job)]
    yield "variables and folders", lines


def channels(account: Account) -> Observations:
    """Yield how the data of the three input modes look to a script."""
    for name in ("a", "b"):
        account.put(f"data/{name}", name.encode() * 4)
    modes = {"file": "File", "fast": "FastFile", "pipe": "Pipe"}
    inputs = [_input(account, name, mode) for name, mode in modes.items()]
    look = "cd /opt/ml/input/data; ls -1 . file fast; stat -c '%F %a' file/a fast/a pipe_0; cat file/a fast/b; echo; cat pipe_0; echo"
    job = account.wait(account.start("channels", look, InputDataConfig=inputs))
    yield "status", job["TrainingJobStatus"]
    yield "what is seen", account.lines(job)


def _input(account: Account, name: str, mode: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": account.uri("data/"), "S3DataDistributionType": "FullyReplicated"}
    return {"ChannelName": name, "InputMode": mode, "DataSource": {"S3DataSource": source}}


def checkpoints(account: Account) -> Observations:
    """Yield whether what one job saves last, and one that is killed, is found by the next."""
    config = {"CheckpointConfig": {"S3Uri": account.uri("checkpoints/")}}
    account.wait(
        account.start("save", "echo 1 > /opt/ml/checkpoints/one; mkdir /opt/ml/checkpoints/d; echo 2 > /opt/ml/checkpoints/d/two", **config)
    )
    account.wait(account.start("die", "echo 3 > /opt/ml/checkpoints/three; kill -9 $$", **config))
    yield "in S3", sorted(account.keys(account.uri("checkpoints/")))
    job = account.wait(account.start("load", "cd /opt/ml/checkpoints; find . | sort", **config))
    yield "in the next container", account.lines(job)


def spot(account: Account) -> Observations:
    """Yield the fields of a job on spot instances that nobody took away."""
    limits = {"MaxRuntimeInSeconds": 600, "MaxWaitTimeInSeconds": 1200}
    job = account.wait(account.start("spot", f"sleep {account.spot_s}", EnableManagedSpotTraining=True, StoppingCondition=limits))
    yield "status", [job["TrainingJobStatus"], job["SecondaryStatus"]]
    yield "fields", sorted(name for name in job if name != "ResponseMetadata")
    yield "billed for less", job.get("BillableTimeInSeconds", 0) < job.get("TrainingTimeInSeconds", 0)


def warm_pool(account: Account) -> Observations:
    """Yield what becomes of instances that are kept warm for a minute, with and without a successor."""
    resources = {"ResourceConfig": account.resources(KeepAlivePeriodInSeconds=60)}
    first = account.start("warm-1", "true", **resources)
    account.wait(first)
    yield "after the first", account.wait(first).get("WarmPoolStatus", {}).get("Status")
    second = account.start("warm-2", "true", **resources)
    account.wait(second)
    kept = account.wait(first).get("WarmPoolStatus", {})
    yield "of the first, once it is taken", [kept.get("Status"), sorted(kept)]
    sagemaker = account.client("sagemaker")
    yield "release", error_of(lambda: sagemaker.update_training_job(TrainingJobName=second, ResourceConfig={"KeepAlivePeriodInSeconds": 0}))
    yield "statuses of the second", [step["Status"] for step in account.wait(second)["SecondaryStatusTransitions"]]


def listing(account: Account) -> Observations:
    """Yield the order of a listing, whether a page is cut before its filter, and whether Search finds the jobs."""
    sagemaker = account.client("sagemaker")
    suffix = len(account.tag) + 1
    newest = sagemaker.list_training_jobs(NameContains=account.tag, MaxResults=100)["TrainingJobSummaries"]
    yield "order by default", [job["TrainingJobName"][suffix:] for job in newest]
    page = sagemaker.list_training_jobs(
        NameContains=account.tag, MaxResults=1, StatusEquals="Failed", SortBy="CreationTime", SortOrder="Descending"
    )
    yield "a page cut before its filter", [len(page["TrainingJobSummaries"]), "NextToken" in page]
    expression = {"Filters": [{"Name": "TrainingJobName", "Operator": "Contains", "Value": account.tag}]}
    found = sagemaker.search(Resource="TrainingJob", SearchExpression=expression, MaxResults=100)["Results"]
    yield "found by Search", len(found)
