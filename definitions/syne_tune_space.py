"""Search spaces as Syne Tune's `config_space`, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from definitions.errors import UserError
from definitions.scalars import plain
from definitions.space import Choice, Constant, Domain, FiniteRange, Interval, NearestOrdinal, SearchSpace, parse_domain


def to_syne_tune(space: SearchSpace) -> dict[str, Any]:
    """Return the space as Syne Tune writes it: its domains, and constants as plain values.

    Raises:
        UserError: Syne Tune cannot express a domain, e.g. a choice among values of several types.
    """
    for key in space.domains:
        if space.conditions.text(key) is not None:
            raise UserError(
                f"{key} exists only when {space.conditions.text(key)}", "Syne Tune's spaces know no conditions", "leave `when` out"
            )
    return {key: _to_domain(key, domain) for key, domain in space.domains.items()}


def from_syne_tune(config_space: Mapping[str, Any]) -> SearchSpace:
    """Return the space that a Syne Tune `config_space` describes.

    Raises:
        UserError: a domain that has no form here (normal distributions, grids, domains of the user's own).
    """
    from syne_tune import config_space as theirs

    domains: dict[str, Domain] = {}
    for key, value in config_space.items():
        if isinstance(value, theirs.Domain):
            domains[key] = parse_domain(_from_domain(key, value), key)
        elif value is None or isinstance(value, (bool, int, float, str)):
            domains[key] = Constant(value)
        else:
            raise _unknown(key, value)
    return SearchSpace(domains)


def _to_domain(key: str, domain: Domain) -> Any:
    from syne_tune import config_space as theirs

    match domain:
        case Constant():
            return domain.value
        case Choice():
            _check_types(key, domain.values)
            values = list(domain.values)
            return theirs.ordinal(values, kind="equal") if domain.ordered else theirs.choice(values)
        case NearestOrdinal():
            _check_types(key, domain.values)
            return theirs.ordinal(list(domain.values), kind="nn-log" if domain.scale == "log" else "nn")
        case FiniteRange():
            make = theirs.logfinrange if domain.scale == "log" else theirs.finrange
            return make(domain.lower, domain.upper, domain.points, cast_int=domain.integer)
        case Interval():
            return _to_interval(key, domain)
    raise UserError(f"{key}: {type(domain).__name__} has no form in Syne Tune")


def _check_types(key: str, values: tuple[Any, ...]) -> None:
    names = sorted({"null" if value is None else type(value).__name__ for value in values})
    if len(names) > 1 or names == ["null"]:
        raise UserError(
            f"{key}: Syne Tune's methods need values of one type",
            f"{list(values)!r} has {' and '.join(names)}",
            "write all values alike, e.g. all as text or all with a decimal point",
        )


def _to_interval(key: str, domain: Interval) -> Any:
    from syne_tune import config_space as theirs

    if domain.integer:
        whole = theirs.lograndint if domain.scale == "log" else theirs.randint
        made = whole(int(domain.lower), int(domain.upper))
    else:
        makers = {"linear": theirs.uniform, "log": theirs.loguniform, "reverselog": theirs.reverseloguniform}
        made = makers[domain.scale](float(domain.lower), float(domain.upper))
    if domain.quantum is None:
        return made
    if not domain.contains(domain.lower) or not domain.contains(domain.upper):
        raise UserError(
            f"{key}: Syne Tune needs bounds that are multiples of the quantum",
            f"{domain.spec()!r}",
            f"the values in it go from {domain.at(0.0)} to {domain.grid(2)[-1]}",
        )
    return made.quantized(domain.quantum)


def _from_domain(key: str, domain: Any) -> dict[str, Any]:
    from syne_tune import config_space as theirs

    # Exact types: a subclass may sample by rules of its own, and Syne Tune's own classes derive from one another.
    kind = type(domain)
    if kind is theirs.OrdinalNearestNeighbor:
        return {"logordinal" if domain.log_scale else "nnordinal": list(domain.categories)}
    if kind is theirs.FiniteRange:
        name = "logfinrange" if domain.log_scale else "finrange"
        return {name: [float(domain.lower), float(domain.upper), int(domain.size), *([True] if domain.cast_int else [])]}
    sampler = domain.get_sampler() if kind in (theirs.Categorical, theirs.Ordinal, theirs.Float, theirs.Integer) else None
    quantum = None
    if isinstance(sampler, theirs.Quantized):
        quantum, sampler = sampler.q, sampler.get_sampler()
    if kind in (theirs.Categorical, theirs.Ordinal) and isinstance(sampler, theirs.Categorical._Uniform):
        return {"ordinal" if kind is theirs.Ordinal else "choice": [plain(value) for value in domain.categories]}
    names = {
        theirs.Float._Uniform: "uniform",
        theirs.Float._LogUniform: "loguniform",
        theirs.Float._ReverseLogUniform: "reverseloguniform",
        theirs.Integer._Uniform: "randint",
        theirs.Integer._LogUniform: "lograndint",
    }
    if type(sampler) not in names:
        raise _unknown(key, domain)
    name = names[type(sampler)]
    bounds = [plain(domain.lower), plain(domain.upper)]
    return {name: bounds} if quantum is None else {"q" + name: [*bounds, plain(quantum)]}


def _unknown(key: str, value: Any) -> UserError:
    return UserError(
        f"{key}: {value!r} has no form in a definition",
        "known: constants, choice, ordinal, logordinal, uniform, loguniform, reverseloguniform, randint, lograndint, their quantised "
        "forms, finrange, logfinrange",
    )
