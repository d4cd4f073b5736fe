"""What identifies an experiment, and the folder that holds it: written down before the first start, and checked at every later one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backends.naming import job_prefix
from backends.registry import backend_class
from benchmarking.environment import describe_environment
from benchmarking.export.files import write_atomically
from benchmarking.journal import has_records
from definitions import strict_json
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.resolve import Resolved, definition_hash
from definitions.schema import BenchmarkDefinition
from definitions.show import render

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class ExperimentSpec:
    """What identifies an experiment.

    Args:
        resolved: the definition, resolved for the back-end.
        method: name of the method; `method_arguments`: its arguments from the command line.
        seed: the seed that the method gets; `number`: which of the invocation's seeds it is.
        tag: the tag that it shares with the other experiments of its invocation.
        results_dir: folder of all results.
    """

    resolved: Resolved
    method: str
    seed: int
    tag: str
    results_dir: Path
    method_arguments: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0

    @property
    def definition(self) -> BenchmarkDefinition:
        """The resolved definition."""
        return self.resolved.definition

    @property
    def backend(self) -> str:
        """Name of the back-end."""
        return self.resolved.backend

    @property
    def folder(self) -> Path:
        """Where everything that the experiment leaves is kept."""
        return self.results_dir / self.tag / self.definition.name / f"{self.method}-{self.backend}-{self.number}"

    @property
    def title(self) -> str:
        """What the experiment is called in messages."""
        return f"{self.definition.name} x {self.method} x seed {self.number} on {self.backend}"

    @property
    def hash(self) -> str:
        """Hash of everything that determines its results."""
        return configuration_id(
            {
                "definition": definition_hash(self.definition, self.method),
                "method": self.method,
                "arguments": dict(self.method_arguments),
                "seed": self.seed,
                "backend": self.backend,
            }
        )

    def job_prefix(self, nonce: str) -> str:
        """Return the beginning of its jobs' names; `nonce` tells it from the same experiment elsewhere, or under another tag."""
        return job_prefix(self.definition.name, self.tag, configuration_id({"hash": self.hash, "tag": self.tag, "nonce": nonce}))


def prepare_folder(spec: ExperimentSpec, environ: Mapping[str, str]) -> None:
    """Write down what the experiment is, or make sure that the folder holds this very experiment.

    Raises:
        UserError: the folder holds another experiment, or cannot be written.
    """
    path = spec.folder / "experiment.json"
    try:
        exists = path.is_file()
        text = path.read_text(encoding="utf-8") if exists else ""
    except OSError as error:
        raise UserError(f"cannot read {path}", str(error)) from error
    if not exists:
        write_atomically(spec.folder / "definition.yaml", render(spec.resolved))
        environment = describe_environment(Path(spec.definition.source_dir), environ)
        write_atomically(spec.folder / "environment.json", strict_json.dumps({"schema_version": SCHEMA_VERSION, **environment}) + "\n")
        bills = {"real_money": backend_class(spec.backend).foretell(environ).real_money}
        identity = {"schema_version": SCHEMA_VERSION, **_identity(spec), "nonce": secrets.token_hex(4), **bills}
        write_atomically(path, strict_json.dumps(identity) + "\n")
        return
    check_bills(spec, environ)
    known = strict_json.loads(text)
    if known.get("hash") != spec.hash and not has_records(spec.folder / "journal.sqlite"):
        path.unlink()
        prepare_folder(spec, environ)
    elif known.get("hash") != spec.hash:
        raise UserError(
            f"tag {spec.tag!r}: {spec.title} is there already, with another definition (hash {known.get('hash')}, now {spec.hash})",
            f"its results are in {spec.folder}",
            "use another --experiment_tag; or --resume with the definition it was started with",
        )


def check_bills(spec: ExperimentSpec, environ: Mapping[str, str]) -> None:
    """Raise `UserError` where an experiment that ran on an emulator would go on on a real account, or the other way round."""
    path = spec.folder / "experiment.json"
    real = strict_json.loads(path.read_text(encoding="utf-8")).get("real_money") if path.is_file() else None
    if (
        real is not None
        and real != backend_class(spec.backend).foretell(environ).real_money
        and has_records(spec.folder / "journal.sqlite")
    ):
        ran, now = ("an account", "an emulator") if real else ("an emulator", "a real account")
        raise UserError(
            f"tag {spec.tag!r}: {spec.title} ran on {ran}, and would go on on {now}",
            "their jobs, times and bills do not go together",
            "use another --experiment_tag" if real else "give --emulate, or the AWS_ENDPOINT_URL of the emulator; or use another tag",
        )


def read_nonce(folder: Path) -> str:
    """Return what makes the names of a prepared experiment's jobs its own."""
    return str(strict_json.loads((folder / "experiment.json").read_text(encoding="utf-8")).get("nonce", ""))


def _identity(spec: ExperimentSpec) -> dict[str, Any]:
    return {
        "hash": spec.hash,
        "benchmark": spec.definition.name,
        "method": spec.method,
        "method_arguments": dict(spec.method_arguments),
        "backend": spec.backend,
        "seed": spec.seed,
        "number": spec.number,
    }
