"""Fourteen jobs that say how far they are, 20 to 60 s of processor time each: fixed before any forecast of them was made.

Run as a script, one of them is done: `python _prefix_jobs.py --kind forest --fraction 0.03`. Its data are made while it loads them.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

KINDS = (
    "sgd", "forest", "gbdt", "minibatch_kmeans", "mlp", "cnn", "lstm", "word_pairs", "neighbours", "als", "etl", "edit_distance",
    "pagerank", "naive_bayes",
)  # fmt: skip


def share_of(count: int, fraction: float) -> int:
    return max(2, round(count * fraction))


def sgd(fraction, say, phase):
    """Batches of a linear model over eight epochs; evaluated on all data at the end."""
    import numpy as np
    from sklearn.linear_model import SGDClassifier

    rows = share_of(1_200_000, fraction)
    with phase("load"):
        x = np.random.default_rng(0).normal(size=(rows, 60)).astype("float32")
        y = (x[:, 0] + x[:, 1] > 0).astype(int)
    model, batch = SGDClassifier(random_state=0), 200
    steps = [(epoch, at) for epoch in range(8) for at in range(0, rows, batch)]
    with phase("train"):
        for number, (_, at) in enumerate(steps):
            model.partial_fit(x[at : at + batch], y[at : at + batch], classes=[0, 1])
            say(number + 1, len(steps))
    return model.score(x, y)


def forest(fraction, say, phase):
    """Sixty trees, one after another, each on all rows; then predictions of all rows."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    rows = share_of(90_000, fraction)
    with phase("load"):
        x = np.random.default_rng(1).normal(size=(rows, 25))
        y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).astype(int)
    model = RandomForestClassifier(n_estimators=0, warm_start=True, random_state=0, n_jobs=1)
    with phase("train"):
        for tree in range(60):
            model.n_estimators = tree + 1
            model.fit(x, y)
            say(tree + 1, 60)
    return float((model.predict(x) == y).mean())


def gbdt(fraction, say, phase):
    """Boosting rounds, which get cheaper or dearer as the trees find less."""
    import numpy as np
    from sklearn.ensemble import GradientBoostingRegressor

    rows = share_of(36_000, fraction)
    with phase("load"):
        x = np.random.default_rng(2).normal(size=(rows, 20))
        y = x[:, 0] * x[:, 1] + np.sin(x[:, 2]) + 0.1 * x[:, 3]
    model = GradientBoostingRegressor(n_estimators=120, max_depth=5, random_state=0)
    with phase("train"):
        model.fit(x, y, monitor=lambda stage, *_: say(stage + 1, 120))
    return float(((model.predict(x) - y) ** 2).mean())


def minibatch_kmeans(fraction, say, phase):
    """Batches of k-means; then the assignment of all rows."""
    import numpy as np
    from sklearn.cluster import MiniBatchKMeans

    rows = share_of(2_000_000, fraction)
    with phase("load"):
        x = np.random.default_rng(3).normal(size=(rows, 30)).astype("float32")
    model, batch = MiniBatchKMeans(n_clusters=60, batch_size=1000, n_init=1, random_state=0), 1000
    starts = [at for _ in range(8) for at in range(0, max(rows - 60, 1), batch)]
    with phase("train"):
        for number, at in enumerate(starts):
            model.partial_fit(x[at : at + max(batch, 60)])
            say(number + 1, len(starts))
    return float(model.score(x)) / rows


def mlp(fraction, say, phase):
    """Epochs of a small network, each followed by an evaluation."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = share_of(90_000, fraction)
    with phase("load"):
        x = torch.randn(rows, 100)
        y = (x[:, :1] > 0).float()
    model = torch.nn.Sequential(
        torch.nn.Linear(100, 400), torch.nn.ReLU(), torch.nn.Linear(400, 400), torch.nn.ReLU(), torch.nn.Linear(400, 1)
    )
    optimizer = torch.optim.Adam(model.parameters())
    starts, epochs, done = range(0, rows, 64), 5, 0
    for _ in range(epochs):
        with phase("train"):
            for at in starts:
                loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x[at : at + 64]), y[at : at + 64])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                done += 1
                say(done, epochs * len(starts))
        with phase("evaluate"), torch.no_grad():
            value = float(torch.nn.functional.binary_cross_entropy_with_logits(model(x), y))
    return value


def cnn(fraction, say, phase):
    """Epochs over small images, a checkpoint after each."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = share_of(12_000, fraction)
    with phase("load"):
        x, y = torch.randn(rows, 3, 24, 24), torch.randint(0, 10, (rows,))
    layers = torch.nn
    model = layers.Sequential(layers.Conv2d(3, 24, 3), layers.ReLU(), layers.MaxPool2d(2), layers.Conv2d(24, 48, 3), layers.ReLU(),
                              layers.Flatten(), layers.Linear(48 * 81, 10))  # fmt: skip
    optimizer, starts, epochs, done = torch.optim.SGD(model.parameters(), 0.01), range(0, rows, 32), 4, 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(epochs):
            with phase("train"):
                for at in starts:
                    loss = torch.nn.functional.cross_entropy(model(x[at : at + 32]), y[at : at + 32])
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    done += 1
                    say(done, epochs * len(starts))
            with phase("checkpoint"):
                torch.save(model.state_dict(), Path(folder) / "model.pt")
    return float(loss.detach())


def lstm(fraction, say, phase):
    """Sequences through a recurrent network."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = share_of(24_000, fraction)
    with phase("load"):
        x = torch.randn(rows, 40, 12)
        y = x.sum((1, 2))[:, None]
    recurrent, head = torch.nn.LSTM(12, 96, batch_first=True), torch.nn.Linear(96, 1)
    optimizer, starts = torch.optim.Adam([*recurrent.parameters(), *head.parameters()]), range(0, rows, 24)
    with phase("train"):
        for number, at in enumerate(starts):
            loss = ((head(recurrent(x[at : at + 24])[0][:, -1]) - y[at : at + 24]) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            say(number + 1, len(starts))
    return float(loss.detach())


def word_pairs(fraction, say, phase):
    """Pairs of words counted in a dictionary that grows; then sorted."""
    import numpy as np

    lines = share_of(800_000, fraction)
    with phase("load"):
        words = np.random.default_rng(4).zipf(1.3, size=(lines, 14)) % 20_000
        rows = [line.tolist() for line in words]
    counts: dict[tuple[int, int], int] = {}
    with phase("train"):
        for number, line in enumerate(rows):
            for at, first in enumerate(line):
                for second in line[at + 1 :]:
                    counts[first, second] = counts.get((first, second), 0) + 1
            if number % 100 == 99 or number + 1 == lines:
                say(number + 1, lines)
    best = sorted(counts.items(), key=lambda item: -item[1])
    return best[0][1]


def neighbours(fraction, say, phase):
    """The nearest of all rows for each row, in chunks: the number of steps and the work of each go with the data."""
    import numpy as np

    rows = share_of(80_000, fraction)
    with phase("load"):
        x = np.random.default_rng(5).normal(size=(rows, 24)).astype("float32")
        squares = (x**2).sum(1)
    nearest, chunk = np.empty(rows, int), 100
    with phase("train"):
        for at in range(0, rows, chunk):
            distance = squares[at : at + chunk, None] + squares[None] - 2 * x[at : at + chunk] @ x.T
            np.put_along_axis(distance, np.arange(at, min(at + chunk, rows))[:, None], np.inf, 1)
            nearest[at : at + chunk] = distance.argmin(1)
            say(min(at + chunk, rows), rows)
    return float(nearest.mean())


def als(fraction, say, phase):
    """Thirty iterations of alternating least squares, each over all users and items."""
    import numpy as np

    users, items, rank = share_of(40_000, fraction), 300, 20
    rng = np.random.default_rng(6)
    with phase("load"):
        ratings = rng.normal(size=(users, rank)) @ rng.normal(size=(rank, items)) + rng.normal(size=(users, items))
        mask = rng.random((users, items)) < 0.3
    left, right = rng.normal(size=(users, rank)), rng.normal(size=(items, rank))
    with phase("train"):
        for iteration in range(30):
            for user in range(users):
                seen = right[mask[user]]
                left[user] = np.linalg.solve(seen.T @ seen + np.eye(rank), seen.T @ ratings[user, mask[user]])
            for item in range(items):
                seen = left[mask[:, item]]
                right[item] = np.linalg.solve(seen.T @ seen + np.eye(rank), seen.T @ ratings[mask[:, item], item])
            say(iteration + 1, 30)
    return float((((left @ right.T - ratings) * mask) ** 2).mean())


def etl(fraction, say, phase):
    """Chunks of a table aggregated one by one; then all put together, sorted and written, where its peak of memory is."""
    import numpy as np
    import pandas

    chunks, rows = share_of(800, fraction), 20_000
    parts = []
    with phase("train"):
        for number in range(chunks):
            rng = np.random.default_rng(number)
            table = pandas.DataFrame(
                {"user": rng.zipf(1.4, rows) % 50_000, "day": rng.integers(0, 20, rows), "value": rng.normal(size=rows)}
            )
            table["text"] = table["user"].astype(str) + "-" + table["day"].astype(str)
            parts.append(table.groupby("text", as_index=False).agg(value=("value", "sum"), day=("day", "max")))
            say(number + 1, chunks)
    whole = pandas.concat(parts).groupby("text", as_index=False).sum().sort_values("value")
    return float(whole["value"].iloc[0])


def edit_distance(fraction, say, phase):
    """Distances of pairs of words in plain Python."""
    import random

    pairs = share_of(130_000, fraction)
    with phase("load"):
        source = random.Random(7)
        words = ["".join(source.choices("abcdefg", k=source.randint(20, 60))) for _ in range(pairs + 1)]
    total = 0
    with phase("train"):
        for number in range(pairs):
            a, b = words[number], words[number + 1]
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


def pagerank(fraction, say, phase):
    """A hundred and fifty iterations over a sparse graph."""
    import numpy as np
    from scipy import sparse

    nodes = share_of(1_000_000, fraction)
    rng = np.random.default_rng(8)
    with phase("load"):
        edges = 12 * nodes
        graph = sparse.csr_matrix((np.ones(edges), (rng.zipf(1.5, edges) % nodes, rng.integers(0, nodes, edges))), shape=(nodes, nodes))
        out = np.maximum(np.asarray(graph.sum(0)).ravel(), 1)
    rank = np.full(nodes, 1 / nodes)
    with phase("train"):
        for iteration in range(150):
            rank = 0.15 / nodes + 0.85 * (graph @ (rank / out))
            for _ in range(3):
                rank = np.sort(rank)[np.argsort(np.argsort(rank))]
            say(iteration + 1, 150)
    return float(rank.max())


def naive_bayes(fraction, say, phase):
    """Words of documents counted by hand, then a cross-validation of half of the work after the loop."""
    import numpy as np

    documents = share_of(60_000, fraction)
    with phase("load"):
        rng = np.random.default_rng(9)
        rows = [line.tolist() for line in rng.zipf(1.3, size=(documents, 150)) % 5_000]
        labels = rng.integers(0, 2, documents).tolist()
    counts: list[dict[int, int]] = [{}, {}]
    with phase("train"):
        for number, (line, label) in enumerate(zip(rows, labels, strict=True)):
            for _ in range(30):
                for word in line:
                    counts[label][word] = counts[label].get(word, 0) + 1
            if number % 50 == 49 or number + 1 == documents:
                say(number + 1, documents)
    right = 0
    for _ in range(3):
        for line, label in zip(rows, labels, strict=True):
            scores = [sum(one.get(word, 0) for word in line) for one in counts]
            right += (scores[1] > scores[0]) == label
    return right / documents / 3


def main() -> None:
    """Run one job, and say how far it is."""
    from outrider_report import phase, progress, report

    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--fraction", type=float, default=1.0)
    given = parser.parse_args()
    value = globals()[given.kind](given.fraction, progress, phase)
    report(value=float(value))


if __name__ == "__main__":
    main()
