"""The network's template: whole, what a controller needs is in it, and a definition takes its outputs as they are."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from backends.sagemaker.admin.cloudformation import template
from backends.sagemaker.admin.network_template import network_data, network_template
from backends.sagemaker.aws.network_needs import INTERFACES
from backends.sagemaker.block import SageMakerBlock
from definitions.schema import BenchmarkDefinition
from tests.backends.sagemaker.admin.test_cloudformation import PSEUDO, references

IDS = {
    "SubnetA": "subnet-0a1b2c3d", "SubnetB": "subnet-4e5f6a7b", "JobGroup.GroupId": "sg-0123abcd",
    "Lustre": "fs-0123456789abcdef0", "Lustre.LustreMountName": "abcdefgh",
}  # fmt: skip


def filled(output: dict[str, Any]) -> str:
    """Return an output as CloudFormation shows it of a stack whose resources have these ids."""
    return re.sub(r"\$\{([^}]+)\}", lambda found: IDS[found[1]], output["Value"]["Fn::Sub"])


def names_in(value: Any) -> Iterator[str]:
    for name in references(value):
        yield name.partition(".")[0]


def test_it_is_yaml_and_refers_to_what_it_has_alone():
    data = network_data()
    assert yaml.safe_load(network_template()) == data
    assert set(names_in(data)) <= {*data["Resources"], *data["Parameters"], *PSEUDO}
    used = {one["Condition"] for part in ("Resources", "Outputs") for one in data[part].values() if "Condition" in one}
    assert used <= set(data["Conditions"])


def test_what_there_is_without_the_internet_needs_nothing_of_it():
    resources = network_data()["Resources"]
    out = {name for name, one in resources.items() if one.get("Condition") == "HasInternet"}
    assert {"Nat", "InternetGateway", "RouteOut"} <= out
    assert not {name for key, one in resources.items() if key not in out for name in names_in(one)} & out


def test_jobs_reach_each_service_that_a_controller_calls_by_its_usual_name():
    resources = network_data()["Resources"]
    endpoints = {one["Properties"]["ServiceName"]["Fn::Sub"].rpartition("${AWS::Region}.")[2]: one["Properties"]
                 for one in resources.values() if one["Type"] == "AWS::EC2::VPCEndpoint"}  # fmt: skip
    assert set(INTERFACES) == {"sagemaker.api", "logs", "sts"}
    assert {"s3", *INTERFACES} <= set(endpoints)
    assert all(endpoints[service]["PrivateDnsEnabled"] for service in INTERFACES)
    assert resources["Vpc"]["Properties"]["EnableDnsHostnames"] is True
    (allowed,) = resources["EndpointGroup"]["Properties"]["SecurityGroupIngress"]
    assert (allowed["FromPort"], allowed["ToPort"]) == (443, 443)
    assert allowed["SourceSecurityGroupId"] == {"Fn::GetAtt": ["JobGroup", "GroupId"]}


def test_a_definition_takes_its_outputs_as_they_are():
    found = {name: filled(one) for name, one in network_data()["Outputs"].items()}
    text = f"""
name: mine
script: t.py
space: {{x: {{uniform: [0, 1]}}, ingestion: fsx}}
objectives: {{loss: min}}
datasets:
  mounted: {found["Dataset"]}
sagemaker: {{subnets: {found["FileSystemSubnets"]}, security_groups: {found["SecurityGroups"]}}}
remote: {{subnets: {found["Subnets"]}, security_groups: {found["SecurityGroups"]}}}
"""
    definition = BenchmarkDefinition.model_validate(yaml.safe_load(text))
    assert definition.remote.subnets == ("subnet-0a1b2c3d", "subnet-4e5f6a7b")
    assert definition.block("sagemaker", SageMakerBlock).security_groups == ("sg-0123abcd",)
    assert definition.datasets["mounted"].uri == "fsx://fs-0123456789abcdef0/abcdefgh"


MLFLOW = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-tracking-server/team"


@pytest.mark.slow
def test_cfn_lint_passes(tmp_path: Path) -> None:
    texts = {
        "account": template(),
        "network": network_template(),
        "all": template("team/x", ("s3://photos/small", "s3://photos"), vpc=True, mlflow=(MLFLOW,)),
        "wrong": network_template().replace("AWS::EC2::Subnet\n", "AWS::EC2::Subnett\n"),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    regions = ["us-east-1", "eu-central-1", "ap-northeast-1"]

    def linted(*names: str) -> subprocess.CompletedProcess[str]:
        words = [
            str(Path(sys.executable).with_name("cfn-lint")),
            "--regions",
            *regions,
            "--",
            *(str(tmp_path / f"{name}.yaml") for name in names),
        ]
        return subprocess.run(words, capture_output=True, encoding="utf-8", timeout=120, check=False)

    found = linted("account", "network", "all")
    assert (found.returncode, found.stdout) == (0, ""), found.stdout + found.stderr
    assert "Subnett" in linted("wrong").stdout
