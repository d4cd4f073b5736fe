"""Thirteen more jobs that say how far they are: fixed before any of them was run by CANARY, and no law or rule was chosen by them.

Run as a script, one of them is done: `python _second_jobs.py --kind transformer --fraction 0.03`. Full jobs take 10 to 40 s.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

KINDS = (
    "xgb", "transformer", "autoencoder", "active_learning", "metropolis", "svm_folds", "topics", "shortest_paths", "filters", "factorise",
    "log_lines", "skip_gram", "bootstrap",
)  # fmt: skip


def share_of(count: int, fraction: float) -> int:
    return max(2, round(count * fraction))


def xgb(fraction, say, phase):
    """Boosting rounds of XGBoost on one thread, each evaluated on all rows."""
    import numpy as np
    import xgboost

    rows = share_of(400_000, fraction)
    with phase("load"):
        x = np.random.default_rng(20).normal(size=(rows, 30)).astype("float32")
        data = xgboost.QuantileDMatrix(x, x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]), nthread=1)
    model, value = xgboost.Booster({"max_depth": 8, "nthread": 1, "tree_method": "hist"}, [data]), ""
    with phase("train"):
        for number in range(200):
            model.update(data, number)
            value = model.eval(data)
            say(number + 1, 200)
    return float(value.split(":")[-1])


def transformer(fraction, say, phase):
    """Two epochs of a small transformer over sequences, each evaluated and saved at its end."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = share_of(16_000, fraction)
    with phase("load"):
        x = torch.randint(0, 200, (rows, 48))
        y = (x.float().mean(1) > 100).long()
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.1)
    body, table, head = torch.nn.TransformerEncoder(layer, 2), torch.nn.Embedding(200, 64), torch.nn.Linear(64, 2)
    weights = [*body.parameters(), *table.parameters(), *head.parameters()]
    optimizer, starts, done, value = torch.optim.AdamW(weights), range(0, rows, 32), 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            body.train()
            for at in starts:
                loss = torch.nn.functional.cross_entropy(head(body(table(x[at : at + 32])).mean(1)), y[at : at + 32])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                done += 1
                say(done, 2 * len(starts))
            body.eval()
            with torch.no_grad():
                right = [(head(body(table(x[at : at + 256])).mean(1)).argmax(1) == y[at : at + 256]) for at in range(0, rows, 256)]
            value = float(torch.cat(right).float().mean())
            torch.save(body.state_dict(), Path(folder) / "model.pt")
    return value


def autoencoder(fraction, say, phase):
    """Images through a convolutional autoencoder; then all of them are encoded once more."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = share_of(410_000, fraction)
    with phase("load"):
        x = torch.rand(rows, 1, 28, 28)
    layers = torch.nn
    encoder = layers.Sequential(layers.Conv2d(1, 16, 3, 2, 1), layers.ReLU(), layers.Conv2d(16, 32, 3, 2, 1), layers.ReLU())
    decoder = layers.Sequential(layers.ConvTranspose2d(32, 16, 4, 2, 1), layers.ReLU(), layers.ConvTranspose2d(16, 1, 4, 2, 1))
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
    starts = [at for _ in range(3) for at in range(0, rows, 64)]
    for number, at in enumerate(starts):
        loss = ((decoder(encoder(x[at : at + 64])) - x[at : at + 64]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say(number + 1, len(starts))
    with torch.no_grad():
        codes = torch.cat([encoder(x[at : at + 256]).flatten(1) for at in range(0, rows, 256)])
    return float(codes.std())


def active_learning(fraction, say, phase):
    """A Gaussian process that is asked for one point after another: each step solves a larger system."""
    import numpy as np

    points, pool = share_of(1_100, fraction), share_of(3_000, fraction)
    rng = np.random.default_rng(21)
    with phase("load"):
        x = rng.normal(size=(pool, 6))
        y = np.sin(x).sum(1)
    chosen, mean = [0], np.zeros(pool)
    with phase("train"):
        for number in range(points):
            known = x[chosen]
            kernel = np.exp(-0.5 * ((known[:, None] - known[None]) ** 2).sum(2)) + 0.1 * np.eye(len(chosen))
            across = np.exp(-0.5 * ((x**2).sum(1)[:, None] + (known**2).sum(1)[None] - 2 * x @ known.T))
            mean = across @ np.linalg.solve(kernel, y[chosen])
            chosen.append(int(np.abs(mean - y).argmax()))
            say(number + 1, points)
    return float(((mean - y) ** 2).mean())


def metropolis(fraction, say, phase):
    """Steps of a random walk over the likelihood of all rows, in one process without phases."""
    import numpy as np

    rows = share_of(800_000, fraction)
    rng = np.random.default_rng(22)
    x = rng.normal(size=(rows, 8))
    y = x @ np.arange(8) + rng.normal(size=rows)
    at, best, kept = np.zeros(8), -np.inf, []
    for number in range(10_000):
        there = at + 0.02 * rng.normal(size=8)
        found = -0.5 * float(((y - x @ there) ** 2).sum()) / max(rows, 1)
        if np.log(rng.random()) < (found - best) * 50:
            at, best = there, found
        kept.append(at)
        say(number + 1, 10_000)
    return float(np.mean(kept))


def svm_folds(fraction, say, phase):
    """Forty fits: eight strengths of regularisation over five folds, the later ones dearer."""
    import numpy as np
    from sklearn.svm import LinearSVC

    rows = share_of(240_000, fraction)
    rng = np.random.default_rng(23)
    with phase("load"):
        x = rng.normal(size=(max(rows, 40), 40))
        y = (x[:, 0] + 0.5 * rng.normal(size=len(x)) > 0).astype(int)
    scores, fold = [], np.arange(len(x)) % 5
    with phase("train"):
        for number in range(40):
            strength, left = 10 ** (-3 + 0.4 * (number // 5)), fold != number % 5
            model = LinearSVC(C=strength, max_iter=300, random_state=0).fit(x[left], y[left])
            scores.append(model.score(x[~left], y[~left]))
            say(number + 1, 40)
    return float(max(scores))


def topics(fraction, say, phase):
    """Documents counted in chunks; then the counts are put together, weighed and decomposed, which nobody counts."""
    import numpy as np
    from scipy import sparse
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer

    chunks = share_of(600, fraction)
    vectorizer, parts = HashingVectorizer(n_features=2**16, ngram_range=(1, 2), alternate_sign=False), []
    for number in range(chunks):
        words = np.random.default_rng(number).zipf(1.3, size=(250, 120)) % 20_000
        parts.append(vectorizer.transform([" ".join(f"w{word}" for word in line) for line in words]))
        say(number + 1, chunks)
    table = TfidfTransformer().fit_transform(sparse.vstack(parts))
    return float(TruncatedSVD(20, n_iter=3, random_state=0).fit(table).explained_variance_ratio_.sum())


def shortest_paths(fraction, say, phase):
    """Dijkstra in plain Python from one source after another."""
    import heapq
    import random

    nodes, sources = share_of(100_000, fraction), 60
    with phase("load"):
        source = random.Random(24)
        edges = [[(source.randrange(nodes), source.random()) for _ in range(6)] for _ in range(nodes)]
    total = 0.0
    for number in range(sources):
        far = {number % nodes: 0.0}
        queue = [(0.0, number % nodes)]
        while queue:
            length, node = heapq.heappop(queue)
            if length > far[node]:
                continue
            for other, more in edges[node]:
                if length + more < far.get(other, 1e9):
                    far[other] = length + more
                    heapq.heappush(queue, (length + more, other))
        total += max(far.values())
        say(number + 1, sources)
    return total / sources


def filters(fraction, say, phase):
    """Images filtered one by one and written to a folder."""
    import numpy as np
    from scipy import ndimage

    images, value = share_of(3_000, fraction), 0.0
    rng = np.random.default_rng(25)
    with tempfile.TemporaryDirectory() as folder, phase("train"):
        for number in range(images):
            image = rng.random((256, 256))
            smooth = ndimage.median_filter(ndimage.gaussian_filter(image, 2), 3)
            edges = np.hypot(ndimage.sobel(smooth, 0), ndimage.sobel(smooth, 1))
            np.save(Path(folder) / f"{number % 50}.npy", edges)
            value += float(ndimage.label(edges > edges.mean())[1])
            say(number + 1, images)
    return value / images


def factorise(fraction, say, phase):
    """Multiplicative updates until they no longer gain, at most 2,000: how many these are nobody knows."""
    import numpy as np

    rows = share_of(16_000, fraction)
    rng = np.random.default_rng(26)
    with phase("load"):
        x = rng.gamma(1.0, size=(rows, 6)) @ rng.gamma(1.0, size=(6, 120)) + 0.2 * rng.random((rows, 120))
    w, h, before = rng.random((rows, 6)) + 0.1, rng.random((6, 120)) + 0.1, np.inf
    with phase("train"):
        for number in range(2_000):
            h *= (w.T @ x) / (w.T @ w @ h + 1e-9)
            w *= (x @ h.T) / (w @ (h @ h.T) + 1e-9)
            found = float(((x - w @ h) ** 2).mean())
            say(number + 1, at_most=2_000)
            if before - found < 1e-4 * found:
                break
            before = found
    return found


def log_lines(fraction, say, phase):
    """Lines of a log taken apart by regular expressions and counted; the table of counts is sorted at the end."""
    import random
    import re

    lines = share_of(4_500_000, fraction)
    form = re.compile(r"^(\d+)\.(\d+) \[(\w+)\] user=(\w+) path=/(\w+)/(\w+) took (\d+) ms$")
    source = random.Random(27)
    counts: dict[tuple[str, str], int] = {}
    for number in range(lines):
        user, kind = source.randrange(lines // 4 + 1), source.choice(("get", "put", "list"))
        line = f"{number}.{number % 997} [INFO] user=u{user} path=/{kind}/p{user % 50} took {number % 300} ms"
        found = form.match(line)
        if found:
            key = found[4], found[5]
            counts[key] = counts.get(key, 0) + int(found[7])
        if number % 200 == 199 or number + 1 == lines:
            say(number + 1, lines)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[0][1]


def skip_gram(fraction, say, phase):
    """Batches of word pairs with negative samples in numpy, three epochs, neighbours looked up after each."""
    import numpy as np

    pairs = share_of(1_000_000, fraction)
    rng = np.random.default_rng(28)
    with phase("load"):
        words = rng.zipf(1.3, size=(pairs, 2)) % 10_000
    inner, outer = rng.normal(0, 0.1, (10_000, 64)), rng.normal(0, 0.1, (10_000, 64))
    starts, done, value = range(0, pairs, 100), 0, 0.0
    for _ in range(3):
        with phase("train"):
            for at in starts:
                first, second = words[at : at + 100].T
                others = rng.integers(0, 10_000, (len(first), 6))
                others[:, 0] = second
                held = outer[others]
                chance = 1 / (1 + np.exp(-np.einsum("nd,nkd->nk", inner[first], held)))
                chance[:, 0] -= 1
                slope = np.einsum("nk,nkd->nd", chance, held)
                np.add.at(outer, others, -0.05 * chance[:, :, None] * inner[first][:, None])
                np.add.at(inner, first, -0.05 * slope)
                done += 1
                say(done, 3 * len(starts))
        with phase("evaluate"):
            count = share_of(4_000, fraction)
            value = float((inner[:count] @ inner.T).argmax(1).mean())
    return value


def bootstrap(fraction, say, phase):
    """Resamples of a table and the median of each; the intervals at the end."""
    import numpy as np

    rows = share_of(400_000, fraction)
    rng = np.random.default_rng(29)
    with phase("load"):
        table = rng.lognormal(size=(rows, 4))
    found = []
    with phase("train"):
        for number in range(600):
            found.append(np.median(table[rng.integers(0, rows, rows)], axis=0))
            say(number + 1, 600)
    return float(np.quantile(np.array(found), 0.95, axis=0).mean())


def main() -> None:
    """Run one job, and say how far it is."""
    from outrider_report import phase, progress, report

    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--fraction", type=float, default=1.0)
    given = parser.parse_args()
    report(value=float(globals()[given.kind](given.fraction, progress, phase)))


if __name__ == "__main__":
    main()
