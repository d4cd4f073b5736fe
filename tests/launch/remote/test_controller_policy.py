"""The policies of `outrider doctor --policy` against the calls that a launch, and a controller on an emulator, really make."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.emulator.account.quotas_api import QuotasService
from backends.emulator.core.settings import SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA
from backends.sagemaker.admin.iam_policy import PolicyScope, controller_policy_document, policy_document
from backends.sagemaker.aws.iam_operations import CONTROLLER, JOB, OPERATIONS, Target, actions_for
from tests.launch.remote.launch_lab import BUCKET, DEFINITION, PREFIX, LaunchLab
from tests.launch.remote.witness import ACCOUNT, SeenCall, Witness, denied

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TAG = "study"
ROLES = {name: f"arn:aws:iam::{ACCOUNT}:role/{name}" for name in ("jobs", "controllers")}
SCOPE = PolicyScope(role="jobs", controller="controllers", bucket=BUCKET, prefix=PREFIX, region="us-east-1")
FAILING = """
import sys, time
from outrider_report import report
given = dict(word.removeprefix("--").split("=", 1) for word in sys.argv[1:])
if float(given["x"]) > 0.93:
    sys.exit("no such file")
for step in range(3):
    time.sleep(float(given["pause"]))
    report(step=step, loss=float(given["x"]))
"""


def test_every_call_is_allowed_and_every_action_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed trial, warm pools, a tracker, a hand-over, and a person who stops it: between them all that a controller does."""
    witness, listed = Witness(monkeypatch), QuotasService.call

    def call(service: QuotasService, operation: str, request: dict[str, object]) -> dict[str, object]:
        # An account for which nobody ever had a quota changed: its own are not listed, and the defaults are.
        return {"Quotas": []} if operation == "ListServiceQuotas" else listed(service, operation, request)

    monkeypatch.setattr(QuotasService, "call", call)
    quotas = {WARM_POOL_QUOTA.format("*"): 4, SPOT_QUOTA.format("*"): 9, TRAINING_QUOTA.format("*"): 99}
    with LaunchLab(tmp_path, quotas=quotas) as lab:
        own = lab.environ["AWS_ACCESS_KEY_ID"]
        lab.signs_apart()
        witness.calls.clear()  # those by which the lab got ready
        lab.environ |= {"OUTRIDER_ROLE": ROLES["jobs"], "OUTRIDER_CONTROLLER_ROLE": ROLES["controllers"]}
        definition = lab.definition.with_name("failing.yaml")
        definition.with_name("failing.py").write_text(FAILING, encoding="utf-8")
        definition.write_text(DEFINITION.replace("name: toy", "name: failing").replace("run.py", "failing.py"), encoding="utf-8")
        words = ("--track", "sagemaker", "--remote_max_run", "45", "--n_workers", "1", "--set", "pause=4", "--max_num_trials", "9")
        lab.launch(TAG, *words, benchmark=str(definition), methods=("RS",), seeds=1, backend="warm_pool", parallel=1)
        lab.await_that(lambda: len(lab.controllers()) == 2, "it hands over")
        two = lab.controllers()[1]
        lab.await_that(lambda: "trial" in lab.log(two) and {*lab.running()} - {*lab.controllers()}, "its successor has a trial")
        lab.sagemaker.stop_training_job(TrainingJobName=two)
        lab.await_end()
        arns = {name: lab.described(name)["TrainingJobArn"] for name in lab.jobs()}
        tags = {name: {one["Key"]: one["Value"] for one in lab.sagemaker.list_tags(ResourceArn=arn)["Tags"]} for name, arn in arns.items()}
        log = lab.log(two)
    inside, outside = witness.of(own), [call for call in witness.calls if call.access_key != own]
    document = controller_policy_document(SCOPE)
    assert denied(document, inside, tags) == set()
    made = {call.operation for call in inside}
    assert made <= set(CONTROLLER)
    # The service does the rest in the name of any job's role; trials that are endpoints are watched where these are tested.
    of_endpoints = {name for name in CONTROLLER if {grant.target for grant in OPERATIONS[name]} & {Target.ENDPOINTS}}
    of_endpoints |= {"ListEndpoints", "GetMetricStatistics"}
    unused = actions_for(CONTROLLER) - actions_for(made) - {grant.action for grant in JOB}
    assert unused <= actions_for(of_endpoints), log[-3000:]
    assert {call.asked["RoleArn"] for call in inside if call.operation == "CreateTrainingJob"} == {*ROLES.values()}
    # The launcher's own: what the lab looks at besides is a part of it.
    assert denied(policy_document(SCOPE), outside, tags) == set()
    # A policy that forgets the controllers' role, or jobs without the tag, is found out.
    assert denied(controller_policy_document(PolicyScope(role="jobs", bucket=BUCKET, prefix=PREFIX)), inside, tags) == {
        ("CreateTrainingJob", "iam:PassRole")
    }
    assert ("StopTrainingJob", "sagemaker:StopTrainingJob") in denied(document, inside, {})


def test_a_job_of_somebody_else_is_neither_stopped_nor_created() -> None:
    document = controller_policy_document(SCOPE)
    foreign = {"TrainingJobName": "theirs"}
    create = {"TrainingJobName": "mine", "RoleArn": ROLES["jobs"], "Tags": [{"Key": "team", "Value": "x"}]}
    calls = [SeenCall("k", "StopTrainingJob", foreign, 200), SeenCall("k", "CreateTrainingJob", create, 200)]
    calls.append(SeenCall("k", "CreateTrainingJob", {**create, "RoleArn": f"arn:aws:iam::{ACCOUNT}:role/admin"}, 200))
    assert denied(document, calls, {"theirs": {"team": "x"}}) == {
        ("StopTrainingJob", "sagemaker:StopTrainingJob"),
        ("CreateTrainingJob", "sagemaker:CreateTrainingJob"),
        ("CreateTrainingJob", "iam:PassRole"),
    }
