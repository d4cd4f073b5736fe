"""The container contract: the folders and configuration files that a job finds under /opt/ml."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.emulator.container.paths import ML, resolve
from backends.emulator.core.job import Instance, Job

CHECKPOINTS = f"{ML}/checkpoints"
_MENTION = re.compile(r"/opt/ml(?=[/:;,\s\"'\]}]|$)")


@dataclass(frozen=True)
class Container:
    """One host's folders.

    Args:
        folder: holds everything of the host; `host`: its name, e.g. `algo-1`.
        view: where the program sees what is in `ml`: /opt/ml, or its real path where it cannot be given a private one.
        temporary: folder for temporary files.
    """

    folder: Path
    host: str
    view: str
    temporary: Path

    @property
    def ml(self) -> Path:
        """The real place of /opt/ml."""
        return self.folder / "ml"

    def seen(self, path: str) -> str:
        """Return a path below /opt/ml, given relative to it, as the program sees it."""
        return f"{self.view}/{path}" if path else self.view

    def relocated(self, text: str) -> str:
        """Return a text with /opt/ml replaced by where the program sees it."""
        return text if self.view == ML else _MENTION.sub(lambda _: self.view, text)

    def inside(self, path: str) -> Path | None:
        """Return the real place of an absolute path that the program knows; None where it is outside /opt/ml."""
        return resolve(self.ml, path)

    def failure(self) -> str:
        """Return what the script wrote about its failure, at most 1024 characters."""
        path = self.inside(f"{ML}/output/failure")
        if path is None or not path.is_file():
            return ""
        try:
            # Should it be a pipe by now, nobody waits for who writes to it.
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                return (file.read(4096) or b"").decode("utf-8", "replace").strip()[:1024]
        except OSError:
            return ""


def resource_config(hosts: Sequence[Instance], host: str) -> dict[str, Any]:
    """Return the content of resourceconfig.json."""
    own = next(one for one in hosts if one.host == host)
    groups: dict[str, dict[str, Any]] = {}
    for one in hosts:
        entry = groups.setdefault(one.group, {"instance_group_name": one.group, "instance_type": one.instance_type, "hosts": []})
        entry["hosts"].append(one.host)
    return {
        "current_host": host,
        "current_instance_type": own.instance_type,
        "current_group_name": own.group,
        "hosts": [one.host for one in hosts],
        "instance_groups": list(groups.values()),
        "network_interface_name": "lo",
    }


def input_config(request: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the content of inputdataconfig.json."""
    found = {}
    for channel in request.get("InputDataConfig", []):
        source = channel["DataSource"].get("S3DataSource", {})
        entry = {
            "TrainingInputMode": input_mode(request, channel),
            "S3DistributionType": source.get("S3DataDistributionType", "FullyReplicated"),
            "RecordWrapperType": channel.get("RecordWrapperType", "None"),
        }
        if channel.get("ContentType"):
            entry["ContentType"] = channel["ContentType"]
        found[channel["ChannelName"]] = entry
    return found


def input_mode(request: Mapping[str, Any], channel: Mapping[str, Any]) -> str:
    """Return how a channel's data reach the script: File, FastFile or Pipe."""
    return str(channel.get("InputMode") or request["AlgorithmSpecification"]["TrainingInputMode"])


def lay_out(container: Container, job: Job, hosts: Sequence[Instance]) -> None:
    """Create the folders and configuration files of one host."""
    ml = container.ml
    for path in ("input/config", "input/data", "model", "output/data", "output/tensorboard", "code", "checkpoints"):
        (ml / path).mkdir(parents=True, exist_ok=True)
    for path in ("stage", "lazy"):
        (container.folder / path).mkdir(exist_ok=True)
    container.temporary.mkdir(exist_ok=True)
    config = ml / "input" / "config"
    (config / "hyperparameters.json").write_text(json.dumps(job.request.get("HyperParameters", {})), encoding="utf-8")
    (config / "inputdataconfig.json").write_text(json.dumps(input_config(job.request)), encoding="utf-8")
    if "CheckpointConfig" in job.request:
        place = container.relocated(job.request["CheckpointConfig"]["LocalPath"])
        (config / "checkpointconfig.json").write_text(json.dumps({"LocalPath": place}), encoding="utf-8")
    (config / "resourceconfig.json").write_text(json.dumps(resource_config(hosts, container.host)), encoding="utf-8")
    if len(hosts) > 1:
        names = "".join(f"127.0.0.1 {one.host}\n" for one in hosts)
        try:
            known = Path("/etc/hosts").read_text(encoding="utf-8")
        except OSError:
            known = "127.0.0.1 localhost\n"
        (container.folder / "hosts").write_text(known + names, encoding="utf-8")
