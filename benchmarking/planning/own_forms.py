"""Values of a configuration in the forms in which a definition writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from definitions.schema import BenchmarkDefinition
from definitions.written import in_own_form


class OwnForms:
    """Knows what a definition writes for each key of its configurations.

    Args:
        definition: the resolved definition.
    """

    def __init__(self, definition: BenchmarkDefinition) -> None:
        self._in_steps = frozenset(key for key, spec in definition.space.items() if _has_whole_steps(spec))
        self._listed: dict[str, tuple[tuple[Any, ...], bool]]
        if definition.trials:
            trials = definition.explicit_configurations
            self._listed = {key: (tuple(trial[key] for trial in trials if key in trial), False) for key in definition.configuration_keys}
        else:
            self._listed = {
                key: (domain.grid(0) if domain.is_listed else getattr(domain, "values", ()), bool(getattr(domain, "integer", False)))
                for key, domain in definition.search_space.domains.items()
            }

    def of(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Return a configuration, which may have come through a journal or a method of others, as the definition writes it.

        Its keys are in the definition's order, so that a script is told the same words in the same order whatever the way.
        """
        ordered = [key for key in self._listed if key in configuration]
        ordered += [key for key in configuration if key not in self._listed]
        return {key: self._own_form(key, configuration[key]) for key in ordered}

    def _own_form(self, key: str, value: Any) -> Any:
        listed, whole = self._listed.get(key, ((), False))
        if key in self._in_steps and isinstance(value, float) and math.isclose(value, round(value), rel_tol=1e-12):
            return round(value)
        return in_own_form(value, listed, whole=whole)


def _has_whole_steps(spec: Any) -> bool:
    """Return whether all numbers of a finite domain are written as whole ones: then `{finrange: [16, 64, 4]}` has 32, and not 32.0."""
    for kind, values in spec.items() if isinstance(spec, dict) else ():
        if (kind.endswith("finrange") or kind.startswith("q")) and isinstance(values, (list, tuple)):
            return all(isinstance(value, int) for value in values)
    return False
