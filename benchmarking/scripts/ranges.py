"""What to do with each argument of a script, by its name, type and default: search it, and where, or leave it alone. Pure."""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from backends.scripts.interface import Kind, ScriptArgument


class Role(enum.StrEnum):
    """What an argument is to a search; one that is `given` could be searched, and stays as a person said it."""

    SEARCHED = "searched"
    LEFT = "left"
    SEED = "seed"
    LEVEL = "level"
    GIVEN = "given"


@dataclass(frozen=True)
class Proposal:
    """What is proposed for one argument.

    Args:
        role: what it is to the search.
        domain: where it is searched, as in a definition; None where it is not.
        why: the reason, for a comment.
    """

    role: Role
    domain: Mapping[str, Any] | None = None
    why: str = ""


_SEEDS = ("seed", "random_seed", "random_state", "rng_seed", "manual_seed", "seed_everything")
_LEVELS = re.compile(
    r"^(n_|num_|max_|total_)?(train_)?(epochs?|iterations|iters|steps|boost_rounds?|rounds|n_estimators|estimators|updates|timesteps)$"
)
_LEFT_WORDS = """
accelerator addr address backend benchmark cache cfg channels_in checkpoint checkpoints ckpt classes command config configuration cpu cuda
data dataset datasets debug deterministic device devices dir dirs dist distributed download dry dryrun entity every features file filename
files folder format freq frequency gpu gpus host hostname id ids in_channels inputs interval jobs key labels limit load local log logger
logging logs mode name names ngpus njobs nnodes nodes nproc num_sanity_val_steps out out_channels output outputs path paths plot plots
port precision prefix print profile profiler project quiet rank repeats report resume root run save saving seed show suffix tag task
tensorboard threads tmp token uri url user verbose verbosity version visualize vocab wandb worker workers world
"""
"""Words in the names of what has no better value: places, names, machines, what is shown and kept."""

_LEFT = frozenset(_LEFT_WORDS.split())
_OF_TESTS = frozenset({"test", "eval", "val", "valid", "validation", "evaluation", "evaluate", "predict", "inference"})
_SWITCH_WORDS = """
amsgrad attention augment augmentation balanced batch_norm batchnorm bias bidirectional bn bootstrap clip clipping cosine cutmix dropout
early_stopping ema fit_intercept layer_norm layernorm mixup momentum nesterov norm normalise normalize oversample pretrained residual
residuals scale scaler shuffle skip standardise standardize tie tied warmup weight_norm
"""
_SWITCHES = frozenset(_SWITCH_WORDS.split())
_TWOS = re.compile(
    r"^(train_|per_device_train_|per_gpu_|mini_?)?(batch|batch_size|bs|bsz|batchsize|minibatch)$|(^|_)(batch_size|heads?|n_heads?)$"
)
_WIDTHS = re.compile(
    r"(^|_)(hidden|width|dim|dims|units|size|channels|filters|embed|embedding|d_model|d_ff|ffn|mlp|neurons|nodes|latent|planes)(_|$)"
)
_COUNTS = re.compile(r"(^|_)(layers?|depth|blocks?|stages|max_depth|degree|k|neighbors|neighbours|patience|kernel|stride)(_|$)")
_RATES = re.compile(r"(^|_)(lr|learning_rate|eta|step_size|base_lr|max_lr|min_lr|peak_lr|init_lr|lr0)(_|$)|_lr$|^lr_")
_DECAYS = re.compile(
    r"(^|_)(weight_decay|wd|l1|l2|reg|regularization|regularisation|lambda|reg_lambda|reg_alpha|penalty|eps|epsilon|adam_epsilon|tol|"
    r"tolerance|temperature|c|gamma_rbf|sigma|noise)(_|$)"
)
_NEAR_ONE = re.compile(
    r"(^|_)(momentum|beta|betas|beta1|beta2|beta_1|beta_2|adam_beta1|adam_beta2|gamma|discount|decay|ema|rho|lr_decay|lr_gamma)(_|$)"
)
_DROPS = re.compile(r"(^|_)(dropout|drop|drop_rate|drop_path|dropout_rate|p_drop|droppath)(_|$)|dropout")
_FRACTIONS = re.compile(
    r"(^|_)(prob|probability|p|fraction|frac|ratio|subsample|colsample|colsample_bytree|feature_fraction|bagging_fraction|smoothing|"
    r"label_smoothing|warmup_ratio|mix|threshold|sparsity)(_|$)"
)
_MOST_CHOICES = 12


def last_part(name: str) -> str:
    """Return the last part of a dotted name, in lower case, with underscores."""
    return name.split(".")[-1].lower().replace("-", "_")


def proposal_for(argument: ScriptArgument, *, guess: bool = False) -> Proposal:
    """Return what to do with an argument.

    Args:
        argument: of a script.
        guess: whether a number of which neither name nor default tells a range gets one all the same.
    """
    found = _proposal(argument)
    left_open = found.role is Role.LEFT and argument.default is None and not argument.lists and argument.kind in ("number", "whole")
    if not (guess and left_open) or _words(argument) & (_LEFT | _OF_TESTS):
        return found
    domain = {"uniform": [0.0, 1.0]} if argument.kind == "number" else {"randint": [1, 10]}
    return Proposal(Role.SEARCHED, domain, "a guess: the script has no value of its own for it, and failed without one")


def _words(argument: ScriptArgument) -> frozenset[str]:
    return frozenset([last_part(argument.name), *re.split(r"[._]", argument.name.lower().replace("-", "_"))])


def _proposal(argument: ScriptArgument) -> Proposal:
    name, tokens = last_part(argument.name), _words(argument)
    if tokens & _OF_TESTS:
        return Proposal(Role.LEFT)
    if name in _SEEDS and argument.kind in ("whole", "text", "number"):
        return Proposal(Role.SEED, why="a value of its own for each seed and repeat")
    if argument.kind == "text" and argument.default is None and not argument.choices:
        # A help text says no types; what everybody calls so is a number all the same.
        argument = replace(argument, kind=_kind_by_name(name))
    if argument.kind == "switch" or argument.kind == "boolean":
        return _switch(argument, name, tokens)
    if argument.lists:
        return Proposal(Role.LEFT, why="a list; {choice: [[64, 64], [128]]} would search it")
    if _LEVELS.match(name) and argument.kind in ("whole", "number") and (argument.default is None or argument.default >= 1):
        return Proposal(Role.LEVEL, why="how long it trains")
    if argument.kind == "path" or (tokens & _LEFT and not (_RATES.search(name) or _TWOS.search(name) or _DROPS.search(name))):
        return Proposal(Role.LEFT)
    if argument.choices:
        return _choice(argument)
    if argument.kind == "number" or (argument.kind == "whole" and _is_fraction_name(name)):
        return _number(name, argument.default)
    if argument.kind == "whole":
        return _whole(name, argument.default)
    return Proposal(Role.LEFT)


def _kind_by_name(name: str) -> Kind:
    if _TWOS.search(name) or _LEVELS.match(name):
        return "whole"
    return "number" if _RATES.search(name) or _DROPS.search(name) or name in ("weight_decay", "momentum") else "text"


def _switch(argument: ScriptArgument, name: str, tokens: frozenset[str]) -> Proposal:
    plain = name.removeprefix("use_").removeprefix("no_").removeprefix("with_").removeprefix("disable_")
    if plain in _SWITCHES or (tokens & _SWITCHES and not tokens & _LEFT):
        return Proposal(Role.SEARCHED, {"choice": [True, False]}, "on or off")
    return Proposal(Role.LEFT)


def _choice(argument: ScriptArgument) -> Proposal:
    if 1 < len(argument.choices) <= _MOST_CHOICES:
        return Proposal(Role.SEARCHED, {"choice": list(argument.choices)}, "the values that the script takes")
    return Proposal(Role.LEFT)


def _is_fraction_name(name: str) -> bool:
    return bool(_RATES.search(name) or _DROPS.search(name))


def _number(name: str, default: Any) -> Proposal:
    value = float(default) if isinstance(default, (int, float)) and not isinstance(default, bool) and math.isfinite(default) else None
    around = "" if value is None else f" around the script's own {default!r}"
    if _RATES.search(name):
        lower, upper = (1e-5, 1e-1) if not value or value < 0 else (rounded(value / 30), rounded(value * 10))
        return Proposal(Role.SEARCHED, {"loguniform": [lower, upper]}, f"a learning rate, evenly on a log scale{around}")
    if _DROPS.search(name):
        upper = 0.6 if value is None or value <= 0.5 else 0.95
        return Proposal(Role.SEARCHED, {"uniform": [0.0, upper]}, f"a share that is dropped, in [0, 1){around}")
    if _DECAYS.search(name):
        if not value or value < 0:
            return Proposal(Role.SEARCHED, {"loguniform": [1e-6, 1e-2]}, f"over magnitudes{around}")
        return Proposal(Role.SEARCHED, {"loguniform": [rounded(value / 30), rounded(value * 30)]}, f"over magnitudes{around}")
    if _NEAR_ONE.search(name) and (value is None or 0.5 <= value < 1):
        lower, upper = (0.8, 0.99) if value is None else (round(max(0.0, 1 - 5 * (1 - value)), 6), round(1 - (1 - value) / 10, 6))
        return Proposal(Role.SEARCHED, {"reverseloguniform": [lower, upper]}, f"near 1, where 1 - x counts{around}")
    if _NEAR_ONE.search(name) and value == 0:
        return Proposal(Role.SEARCHED, {"uniform": [0.0, 0.95]}, f"from none to much{around}")
    if _FRACTIONS.search(name) and (value is None or 0 <= value <= 1):
        lower, upper = (0.5, 1.0) if value is not None and value > 0.5 else (0.0, 0.5 if not value else min(1.0, rounded(3 * value)))
        return Proposal(Role.SEARCHED, {"uniform": [lower, upper]}, f"a share{around}")
    if value is None or value == 0:
        return Proposal(Role.LEFT)
    lower, upper = sorted((rounded(value / 3), rounded(value * 3)))
    if 0 < value < 1:
        upper = min(upper, 1.0)
    kind = "loguniform" if value > 0 else "uniform"
    return Proposal(Role.SEARCHED, {kind: [lower, upper]}, f"a factor of three{around}")


def _whole(name: str, default: Any) -> Proposal:
    value = int(default) if isinstance(default, (int, float)) and not isinstance(default, bool) and default == int(default) else None
    around = "" if value is None else f" around the script's own {default!r}"
    if _TWOS.search(name):
        return Proposal(Role.SEARCHED, {"logordinal": powers_of_two(value or 32)}, f"powers of two{around}")
    if value is None or value < 1:
        return Proposal(Role.LEFT)
    if _WIDTHS.search(name):
        if value & (value - 1) == 0 and value > 1:
            return Proposal(Role.SEARCHED, {"logordinal": powers_of_two(value)}, f"powers of two{around}")
        return Proposal(Role.SEARCHED, {"lograndint": [max(1, value // 4), value * 4]}, f"a factor of four{around}")
    if _COUNTS.search(name) or value < 10:
        return Proposal(Role.SEARCHED, {"randint": [max(1, value // 2), value * 2]}, f"whole numbers{around}")
    return Proposal(Role.SEARCHED, {"lograndint": [max(1, value // 3), value * 3]}, f"a factor of three{around}")


def powers_of_two(value: int, steps: int = 2) -> list[int]:
    """Return powers of two up to `steps` below and above the one nearest to a value, the value itself in its place where it is none."""
    middle = round(math.log2(max(1, value)))
    found: list[int] = [2**power for power in range(max(0, middle - steps), middle + steps + 1)]
    if value not in found:
        found[found.index(2**middle)] = value
    return found


def rounded(value: float, digits: int = 1) -> float:
    """Return a number with so many significant digits, so that ranges read well."""
    return float(f"{value:.{max(0, digits - 1)}e}")
