"""A CloudFormation template of a network for jobs: VPC, endpoints of the services that controllers and trials call, FSx for Lustre."""

from __future__ import annotations

from typing import Any

from backends.sagemaker.aws.network_needs import HELPFUL, INTERFACES

_HEAD = """\
# Deploy with:
#   aws cloudformation deploy --stack-name outrider-network --template-file network.yaml [--parameter-overrides Internet=yes FileSystem=no]
# then put the outputs into definitions as they are: Subnets and SecurityGroups as subnets and security_groups of the blocks sagemaker and
# remote, Dataset as one of `datasets`. Jobs that mount it run in FileSystemSubnets. Without Internet=yes nothing is installed in jobs: give
# an image that has what they need. Endpoints, the gateway of Internet=yes and the file system are billed for as long as they are there.
"""
_PORT_HTTPS = 443


def network_template() -> str:
    """Return the template as YAML."""
    import yaml

    return _HEAD + str(yaml.safe_dump(network_data(), sort_keys=False, width=120))


def network_data() -> dict[str, Any]:
    """Return the template as plain data, intrinsic functions in their long form."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Network of Outrider's jobs",
        "Parameters": _PARAMETERS,
        "Conditions": {
            "HasInternet": {"Fn::Equals": [{"Ref": "Internet"}, "yes"]},
            "HasFileSystem": {"Fn::Equals": [{"Ref": "FileSystem"}, "yes"]},
            "HasShownData": {"Fn::And": [{"Condition": "HasFileSystem"}, {"Fn::Not": [{"Fn::Equals": [{"Ref": "DataUri"}, ""]}]}]},
        },
        "Resources": {**_vpc(), **_endpoints(), **_internet(), **_file_system()},
        "Outputs": _outputs(),
    }


_PARAMETERS: dict[str, Any] = {
    "Cidr": {
        "Type": "String",
        "Default": "10.20.0.0/16",
        "AllowedPattern": r"^[0-9.]+/(1[6-9]|2[0-2])$",
        "Description": "addresses of the network",
    },
    "Internet": {
        "Type": "String",
        "Default": "no",
        "AllowedValues": ["yes", "no"],
        "Description": "whether jobs reach the internet, to install packages",
    },
    "FileSystem": {"Type": "String", "Default": "yes", "AllowedValues": ["yes", "no"], "Description": "whether there is FSx for Lustre"},
    "FileSystemGiB": {"Type": "Number", "Default": 1200, "MinValue": 1200, "Description": "its size: 1200, or a multiple of 2400"},
    "DataUri": {
        "Type": "String",
        "Default": "",
        "AllowedPattern": "^(s3://.+)?$",
        "Description": "s3:// URI of data that it shows; none by default",
    },
}


def _ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def _named(kind: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", **more, "Properties": properties}


def _subnet(number: int, zone: int) -> dict[str, Any]:
    # Four equal parts of the network: two for jobs, one for the gateway to the internet, one left.
    parts = {"Fn::Cidr": [{"Fn::GetAtt": ["Vpc", "CidrBlock"]}, 4, 10]}
    zones = {"Fn::Select": [zone, {"Fn::GetAZs": ""}]}
    return {"VpcId": _ref("Vpc"), "AvailabilityZone": zones, "CidrBlock": {"Fn::Select": [number, parts]}}


def _vpc() -> dict[str, Any]:
    group = {"VpcId": _ref("Vpc"), "GroupDescription": "jobs: among themselves, to the file system, and out"}
    itself = {"GroupId": {"Fn::GetAtt": ["JobGroup", "GroupId"]}, "IpProtocol": "-1"}
    found = {
        "Vpc": _named("EC2::VPC", {"CidrBlock": _ref("Cidr"), "EnableDnsSupport": True, "EnableDnsHostnames": True}),
        "RouteTable": _named("EC2::RouteTable", {"VpcId": _ref("Vpc")}),
        "JobGroup": _named("EC2::SecurityGroup", group),
        "JobsAmongThemselves": _named(
            "EC2::SecurityGroupIngress", {**itself, "SourceSecurityGroupId": {"Fn::GetAtt": ["JobGroup", "GroupId"]}}
        ),
    }
    for number, name in enumerate(("SubnetA", "SubnetB")):
        found[name] = _named("EC2::Subnet", _subnet(number, number))
        found[f"{name}Routes"] = _named("EC2::SubnetRouteTableAssociation", {"SubnetId": _ref(name), "RouteTableId": _ref("RouteTable")})
    return found


def _endpoints() -> dict[str, Any]:
    jobs = {"IpProtocol": "tcp", "FromPort": _PORT_HTTPS, "ToPort": _PORT_HTTPS}
    group = {
        "VpcId": _ref("Vpc"),
        "GroupDescription": "endpoints, which jobs call",
        "SecurityGroupIngress": [{**jobs, "SourceSecurityGroupId": {"Fn::GetAtt": ["JobGroup", "GroupId"]}}],
    }
    found = {
        "EndpointGroup": _named("EC2::SecurityGroup", group),
        "S3Endpoint": _named(
            "EC2::VPCEndpoint",
            {
                "VpcId": _ref("Vpc"),
                "VpcEndpointType": "Gateway",
                "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
                "RouteTableIds": [_ref("RouteTable")],
            },
        ),
    }
    for service in (*INTERFACES, *HELPFUL):
        name = "".join(part.title() for part in service.split(".")) + "Endpoint"
        found[name] = _named(
            "EC2::VPCEndpoint",
            {
                "VpcId": _ref("Vpc"),
                "VpcEndpointType": "Interface",
                "ServiceName": {"Fn::Sub": f"com.amazonaws.${{AWS::Region}}.{service}"},
                "PrivateDnsEnabled": True,
                "SubnetIds": [_ref("SubnetA"), _ref("SubnetB")],
                "SecurityGroupIds": [_ref("EndpointGroup")],
            },
        )
    return found


def _internet() -> dict[str, Any]:
    everywhere = {"DestinationCidrBlock": "0.0.0.0/0"}
    out = {
        "InternetGateway": _named("EC2::InternetGateway", {}),
        "GatewayOfVpc": _named("EC2::VPCGatewayAttachment", {"VpcId": _ref("Vpc"), "InternetGatewayId": _ref("InternetGateway")}),
        "PublicSubnet": _named("EC2::Subnet", _subnet(2, 0)),
        "PublicRouteTable": _named("EC2::RouteTable", {"VpcId": _ref("Vpc")}),
        "PublicSubnetRoutes": _named(
            "EC2::SubnetRouteTableAssociation", {"SubnetId": _ref("PublicSubnet"), "RouteTableId": _ref("PublicRouteTable")}
        ),
        "PublicRoute": _named(
            "EC2::Route",
            {**everywhere, "RouteTableId": _ref("PublicRouteTable"), "GatewayId": _ref("InternetGateway")},
            DependsOn="GatewayOfVpc",
        ),
        "Address": _named("EC2::EIP", {"Domain": "vpc"}, DependsOn="GatewayOfVpc"),
        "Nat": _named("EC2::NatGateway", {"SubnetId": _ref("PublicSubnet"), "AllocationId": {"Fn::GetAtt": ["Address", "AllocationId"]}}),
        "RouteOut": _named("EC2::Route", {**everywhere, "RouteTableId": _ref("RouteTable"), "NatGatewayId": _ref("Nat")}),
    }
    return {name: {"Type": one["Type"], "Condition": "HasInternet", **one} for name, one in out.items()}


def _file_system() -> dict[str, Any]:
    properties = {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageCapacity": _ref("FileSystemGiB"),
        "SubnetIds": [_ref("SubnetA")],
        "SecurityGroupIds": [_ref("JobGroup")],
        "LustreConfiguration": {"DeploymentType": "SCRATCH_2"},
    }
    data = {
        "FileSystemId": _ref("Lustre"),
        "FileSystemPath": "/data",
        "DataRepositoryPath": _ref("DataUri"),
        "BatchImportMetaDataOnCreate": True,
    }
    return {
        "Lustre": _named("FSx::FileSystem", properties, Condition="HasFileSystem"),
        "Data": _named("FSx::DataRepositoryAssociation", data, Condition="HasShownData"),
    }


def _outputs() -> dict[str, Any]:
    dataset = "{type: filesystem, kind: fsx, id: ${Lustre}, directory: /${Lustre.LustreMountName}}"
    return {
        "Subnets": {"Description": "subnets of the blocks sagemaker and remote", "Value": {"Fn::Sub": '["${SubnetA}", "${SubnetB}"]'}},
        "SecurityGroups": {
            "Description": "security_groups of the blocks sagemaker and remote",
            "Value": {"Fn::Sub": '["${JobGroup.GroupId}"]'},
        },
        "FileSystemSubnets": {
            "Condition": "HasFileSystem",
            "Description": "subnets of jobs that mount the file system, which is in this one",
            "Value": {"Fn::Sub": '["${SubnetA}"]'},
        },
        "Dataset": {
            "Condition": "HasFileSystem",
            "Description": "the file system as one of `datasets`",
            "Value": {"Fn::Sub": dataset},
        },
    }
