"""What was measured in place of something else: emulated modes, values that stand for others, data at a scale. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from definitions.backend_registry import emulated_modes
from definitions.ingestion import emulation
from definitions.scaling import scale_lines
from definitions.schema import BenchmarkDefinition


@dataclass(frozen=True)
class StandIns:
    """What of an experiment is not what its words say, so that tables label it.

    Args:
        modes: input modes that were imitated, whose speed is not the platform's.
        stands_for: key -> value as text -> what it stands for.
        fixed: arguments that all trials have.
        lines: on the scale of the data, a sentence each.
        platform: `emulated` where all of it ran on an imitation of its platform.
    """

    modes: Collection[str] = ()
    stands_for: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    platform: str = ""

    def shown(self, key: str, value: Any) -> Any:
        """Return a value for a table: `fastfile (emulated)`, `local (for FSx)`, and any other as it is."""
        stood_for = self.stands_for.get(key, {}).get(str(value))
        if stood_for is not None:
            return f"{value} (for {stood_for})"
        return f"{value} (emulated)" if key == "ingestion" and emulation(value, self.modes) else value

    def labelled(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Return a configuration for a table."""
        return {key: self.shown(key, value) for key, value in configuration.items()}

    def emulation(self, configuration: Mapping[str, Any]) -> str:
        """Return what of a configuration is not the real thing; empty for nothing. Between different ones speed and cost decide nothing."""
        imitated = emulation({**self.fixed, **configuration}.get("ingestion"), self.modes)
        stood = [f"{key}={value}" for key, value in configuration.items() if str(value) in self.stands_for.get(key, {})]
        return " ".join([*filter(None, (self.platform, imitated)), *stood])

    def notes(self, configurations: Iterable[Mapping[str, Any]] = ()) -> list[str]:
        """Return what stands below a table: the scale, and what stands for what among these configurations and the fixed arguments."""
        cases: list[Mapping[str, Any]] = [{**self.fixed, **one} for one in configurations] or [self.fixed]
        stood = {
            f"{key}={value} stands for {meant}: its speed and cost are not those of what it stands for": None
            for key, values in self.stands_for.items()
            for value, meant in values.items()
            if any(str(case.get(key)) == value for case in cases)
        }
        modes = {name: None for case in cases if (name := emulation(case.get("ingestion"), self.modes))}
        imitated = f"ingestion {', '.join(modes)}" if modes else ""
        imitated = "all of it ran on an emulator of its platform" if self.platform else imitated and f"{imitated}: emulated"
        return [*self.lines, *stood, *([f"{imitated}, so that speed and cost are not the platform's"] if imitated else [])]


NO_STAND_INS = StandIns()
"""Where all is what it is called."""


def stand_ins(definition: BenchmarkDefinition, backend: str, dollars: str) -> StandIns:
    """Return what of an experiment is not what its words say.

    Args:
        definition: resolved.
        backend: where it ran.
        dollars: what kind of dollars its costs are; where they are `emulated` the whole platform is.
    """
    platform = "emulated" if dollars == "emulated" else ""
    return StandIns(emulated_modes(backend, dollars), definition.stands_for, definition.arguments, tuple(scale_lines(definition)), platform)
