"""Endpoint back-ends on an emulator of their own, with one script that behaves as its first argument says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backends.adopted import AdoptedJob
from backends.backend_context import BackendContext
from backends.deployment import Deployment, ModelPackage, Tensor
from backends.emulator import Emulator, Settings
from backends.endpoint.backend import EndpointBackend
from backends.events import Accepted, Event, Noted, Reported, Started
from backends.job_spec import JobSpec, Limits
from backends.registry import make_backend
from definitions.schema import BenchmarkDefinition
from tests.backends.contract import of_job
from tests.backends.emulator.asking import control
from tests.backends.sagemaker.cloud_bench import SCRIPT
from tests.backends.serving.onnx_packages import package

CALLS = """
elif kind == "calls":
    import boto3
    from urllib.parse import urlsplit
    url = urlsplit(os.environ["OUTRIDER_ENDPOINT_URL"])
    region = os.environ["OUTRIDER_ENDPOINT_REGION"]
    runtime = boto3.client("sagemaker-runtime", endpoint_url=f"{url.scheme}://{url.netloc}", region_name=region)
    told = json.load(open(os.environ["OUTRIDER_ENDPOINT_TARGETS"]))
    body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1.0] * 4}]})
    for number, one in enumerate(told["targets"], 1):
        named = {"TargetModel": one["target"]} if one["target"] else {}
        answer = runtime.invoke_endpoint(EndpointName=url.path.split("/")[2], Body=body, ContentType="application/json", **named)
        first = json.loads(answer["Body"].read())["outputs"][0]["data"][0]
        left = float(os.environ["OUTRIDER_ENDPOINT_LEFT_S"])
        report(epoch=number, first=first, has_status="OUTRIDER_ENDPOINT_STATUS_URL" in os.environ, left=left)
elif kind == "saves_first":
    # Whoever is killed between a report and its checkpoint reports twice: what is known is saved first.
    path = checkpoint_dir() / "epoch"
    done = int(path.read_text()) if path.exists() else 0
    for epoch in range(done + 1, 7):
        path.write_text(str(epoch))
        report(epoch=epoch)
        time.sleep(0.3)
"""


class EndpointBench:
    """Makes back-ends and jobs.

    Args:
        folder: temporary folder.
        settings: of the emulator; `faults`: of the emulator; `block`: of the definition.
        backend: `sagemaker` or `warm_pool`.
        exclusive: whether no two loads run side by side.
        given: of the definition, in place of what it has.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings | None = None,
        faults: Any = None,
        block: Any = None,
        backend: str = "sagemaker",
        exclusive: bool = False,
        **given: Any,
    ) -> None:
        self.folder, self.name = folder, backend
        self.emulator = Emulator(folder / "emulator", settings=settings, faults=faults)
        self.source = folder / "source"
        self.source.mkdir(exist_ok=True)
        (self.source / "run.py").write_text(SCRIPT + CALLS)
        self.archive = package(folder / "linear.tar.gz", 3.0)
        self.definition = BenchmarkDefinition.model_validate(
            {
                "name": "bench",
                "script": "run.py",
                "source_dir": str(self.source),
                "objectives": {"loss": "min"},
                "space": {"kind": {"choice": ["reports3"]}},
                "arguments": {"instance_type": "ml.m5.xlarge"},
                "models": {"linear": {"type": "small_cnn"}},
                "endpoint": {"mode": "multi", "server": "ort"},
                "exclusive": exclusive,
                backend: {"bucket": "bench", **(block or {})},
                **given,
            }
        )

    def __enter__(self) -> EndpointBench:
        self.emulator.__enter__()
        self.emulator.create_bucket("bench")
        self.sagemaker = self.emulator.client("sagemaker")
        self.environ = {**os.environ, **self.emulator.environment, "OUTRIDER_LEASES": str(self.folder / "leases")}
        return self

    def __exit__(self, *error: Any) -> None:
        self.emulator.__exit__(*error)

    def backend(self, name: str = "experiment", prefix: str = "x") -> EndpointBackend:
        """Return a back-end, a further controller of the same experiment where the name is that of an earlier one."""
        context = BackendContext(self.definition, self.folder / name, 0, self.environ, "tag", prefix)
        found = make_backend(self.name, context)
        assert isinstance(found, EndpointBackend)
        return found

    def deployment(self, mode: str = "multi", copies: int = 2, **fields: Any) -> Deployment:
        """Return a deployment of a model whose answers are three times its inputs."""
        tensors = (Tensor("x", "FP32", (4,)),), (Tensor("y", "FP32", (4,)),)
        one = ModelPackage("linear", str(self.archive), "", "0" * 64, "onnx", *tensors, 8)
        return Deployment((one,), mode, "ort", copies, "ml.m5.xlarge", **fields)

    def job(self, kind: str, name: str, max_run_s: float = 120.0, deployment: Deployment | None = None, **fields: Any) -> JobSpec:
        """Return a job of one of the script's kinds; its name begins with the experiment's prefix."""
        given: dict[str, Any] = {
            "name": name,
            "trial": 0,
            "attempt": 1,
            "script": str(self.source / "run.py"),
            "arguments": ("--kind", kind),
            "instance_type": "ml.m5.xlarge",
            "configuration": {"kind": kind},
            "checkpoint": name,
            "limits": Limits(max_run_s, 2.0),
            "endpoint": deployment or self.deployment(),
        }
        return JobSpec(**(given | fields))

    def adopted(self, job: JobSpec, events: Sequence[Event]) -> AdoptedJob:
        """Return what a journal that holds these events tells the next controller of a job."""
        mine = of_job(events, job.name)
        accepted_at = next((one.at for one in mine if isinstance(one, Accepted)), None)
        memo = {name: value for one in mine if isinstance(one, Noted) for name, value in (one.memo or {}).items()}
        reports = [one for one in mine if isinstance(one, Reported)]
        return AdoptedJob(
            job,
            mine[0].at - 0.1,
            mine[-1].at,
            accepted_at,
            started=any(isinstance(one, Started) for one in mine),
            reports=len(reports),
            memo=memo,
        )

    def state(self) -> Any:
        """Return what the emulator knows of endpoints: by status, and what those that are gone were billed for."""
        return control(self.emulator.environment, "GET", "state")[1]

    def billed_s(self, name: str) -> float:
        """Return the seconds that the emulator bills for an endpoint that is gone."""
        (one,) = [one for one in self.state()["billed_endpoints"] if one["name"] == name]
        return float(one["deleted_at"] - one["created_at"])

    def left(self) -> list[str]:
        """Return what is left of endpoints, configurations and models."""
        found = [one["EndpointName"] for one in self.sagemaker.list_endpoints(MaxResults=100)["Endpoints"]]
        found += [one["EndpointConfigName"] for one in self.sagemaker.list_endpoint_configs(MaxResults=100)["EndpointConfigs"]]
        return found + [one["ModelName"] for one in self.sagemaker.list_models(MaxResults=100)["Models"]]
