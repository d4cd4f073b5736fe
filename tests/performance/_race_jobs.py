"""Families of small real jobs that RACE is measured on: four to eight configurations each, 3 to 15 s of processor time.

Run as a script, one configuration of one family is done: `python _race_jobs.py --family trees --trees 30 --features 20 --fraction 0.03`.
They were fixed before any race of them. Some have a clear winner, some near ties; some time their phases, some do not; two have no counter;
in some the beginning misleads (`growing`: steps that get dearer at different rates) or a part comes after the loop (`tail`, `net`).
"""

from __future__ import annotations

import argparse
import contextlib
from types import SimpleNamespace

SPACES: dict[str, dict[str, list[int]]] = {
    "trees": {"trees": [15, 30, 60], "features": [4, 12]},
    "boost": {"depth": [3, 5, 7], "bins": [64, 256]},
    "net": {"batch": [24, 48, 96, 192], "hidden": [192, 208]},
    "linear": {"batch": [100, 104, 110, 200, 400]},
    "words": {"window": [5, 6, 8, 12]},
    "kmeans": {"clusters": [12, 24, 48, 96]},
    "sorts": {"kind": [0, 1, 2, 3]},
    "alike": {"name": [0, 1, 2, 3]},
    "growing": {"cheap": [0, 1, 2, 3, 4, 5]},
    "tail": {"rounds": [40, 80], "checks": [0, 2, 6]},
}
"""Family -> what its configurations differ by."""

SILENT = ("kmeans", "sorts")
"""Families without a counter."""

TIMED = ("trees", "net", "words", "sorts", "growing")
"""Families that time their phases."""


def share_of(count, fraction):
    return max(2, round(count * fraction))


def trees(given, say, phase):
    """A forest, tree by tree: twice the trees are twice the work."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    rows = share_of(40_000, given.fraction)
    with phase("load"):
        x = np.random.default_rng(0).normal(size=(rows, 20))
        y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype(int)
    model = RandomForestClassifier(0, max_features=given.features, warm_start=True, random_state=0, n_jobs=1)
    with phase("train"):
        for tree in range(given.trees):
            model.n_estimators = tree + 1
            model.fit(x, y)
            say(tree + 1, given.trees)
    return float((model.predict(x) == y).mean())


def boost(given, say, phase):
    """Boosting rounds of XGBoost on one thread."""
    import numpy as np
    import xgboost

    rows = share_of(160_000, given.fraction)
    x = np.random.default_rng(1).normal(size=(rows, 20)).astype("float32")
    y = x[:, 0] * x[:, 1] + np.sin(x[:, 2])
    data = xgboost.QuantileDMatrix(x, y, max_bin=given.bins, nthread=1)
    model = xgboost.Booster({"max_depth": given.depth, "max_bin": given.bins, "nthread": 1, "tree_method": "hist"}, [data])
    for number in range(600):
        model.update(data, number)
        say(number + 1, 600)
    return float(model.eval(data).split(":")[-1])


def net(given, say, phase):
    """Seven epochs of a small network, each evaluated at its end."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = share_of(60_000, given.fraction)
    with phase("load"):
        x = torch.randn(rows, 64)
        y = (x[:, :1] > 0).float()
    layers, hidden = torch.nn, given.hidden
    model = layers.Sequential(
        layers.Linear(64, hidden), layers.ReLU(), layers.Linear(hidden, hidden), layers.ReLU(), layers.Linear(hidden, 1)
    )
    optimizer, loss_of = torch.optim.Adam(model.parameters()), layers.functional.binary_cross_entropy_with_logits
    starts, done, value = range(0, rows, given.batch), 0, 0.0
    for _ in range(7):
        with phase("train"):
            for at in starts:
                loss = loss_of(model(x[at : at + given.batch]), y[at : at + given.batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                done += 1
                say(done, 7 * len(starts))
        with phase("evaluate"), torch.no_grad():
            value = float(loss_of(model(x), y))
    return value


def linear(given, say, phase):
    """Batches of a logistic regression in numpy: nearly alike batch sizes are nearly alike in time."""
    import numpy as np

    rows = share_of(600_000, given.fraction)
    rng = np.random.default_rng(2)
    x = rng.normal(size=(rows, 40)).astype("float32")
    y = (x[:, 0] > 0).astype("float32")
    weights, starts = np.zeros(40, "float32"), [at for _ in range(180) for at in range(0, rows, given.batch)]
    for number, at in enumerate(starts):
        part = x[at : at + given.batch]
        chance = 0.5 + 0.5 * np.tanh(part @ weights / 2)
        weights -= 0.1 / len(part) * (part.T @ (chance - y[at : at + given.batch]))
        say(number + 1, len(starts))
    return float(((x @ weights > 0) == y).mean())


def words(given, say, phase):
    """Pairs of words within a window, counted in a dictionary that grows; sorted at the end."""
    import numpy as np

    lines = share_of(160_000, given.fraction)
    with phase("load"):
        rows = [line.tolist() for line in np.random.default_rng(3).zipf(1.3, size=(lines, 20)) % 20_000]
    counts: dict[tuple[int, int], int] = {}
    with phase("train"):
        for number, line in enumerate(rows):
            for at, first in enumerate(line):
                for second in line[at + 1 : at + given.window]:
                    counts[first, second] = counts.get((first, second), 0) + 1
            if number % 50 == 49 or number + 1 == lines:
                say(number + 1, lines)
    return sorted(counts.items(), key=lambda item: -item[1])[0][1]


def kmeans(given, say, phase):
    """A hundred and ten rounds of k-means in one call, which says nothing of itself."""
    import numpy as np
    from sklearn.cluster import KMeans

    x = np.random.default_rng(4).normal(size=(share_of(600_000, given.fraction), 20))
    return float(KMeans(min(given.clusters, len(x)), max_iter=110, n_init=1, tol=0, random_state=0).fit(x).inertia_) / len(x)


def sorts(given, say, phase):
    """A column sorted over and over, by one of four ways; nothing is counted."""
    import numpy as np

    with phase("load"):
        x = np.random.default_rng(5).normal(size=share_of(5_000_000, given.fraction))
    value = 0.0
    with phase("train"):
        for number in range(25):
            for _ in range((4, 1, 1, 5)[given.kind]):
                if given.kind == 2:
                    value += float(np.argsort(x * (number + 1))[0])
                else:
                    value += float(np.sort(x * (number + 1), kind=("quicksort", "stable", None, "heapsort")[given.kind])[0])
    return value


def alike(given, say, phase):
    """Distances of words in plain Python; its configurations differ by their name alone."""
    import random

    pairs, total = share_of(34_000, given.fraction), 0
    source = random.Random(6)
    texts = ["".join(source.choices("abcdefg", k=source.randint(20, 60))) for _ in range(pairs + 1)]
    for number in range(pairs):
        a, b = texts[number], texts[number + 1]
        before = list(range(len(b) + 1))
        for i, left in enumerate(a):
            row = [i + 1]
            for j, right in enumerate(b):
                row.append(min(before[j + 1] + 1, row[j] + 1, before[j] + (left != right)))
            before = row
        total += before[-1]
        if number % 20 == 19 or number + 1 == pairs:
            say(number + 1, pairs)
    return total / pairs


def growing(given, say, phase):
    """Steps over a set that grows, as forward selection or a cache of keys: the cheaper they begin, the dearer they end."""
    import numpy as np

    rows, steps = share_of(100_000, given.fraction), 240
    flat, slope = ((60, 0.0), (48, 0.05), (50, 0.05), (36, 0.25), (12, 0.5), (4, 0.7))[given.cheap]
    with phase("load"):
        x = np.random.default_rng(7).normal(size=(rows, 64))
    held = np.zeros(rows)
    with phase("train"):
        for step in range(steps):
            for _ in range(round(flat + slope * step)):
                held = 0.9 * held + x[:, step % 64] * 0.1
            say(step + 1, steps)
    return float(held.mean())


def tail(given, say, phase):
    """Rounds that are counted, and checks after them that are not: neither is timed."""
    import numpy as np

    rows = share_of(200_000, given.fraction)
    x = np.random.default_rng(8).normal(size=(rows, 48)).astype("float32")
    w = np.eye(48, dtype="float32")
    for number in range(given.rounds):
        for _ in range(4):
            w = w - 0.001 * (x.T @ np.tanh(x @ w)) / rows
        say(number + 1, given.rounds)
    value = 0.0
    for check in range(given.checks):
        order = np.argsort(np.tanh(x @ w), axis=0)
        value += float(order[check].mean())
    return value + float(np.abs(w).max())


def main() -> None:
    """Run one configuration, and say how far it is where its family does."""
    from outrider_report import phase, progress, report

    parser = argparse.ArgumentParser()
    parser.add_argument("--family", choices=list(SPACES), required=True)
    parser.add_argument("--fraction", type=float, default=1.0)
    for key in sorted({key for space in SPACES.values() for key in space}):
        parser.add_argument(f"--{key}", type=int)
    given = parser.parse_args()
    say = (lambda *_: None) if given.family in SILENT else progress
    timer = phase if given.family in TIMED else lambda _: contextlib.nullcontext()
    report(value=float(globals()[given.family](SimpleNamespace(**vars(given)), say, timer)))


if __name__ == "__main__":
    main()
