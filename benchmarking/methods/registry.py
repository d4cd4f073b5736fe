"""Methods by name: the built-in ones, those of plugins (entry points `outrider.methods`), and a definition's variants."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.method import Method, MethodContext
from benchmarking.controller.method_arguments import read_arguments
from benchmarking.methods.searchers.registry import extra_of
from definitions.errors import UserError, did_you_mean, nearest
from definitions.instance_tables import LISTED_REGION
from definitions.instances import default_instance_type
from definitions.plugins import installed
from definitions.resolve import Resolved
from definitions.schema import BenchmarkDefinition, MethodVariant

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

logger = logging.getLogger(__name__)

MethodFactory: TypeAlias = Callable[[MethodContext], Method]

BUILT_IN: Mapping[str, str] = {
    "ASHA": "benchmarking.methods.asha:SuccessiveHalving",
    "ASHA_BORE": "benchmarking.methods.asha:HalvingWithDensityRatio",
    "ASHA_TPE": "benchmarking.methods.asha:HalvingWithParzenEstimator",
    "BO": "benchmarking.methods.search:BayesianOptimization",
    "BORE": "benchmarking.methods.search:DensityRatio",
    "CANARY": "benchmarking.methods.canary:CanaryLadder",
    "CQR": "benchmarking.methods.search:ConformalQuantiles",
    "GRID": "benchmarking.methods.grid:Grid",
    "LISTED": "benchmarking.methods.listed:Listed",
    "MOASHA": "benchmarking.methods.asha:MultiObjectiveHalving",
    "MOBSTER": "benchmarking.methods.asha:HalvingWithGaussianProcess",
    "MSR": "benchmarking.methods.median_stopping:MedianStopping",
    "PBT": "benchmarking.methods.pbt:PopulationBasedTraining",
    "RACE": "benchmarking.methods.race:Race",
    "REA": "benchmarking.methods.search:RegularizedEvolution",
    "RS": "benchmarking.methods.random_search:RandomSearch",
    "TPE": "benchmarking.methods.search:ParzenEstimator",
}
"""Module and factory of each built-in method, imported when it is asked for."""

WHAT_THEY_ARE: Mapping[str, str] = {
    "ASHA": "asynchronous successive halving: random search that stops (or pauses) trials which are behind others at the same level",
    "ASHA_BORE": "ASHA whose configurations BORE proposes",
    "ASHA_TPE": "ASHA whose configurations TPE proposes",
    "BO": "Bayesian optimisation with a Gaussian process",
    "BORE": "proposals by a classifier of good and bad configurations (Bayesian optimisation by density-ratio estimation)",
    "CANARY": "small jobs that forecast the full one",
    "CQR": "proposals by conformalised quantile regression",
    "GRID": "grid search",
    "LISTED": "the configurations that the definition lists",
    "MOASHA": "ASHA for several objectives",
    "MOBSTER": "ASHA whose configurations a Gaussian process proposes",
    "MSR": "random search that stops trials which are worse than the median of the others (median stopping rule)",
    "PBT": "population-based training: trials that are behind go on from the checkpoints of others",
    "RACE": "small jobs that forecast which full job is the best, and no more of them than that needs",
    "REA": "regularised evolution",
    "RS": "random search",
    "TPE": "proposals by densities of good and bad configurations (tree-structured Parzen estimator)",
}
"""What each built-in method is, for readers who do not know its name."""


def what_it_is(name: str, variants: Mapping[str, MethodVariant]) -> str:
    """Return what a method is, in words; empty for one that is neither built in nor a variant of one that is.

    Args:
        name: of the method.
        variants: of the benchmark's definition.
    """
    variant = variants.get(name)
    if variant is None:
        return WHAT_THEY_ARE.get(name, "")
    base = WHAT_THEY_ARE.get(variant.base)
    given = ", ".join(f"{key}={value}" for key, value in variant.arguments.items())
    return f"{variant.base} with {given or 'its usual arguments'}: {base}" if base else ""


def known_methods(plugins: Iterable[EntryPoint] | None = None) -> dict[str, MethodFactory | str]:
    """Return all methods by name, the built-in ones as places that `method_factory` loads.

    A broken plugin is skipped with a warning; a clash of names is an error naming both.

    Raises:
        UserError: two methods of one name.
    """
    methods: dict[str, MethodFactory | str] = dict(BUILT_IN)
    origin = dict.fromkeys(methods, "built-in")
    for point in installed("outrider.methods") if plugins is None else plugins:
        distribution = point.dist.name if point.dist else "unknown distribution"
        if point.name in methods:
            raise UserError(f"two methods are called {point.name!r}", f"{origin[point.name]} and {distribution}", "uninstall one of them")
        try:
            methods[point.name] = point.load()
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything, and must not take us down
            logger.warning("method %s of %s cannot be loaded and is skipped: %s", point.name, distribution, error)
            continue
        origin[point.name] = distribution
    return methods


def method_factory(method: MethodFactory | str) -> MethodFactory:
    """Return what makes a method, loading it where a place is given: the module and its name, with a colon between them."""
    if not isinstance(method, str):
        return method
    module, _, name = method.partition(":")
    return cast(MethodFactory, getattr(import_module(module), name))


def default_method(definition: BenchmarkDefinition) -> str:
    """Return the definition's own default, else LISTED for explicit trials and RS for a space."""
    return definition.method or ("LISTED" if definition.trials else "RS")


def _listing(name: str, known: list[str]) -> tuple[str, str]:
    """Return which methods there are, with the extras that some need, and which one was probably meant."""
    listed = ", ".join(f"{one} (extra {extra})" if (extra := extra_of(one)) else one for one in sorted(known))
    near = nearest(name, known)
    return f"there are: {listed}", f"did you mean {near!r}?" if near else "give one of these"


def build_method(
    name: str,
    definition: BenchmarkDefinition,
    seed: int,
    arguments: Mapping[str, Any],
    methods: Mapping[str, MethodFactory | str] | None = None,
    *,
    region: str,
    instance_type: str = "",
) -> Method:
    """Return a new method for one experiment.

    Args:
        name: a known method or one of the definition's variants.
        definition: the resolved definition.
        seed: the experiment's seed.
        arguments: from the command line; they win over those of a variant.
        methods: known methods; those of `known_methods` where None.
        region: whose prices count.
        instance_type: what jobs run on where neither a configuration nor the definition says; empty where that is not known.

    Raises:
        UserError: unknown method or argument, or a definition that the method cannot handle.
    """
    known = known_methods() if methods is None else methods
    variant = definition.methods.get(name)
    if variant is None:
        if name not in known:
            raise UserError(f"--method {name}: there is no such method", *_listing(name, [*known, *definition.methods]))
        variant = MethodVariant(base=name)
    if variant.base not in known:
        raise UserError(f"methods.{name}.base: there is no method {variant.base!r}", did_you_mean(variant.base, list(known)))
    factory = method_factory(known[variant.base])
    given = {**variant.arguments, **arguments}
    declared = getattr(factory, "arguments", None)
    points = definition.points_to_evaluate
    if points and declared is not None and "points_to_evaluate" in declared:
        given.setdefault("points_to_evaluate", points)
    if "shared_start" not in (declared or {}) and given.pop("shared_start", 0):
        raise UserError(
            f"method {name}: shared_start",
            "it does not begin with configurations that are drawn at random",
            "leave out the method, or shared_start; --skip_unfit leaves out such methods",
        )
    context = MethodContext(
        space=definition.search_space if definition.space else None,
        configurations=definition.explicit_configurations,
        objectives=definition.objectives,
        fidelity=definition.fidelity,
        seed=seed,
        arguments=given if declared is None else read_arguments(name, declared, given),
        rules=definition.rules,
        repeats=definition.repeats,
        fixed={**({"instance_type": instance_type} if instance_type else {}), **definition.arguments},
        region=region,
        options=definition.block,
    )
    method = factory(context)
    method.name = name
    return method


def experiment_spec(
    resolved: Resolved,
    method: str,
    seed: int,
    tag: str,
    results_dir: Path,
    arguments: Mapping[str, Any] | None = None,
    number: int = 0,
    methods: Mapping[str, MethodFactory | str] | None = None,
) -> ExperimentSpec:
    """Return what identifies a new experiment, once its method was built and so is known to suit; see `ExperimentSpec`.

    Raises:
        UserError: as `build_method`.
    """
    # It is built for its traits alone, which do not depend on prices.
    built = build_method(
        method,
        resolved.definition,
        seed,
        arguments or {},
        methods,
        region=LISTED_REGION,
        instance_type=default_instance_type(resolved.backend),
    )
    return ExperimentSpec(
        resolved,
        method,
        seed,
        tag,
        results_dir,
        dict(arguments or {}),
        number,
        hears_levels=built.hears_levels,
        repeats=1 if built.measures_repeats else resolved.definition.repeats,
    )
