"""What an instance type has and what an hour of it costs, on whichever back-end it is from; its back-end's description answers."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from definitions.backend_description import BackendDescription
from definitions.backend_registry import backend_description, backend_names
from definitions.errors import UserError
from definitions.instance_tables import TRAINING, InstanceFacts, Price, Tables, load_tables
from definitions.parts import Overrides

_log = logging.getLogger(__name__)

Options = Callable[[str, type[Overrides]], Overrides]
"""Returns the options of a back-end, by its name and the model of its block, as `BenchmarkDefinition.block` does."""


def backend_of(instance_type: str) -> BackendDescription[Any] | None:
    """Return the description of the back-end whose instance types have names like this one; None where there is none."""
    if not instance_type:
        return None
    return next((one for one in _usable() if one.instance_pattern and re.fullmatch(one.instance_pattern, instance_type)), None)


def default_instance_type(backend: str) -> str:
    """Return what a back-end runs jobs on where nobody says; empty where it has no default, or is not installed."""
    try:
        return backend_description(backend).default_instance_type or ""
    except UserError:
        return ""


def instance_forms() -> list[str]:
    """Return how the names of instance types begin, over all back-ends."""
    return list(dict.fromkeys(one.instance_form for one in _usable() if one.instance_form))


def pricing_region(instance_type: str, environ: Mapping[str, str]) -> str:
    """Return the region whose price of an instance type counts where nobody names one: what the type's back-end says.

    Raises:
        UserError: it is the type of no back-end.
    """
    described = backend_of(instance_type)
    if described is None:
        raise UserError(f"{instance_type!r} is no instance type", f"their names begin with {' or '.join(instance_forms())}")
    return described.region(described.block(), environ)


def is_nominal(instance_type: str) -> bool:
    """Return whether nobody is billed for it, so that its price is a yardstick only."""
    described = backend_of(instance_type)
    return described is not None and described.nominal


def instance_facts(instance_type: str, tables: Tables | None = None) -> InstanceFacts | None:
    """Return what the type has, or None where that is not known.

    Raises:
        UserError: its back-end says that the name is malformed.
    """
    described = backend_of(instance_type)
    if described is None:
        return None
    try:
        found = described.facts(instance_type, tables or load_tables())
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a plug-in, it only leaves something unknown
        _doubt(described, f"cannot say what {instance_type} has", error)
        return None
    if found is not None and not isinstance(found, InstanceFacts):
        _doubt(described, f"says that {instance_type} has {found!r}")
        return None
    return found


def no_options(name: str, model: type[Overrides]) -> Overrides:
    """Return a back-end's options where nobody gives any."""
    return model()


def price_of(
    instance_type: str,
    region: str,
    *,
    spot: bool = False,
    use: str = TRAINING,
    tables: Tables | None = None,
    options: Options = no_options,
) -> Price | None:
    """Return the price of one instance, or None where it is unknown (never zero).

    Spot has no price of its own: it is billed at this one, for the billable seconds of a job, which are fewer than it ran. So the bill of
    a job that has ended needs no spot price, and a worst case is the one on demand.

    Args:
        instance_type: e.g. `ml.g5.xlarge`, `local.2cpu`.
        region: whose price is asked for; nominal ones are the same everywhere.
        spot: the price of an hour of *running* on spot is asked for, as a forecast needs it; what will be saved is not known beforehand.
        use: `training`, or `hosting` for an instance of an endpoint; where nobody is billed both are the same.
        tables: in place of those that come with Outrider.
        options: of back-ends, some of which have prices there.

    Raises:
        UserError: its back-end says that the name is malformed.
    """
    described = backend_of(instance_type)
    if described is None or spot:
        return None
    known = tables or load_tables()
    try:
        block = options(described.name, described.block)
        found = described.price(instance_type, region, known if described.nominal else known.used_for(use), block)
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a plug-in, it only leaves a price unknown
        _doubt(described, f"cannot say what {instance_type} costs", error)
        return None
    if found is None:
        return None
    usd = found.usd_per_hour if isinstance(found, Price) else found
    if not isinstance(found, Price) or not isinstance(usd, (int, float)) or isinstance(usd, bool) or not math.isfinite(usd) or usd <= 0:
        _doubt(described, f"says that an hour of {instance_type} costs {usd!r}, which is no price above 0")
        return None
    return found


def _usable() -> Iterator[BackendDescription[Any]]:
    """Yield the description of each back-end in turn; one that cannot be loaded is left out with a warning."""
    for name in backend_names():
        try:
            yield backend_description(name)
        except UserError as error:
            warn_once(str(error))


def _doubt(described: BackendDescription[Any], what: str, error: Exception | None = None) -> None:
    why = "" if error is None else f" ({type(error).__name__}: {error})"
    warn_once(f"back-end {described.name} {what}{why}; it is taken as unknown")


@lru_cache(maxsize=256)
def warn_once(text: str) -> None:
    """Log a warning, each text once in the life of this process."""
    _log.warning("%s", text)
