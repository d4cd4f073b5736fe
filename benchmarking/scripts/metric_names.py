"""What the names of metrics tell: which are worth optimising, in which direction, and which only say how far a job is. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from definitions.parts import Mode

LEVELS = ("epoch", "epochs", "ep", "round", "iteration", "iter", "step", "steps", "global_step", "update", "episode", "it")
"""Names of what says how far a job is, the most usual first."""

_MORE = re.compile(
    r"(^|_)(acc|accuracy|top1|top5|top_1|top_5|f1|fscore|auc|auroc|auprc|ap|map|map50|precision|recall|iou|miou|dice|bleu|rouge|rougel|r2|score|"
    r"reward|return|ndcg|mrr|hits?|spearman|spearmanr|pearson|pearsonr|psnr|ssim|correlation|corr|kappa|mcc|win|wins|success|sensitivity|"
    r"specificity|throughput|likelihood|elbo|em|exact_match)(_|$|\d)|_per_s(ec)?$|acc$|acc\d$|accuracy"
)
_LESS = re.compile(
    r"(^|_)(loss|error|err|rmse|mse|mae|mape|rmsle|nll|perplexity|ppl|cer|wer|fid|kl|logloss|mlogloss|bce|ce|cost|regret|distance|brier|bpc|"
    r"bits|deviance|l1|l2|quantile|poisson|gap)(_|$)|loss$|error$"
)
_NO_METRIC = re.compile(
    r"(^|_)(time|times|sec|secs|seconds|ms|minutes|hours|elapsed|eta|lr|learning_rate|mem|memory|gb|mb|kb|size|samples|total|rank|pid|port|"
    r"version|seed|batch|batches|params|parameters|device|gpu|cpu|date|worker|workers|world|norm|grad|grad_norm|wall|duration|speed|num|count|"
    r"n|of|line|trial|fold|token|tokens)(_|$)|(^|_)runtime|per_second|samples_per|steps_per"
)
_SPLITS: Sequence[tuple[str, ...]] = (
    ("val", "valid", "validation", "dev"),
    ("eval", "evaluation"),
    ("test",),
    ("",),
    ("train", "training"),
)


def is_metric_name(name: str) -> bool:
    """Return whether a name is that of something that people optimise."""
    return bool(_MORE.search(_plain(name)) or _LESS.search(_plain(name)))


def is_beside_the_point(name: str) -> bool:
    """Return whether a name is that of times, sizes, rates and counts, which no search is about."""
    return bool(_NO_METRIC.search(_plain(name))) and not is_metric_name(name)


def is_level_name(name: str) -> bool:
    """Return whether a name says how far a job is."""
    return _plain(name) in LEVELS


def mode_of(name: str, values: Sequence[float] = ()) -> tuple[Mode, str]:
    """Return whether less or more of a metric is better, and the ground for it: its name, else its course."""
    plain = _plain(name)
    if _LESS.search(plain):
        return "min", "by its name, less is better"
    if _MORE.search(plain):
        return "max", "by its name, more is better"
    if len(values) > 1 and values[-1] > values[0]:
        return "max", "a guess, as it rose in the trial run"
    return "min", "a guess" + (", as it fell in the trial run" if len(values) > 1 and values[-1] < values[0] else "")


def best_objective(names: Mapping[str, Sequence[float]]) -> str:
    """Return the metric that people would judge by: of validation before training, a score before a loss; empty where there is none."""
    candidates = [name for name in names if not is_level_name(name) and not is_beside_the_point(name)]
    known = [name for name in candidates if is_metric_name(name)] or candidates
    return min(known, key=_rank, default="")


def _rank(name: str) -> tuple[int, int, int, int]:
    words = _plain(name).split("_")
    split = next((place for place, group in enumerate(_SPLITS) if any(word in group for word in words)), 3)
    best = 0 if words[0] in ("best", "final") else 1
    return split, 0 if _MORE.search(_plain(name)) else 1, best, len(words)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
