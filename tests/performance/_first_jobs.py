"""The sixteen training jobs by which priors and rules were chosen: their data, loading and training."""

from __future__ import annotations

from pathlib import Path

JOBS = {
    "hist_gbm": ("trees", 150_000, 20),
    "xgboost": ("trees", 150_000, 20),
    "forest": ("trees", 40_000, 20),
    "svc": ("kernel", 14_000, 20),
    "kmeans": ("clustering", 120_000, 20),
    "logistic": ("iterative", 600_000, 30),
    "sgd": ("epochs", 600_000, 20),
    "mlp": ("epochs", 50_000, 20),
    "neighbours": ("neighbours", 25_000, 20),
    "tfidf": ("linear", 40_000, 1),
    "ridge_csv": ("linear", 400_000, 20),
    "pca": ("linear", 150_000, 80),
    "linkage": ("neighbours", 9_000, 20),
    "cnn": ("epochs", 12_000, 784),
    "sort": ("sort", 4_000_000, 1),
    "gp": ("gaussian_process", 3_000, 10),
}
"""Job -> algorithm family, rows of the full job, columns. Fixed before any method was compared on them."""

MODULES = {
    "hist_gbm": "sklearn.ensemble", "xgboost": "xgboost", "forest": "sklearn.ensemble", "svc": "sklearn.svm", "kmeans": "sklearn.cluster",
    "logistic": "sklearn.linear_model", "sgd": "sklearn.linear_model", "mlp": "sklearn.neural_network", "neighbours": "sklearn.neighbors",
    "tfidf": "sklearn.feature_extraction.text", "ridge_csv": "sklearn.linear_model", "pca": "sklearn.decomposition",
    "linkage": "sklearn.cluster", "cnn": "torch", "gp": "sklearn.gaussian_process",
}  # fmt: skip
"""Imported during start-up, so that the fit phase holds the fit."""


def make_data(kind: str, folder: Path) -> Path:
    import numpy as np

    _, rows, columns = JOBS[kind]
    rng = np.random.default_rng(7)
    path = folder / f"{kind}.npy"
    if kind == "tfidf":
        words = np.array([f"w{k}" for k in range(20_000)])
        ranks = rng.zipf(1.3, size=(rows, 60)) % len(words)
        path.write_text("\n".join(" ".join(words[row]) for row in ranks))
        return path
    x = rng.normal(size=(rows, columns)).astype("float32")
    y = (x[:, : min(5, columns)].sum(1) + rng.normal(size=rows) > 0).astype("float32")
    if kind == "ridge_csv":
        np.savetxt(path, np.c_[x, y], delimiter=",", fmt="%.5f")
    else:
        np.save(path, np.c_[x, y])
    return path


def load(kind: str, path: Path, rows: int, seed: int):
    import numpy as np

    full = JOBS[kind][1]
    first = int(np.random.default_rng(seed).integers(0, full - rows + 1))
    if kind == "tfidf":
        with path.open() as file:
            return [line for number, line in enumerate(file) if first <= number < first + rows], None
    if kind == "ridge_csv":
        table = np.loadtxt(path, delimiter=",", skiprows=first, max_rows=rows, dtype="float32")
    else:
        table = np.array(np.load(path, mmap_mode="r")[first : first + rows])
    return table[:, :-1], table[:, -1]


def train(kind: str, x, y) -> None:
    import numpy as np

    match kind:
        case "hist_gbm":
            from sklearn.ensemble import HistGradientBoostingClassifier

            HistGradientBoostingClassifier(max_iter=40, early_stopping=False).fit(x, y)
        case "xgboost":
            import xgboost

            xgboost.XGBClassifier(n_estimators=60, n_jobs=1, tree_method="hist").fit(x, y)
        case "forest":
            from sklearn.ensemble import RandomForestClassifier

            RandomForestClassifier(12, n_jobs=1, random_state=0).fit(x, y)
        case "svc":
            from sklearn.svm import SVC

            SVC().fit(x, y)
        case "kmeans":
            from sklearn.cluster import KMeans

            KMeans(20, n_init=1, max_iter=60, random_state=0).fit(x)
        case "logistic":
            from sklearn.linear_model import LogisticRegression

            LogisticRegression(max_iter=500, tol=1e-6).fit(x, y)
        case "sgd":
            from sklearn.linear_model import SGDClassifier

            SGDClassifier(max_iter=8, tol=None).fit(x, y)
        case "mlp":
            from sklearn.neural_network import MLPClassifier

            MLPClassifier((64,), max_iter=6, batch_size=100, n_iter_no_change=100).fit(x, y)
        case "neighbours":
            from sklearn.neighbors import NearestNeighbors

            NearestNeighbors(n_neighbors=5, algorithm="brute").fit(x).kneighbors(x)
        case "tfidf":
            from sklearn.feature_extraction.text import TfidfVectorizer

            TfidfVectorizer(ngram_range=(1, 2)).fit_transform(x)
        case "ridge_csv":
            from sklearn.linear_model import Ridge

            Ridge().fit(x, y)
        case "pca":
            from sklearn.decomposition import PCA

            PCA(svd_solver="full").fit(x)
        case "linkage":
            from sklearn.cluster import AgglomerativeClustering

            AgglomerativeClustering(10).fit(x)
        case "cnn":
            import torch

            torch.manual_seed(0)
            net = torch.nn.Sequential(
                torch.nn.Conv2d(1, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                torch.nn.Flatten(), torch.nn.Linear(16 * 144, 2),
            )  # fmt: skip
            optimiser = torch.optim.SGD(net.parameters(), 0.01)
            for at in range(0, len(x), 64):
                batch = torch.from_numpy(x[at : at + 64]).reshape(-1, 1, 28, 28)
                loss = torch.nn.functional.cross_entropy(net(batch), torch.from_numpy(y[at : at + 64]).long())
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        case "sort":
            sorted(np.asarray(x).ravel().tolist())
        case "gp":
            from sklearn.gaussian_process import GaussianProcessRegressor

            GaussianProcessRegressor(optimizer=None, alpha=0.1).fit(x, y)
