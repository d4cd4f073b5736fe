"""Every operation of botocore's models is served, handed to moto by name, or refused; none falls through."""

from __future__ import annotations

import json

import botocore.session
import pytest

from backends.emulator.imitated import HANDED, SERVED, WHOLE, operations_table, unknown
from tests.backends.emulator.asking import ask_signed

SESSION = botocore.session.get_session()
SENTENCE = "it runs training jobs and endpoints, and says of nothing else that it has run"
JSON_SERVICES = ("sagemaker", "logs", "pricing", "service-quotas")


def model(service):
    return SESSION.get_service_model(service)


@pytest.mark.parametrize("service", [name for name in SERVED if name != "iam"])
def test_what_is_on_the_list_is_in_the_model(service):
    assert {*SERVED[service], *HANDED.get(service, ())} <= {*model(service).operation_names}


def test_services_that_moto_answers_are_called_as_requests_are_signed():
    signed = {model(name).signing_name for name in SESSION.get_available_services()}
    assert {*WHOLE} <= signed


def test_what_would_have_to_run_is_not_handed_on():
    words = ("Tuning", "Processing", "Transform", "AutoML", "Pipeline", "Cluster", "Notebook", "Compilation", "Inference")
    handed = {name for name in HANDED["sagemaker"] if not name.endswith("LifecycleConfig")}
    assert [
        name for name in handed if any(word in name for word in words) or name in ("CreateEndpoint", "CreateModel", "CreateTrainingJob")
    ] == []


def ask(bench, service, operation):
    """Return (status, code, message) of a request with nothing in it."""
    about = model(service)
    url = f"{bench.emulator.endpoint_url}/"
    if about.metadata["protocol"] == "json":
        headers = {"X-Amz-Target": f"{about.metadata['targetPrefix']}.{operation}", "Content-Type": "application/x-amz-json-1.1"}
        status, answer, _ = ask_signed(bench.emulator.credentials, url, "POST", b"{}", headers, service=about.signing_name)
        found = json.loads(answer) if answer else {}
        return status, found.get("__type", ""), found.get("message") or found.get("Message") or ""
    headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    body = f"Action={operation}&Version={about.api_version}".encode()
    status, answer, _ = ask_signed(bench.emulator.credentials, url, "POST", body, headers, service=about.signing_name)
    text = answer.decode()
    return status, text.partition("<Code>")[2].partition("</Code>")[0], text.partition("<Message>")[2].partition("</Message>")[0]


@pytest.mark.slow
@pytest.mark.parametrize("service", [*JSON_SERVICES, "sts"])
def test_every_operation_is_served_handed_on_or_refused_with_a_sentence(bench, service):
    refused = unknown("x", "query" if service == "sts" else "json").code
    wrong = {}
    for operation in model(service).operation_names:
        status, code, message = ask(bench, service, operation)
        known = operation in SERVED[service] or operation in HANDED.get(service, ())
        as_unknown = (status, code) == (400, refused) and SENTENCE in message
        # A request with nothing in it may be wrong, or be for other resources than those that are served.
        if known == as_unknown or (known and status >= 500):
            wrong[operation] = (status, code, message)
    allowed = {"pricing": SERVED["pricing"], "service-quotas": SERVED["service-quotas"], "sagemaker": {"Search"}}.get(service, set())
    assert {name: said for name, said in wrong.items() if name not in allowed} == {}


@pytest.mark.slow
@pytest.mark.parametrize("service", ["lambda", "batch", "stepfunctions", "braket", "sagemaker-featurestore-runtime", "s3control"])
def test_services_that_nobody_named_are_refused_at_every_address(bench, service):
    about = model(service)
    for name in about.operation_names[:20]:
        operation = about.operation_model(name)
        path = operation.http["requestUri"].split("?")[0].replace("{", "").replace("}", "").replace("+", "")
        url, method = f"{bench.emulator.endpoint_url}{path}", operation.http["method"]
        status, answer, headers = ask_signed(bench.emulator.credentials, url, method, b"", {}, service=about.signing_name)
        assert status >= 400, name
        assert SENTENCE in answer.decode() or operation.http["method"] == "HEAD" or about.signing_name == "s3", (name, answer)
        assert not [header for header in headers if header.startswith("access-control")]


@pytest.mark.slow
def test_what_moto_does_not_know_of_a_service_that_it_answers_is_refused_too(bench):
    assert ask(bench, "ecr", "GetAccountSetting")[1] == "UnknownOperationException"
    assert ask(bench, "iam", "GenerateServiceLastAccessedDetails")[1] == "InvalidAction"


def test_the_table_names_every_operation_once():
    text = "\n".join(operations_table())
    assert text.count("CreateTrainingJob") == 1
    assert "| iam | GetRole, SimulatePrincipalPolicy | what moto knows |" in text
