"""Twelve training jobs that no prior and no rule was chosen by: their data, loading and training."""

from __future__ import annotations

from pathlib import Path

JOBS = {
    "gbdt_exact": ("trees", 16_000, 12),
    "lda": ("epochs", 6_000, 60),
    "dbscan": ("neighbours", 180_000, 2),
    "gmm": ("clustering", 150_000, 12),
    "nmf": ("iterative", 300_000, 60),
    "lasso": ("iterative", 500_000, 80),
    "lstm": ("epochs", 36_000, 160),
    "recommender": ("epochs", 400_000, 3),
    "frame": ("sort", 700_000, 4),
    "kernel_ridge": ("kernel", 7_500, 12),
    "hashed_text": ("linear", 50_000, 60),
    "isolation": ("linear", 900_000, 10),
}
"""Job -> algorithm family, rows of the full job, columns (words of a row of text). Fixed before any forecast was made of them."""

MODULES = {
    "gbdt_exact": "sklearn.ensemble", "lda": "sklearn.decomposition", "dbscan": "sklearn.cluster", "gmm": "sklearn.mixture",
    "nmf": "sklearn.decomposition", "lasso": "sklearn.linear_model", "lstm": "torch", "recommender": "torch", "frame": "pandas",
    "kernel_ridge": "sklearn.kernel_ridge", "hashed_text": "sklearn.feature_extraction.text", "isolation": "sklearn.ensemble",
}  # fmt: skip
"""Imported during start-up, so that the fit phase holds the fit."""

_TEXT, _CSV = ("lda", "hashed_text"), ("frame",)


def make_data(kind: str, folder: Path) -> Path:
    """Write the full job's data into a folder and return its file."""
    import numpy as np

    _, rows, columns = JOBS[kind]
    rng = np.random.default_rng(11)
    path = folder / f"{kind}.npy"
    if kind in _TEXT:
        ranks = rng.zipf(1.25, size=(rows, columns)) % 30_000
        path.write_text("\n".join(" ".join(f"w{rank}" for rank in row) for row in ranks))
    elif kind in _CSV:
        table = np.c_[rng.zipf(1.3, rows) % 50_000, rng.integers(0, 1000, rows), rng.normal(size=(rows, columns - 2))]
        np.savetxt(path, table, delimiter=",", fmt="%.5g")
    elif kind == "recommender":
        np.save(path, np.c_[rng.integers(0, 20_000, rows), rng.integers(0, 5_000, rows), rng.normal(size=rows)].astype("float32"))
    elif kind == "nmf":
        np.save(path, np.c_[rng.gamma(1.0, size=(rows, 8)) @ rng.gamma(1.0, size=(8, columns - 1)), np.zeros(rows)].astype("float32"))
    else:
        x = rng.normal(size=(rows, columns)).astype("float32")
        np.save(path, np.c_[x, x[:, :3].sum(1) + rng.normal(size=rows)].astype("float32"))
    return path


def load(kind: str, path: Path, rows: int, seed: int):
    """Return data and target of a sample: neighbouring rows from a seeded first one."""
    import numpy as np

    first = int(np.random.default_rng(seed).integers(0, JOBS[kind][1] - rows + 1))
    if kind in _TEXT:
        with path.open() as file:
            return [line for number, line in enumerate(file) if first <= number < first + rows], None
    if kind in _CSV:
        import pandas

        return pandas.read_csv(path, skiprows=first, nrows=rows, header=None, names=["user", "day", "a", "b"]), None
    table = np.array(np.load(path, mmap_mode="r")[first : first + rows])
    return table[:, :-1], table[:, -1]


def train(kind: str, x, y) -> None:
    """Train one job."""
    match kind:
        case "gbdt_exact":
            from sklearn.ensemble import GradientBoostingRegressor

            GradientBoostingRegressor(n_estimators=60, random_state=0).fit(x, y)
        case "lda":
            from sklearn.decomposition import LatentDirichletAllocation
            from sklearn.feature_extraction.text import CountVectorizer

            LatentDirichletAllocation(10, max_iter=2, random_state=0).fit(CountVectorizer(max_features=5000).fit_transform(x))
        case "dbscan":
            from sklearn.cluster import DBSCAN

            DBSCAN(eps=0.05, min_samples=10).fit(x)
        case "gmm":
            from sklearn.mixture import GaussianMixture

            GaussianMixture(8, max_iter=40, tol=1e-9, random_state=0).fit(x)
        case "nmf":
            from sklearn.decomposition import NMF

            NMF(8, max_iter=150, random_state=0).fit(x)
        case "lasso":
            from sklearn.linear_model import LassoCV

            LassoCV(cv=3, alphas=60).fit(x, y)
        case "lstm":
            _sequence(x, y)
        case "recommender":
            _factors(x, y)
        case "frame":
            x = x.sort_values(["user", "day"])
            x["rolled"] = x.groupby("user")["a"].transform(lambda group: group.rolling(3, min_periods=1).mean())
            x.merge(x.groupby("day", as_index=False)["b"].mean(), on="day", suffixes=("", "_mean")).sort_values("b_mean")
        case "kernel_ridge":
            from sklearn.kernel_ridge import KernelRidge

            KernelRidge(kernel="rbf").fit(x, y)
        case "hashed_text":
            from sklearn.feature_extraction.text import HashingVectorizer
            from sklearn.linear_model import SGDClassifier

            counts = HashingVectorizer(n_features=2**18, ngram_range=(1, 2)).transform(x)
            SGDClassifier(max_iter=5, tol=None).fit(counts, [len(line) % 2 for line in x])
        case "isolation":
            from sklearn.ensemble import IsolationForest

            IsolationForest(n_estimators=60, contamination=0.1, random_state=0).fit(x)


def _sequence(x, y) -> None:
    import torch

    torch.manual_seed(0)
    net, head = torch.nn.LSTM(8, 48, batch_first=True), torch.nn.Linear(48, 1)
    optimiser = torch.optim.Adam([*net.parameters(), *head.parameters()])
    for at in range(0, len(x), 32):
        batch = torch.from_numpy(x[at : at + 32]).reshape(-1, 20, 8)
        loss = (head(net(batch)[0][:, -1])[:, 0] - torch.from_numpy(y[at : at + 32])).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def _factors(x, y) -> None:
    import torch

    torch.manual_seed(0)
    users, items = torch.nn.Embedding(20_000, 32), torch.nn.Embedding(5_000, 32)
    optimiser = torch.optim.Adagrad([*users.parameters(), *items.parameters()], lr=0.05)
    pairs, rating = torch.from_numpy(x[:, :2]).long(), torch.from_numpy(y)
    for at in range(0, len(x), 512):
        chosen = pairs[at : at + 512]
        loss = ((users(chosen[:, 0]) * items(chosen[:, 1])).sum(1) - rating[at : at + 512]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
