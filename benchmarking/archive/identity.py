"""What identifies an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backends.naming import job_prefix
from definitions.configuration import configuration_id
from definitions.resolve import Resolved
from definitions.schema import BenchmarkDefinition

SCHEMA_VERSION = 2
"""Of experiment.json. In version 1 it did not say `hears_levels` and `repeats`; see `version_1`."""


@dataclass(frozen=True)
class ExperimentSpec:
    """What identifies an experiment.

    Args:
        resolved: the definition, resolved for the back-end.
        method: name of the method; `method_arguments`: its arguments from the command line.
        seed: the seed that the method gets; `number`: which of the invocation's seeds it is.
        tag: the tag that it shares with the other experiments of its invocation.
        results_dir: folder of all results.
        hears_levels: whether the method gets results below the full fidelity; `repeats`: how often each of its suggestions is
            measured. The journal is folded by them, so that it can be read without the method.
    """

    resolved: Resolved
    method: str
    seed: int
    tag: str
    results_dir: Path
    method_arguments: Mapping[str, Any] = field(default_factory=dict)
    number: int = 0
    hears_levels: bool = field(kw_only=True)
    repeats: int = field(kw_only=True)

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
                "definition": self.resolved.hash_for(self.method),
                "method": self.method,
                "arguments": dict(self.method_arguments),
                "seed": self.seed,
                "backend": self.backend,
            }
        )

    def job_prefix(self, nonce: str) -> str:
        """Return the beginning of its jobs' names; `nonce` tells it from the same experiment elsewhere, or under another tag."""
        return prefix_of({"benchmark": self.definition.name, "hash": self.hash, "nonce": nonce}, self.tag)


def prefix_of(known: Mapping[str, Any], tag: str) -> str:
    """Return the beginning of the names of an experiment's jobs.

    Args:
        known: its `benchmark`, `hash` and `nonce`, as experiment.json has them.
        tag: of the invocation.
    """
    identity = configuration_id({"hash": known["hash"], "tag": tag, "nonce": str(known.get("nonce", ""))})
    return job_prefix(str(known["benchmark"]), tag, identity)
