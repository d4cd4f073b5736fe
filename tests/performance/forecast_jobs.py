"""Measures small real training jobs on this machine, at canary fractions and in full, for `forecast_accuracy.py --table`.

python tests/performance/forecast_jobs.py jobs.csv --repeats 3
One job at a time, each in a process of its own with one thread; CPU time and wall time by phase, peak RSS. Takes about 15 minutes.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
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

COLUMNS = [
    "configuration", "fraction", "repeat", "rows", "bytes", "startup_s", "load_s", "train_s", "total_s",
    "startup_cpu_s", "load_cpu_s", "train_cpu_s", "cpu_s", "rss_bytes", "status", "family",
]  # fmt: skip


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


def child(kind: str, fraction: float, seed: int, path: Path) -> None:
    began = _process_start()
    marks = [(began, 0.0)]
    import numpy as np  # noqa: F401 - the import is what is measured

    if kind in MODULES:
        importlib.import_module(MODULES[kind])
    if kind == "cnn":
        import torch

        torch.set_num_threads(1)
    marks.append((time.time(), time.process_time()))
    rows = max(2, round(JOBS[kind][1] * fraction))
    x, y = load(kind, path, rows, seed)
    marks.append((time.time(), time.process_time()))
    train(kind, x, y)
    marks.append((time.time(), time.process_time()))
    names = ("startup", "load", "train")
    found = {f"{name}_s": b[0] - a[0] for name, a, b in zip(names, marks, marks[1:], strict=False)}
    found |= {f"{name}_cpu_s": b[1] - a[1] for name, a, b in zip(names, marks, marks[1:], strict=False)}
    size = sum(map(len, x)) if kind == "tfidf" else x.nbytes
    used = resource.getrusage(resource.RUSAGE_SELF)
    found |= {"rows": rows, "bytes": size, "rss_bytes": used.ru_maxrss * 1024, "total_s": marks[-1][0] - began, "cpu_s": marks[-1][1]}
    print(json.dumps(found))


def _process_start() -> float:
    ticks = int(Path("/proc/self/stat").read_bytes().rsplit(b")", 1)[1].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - age


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path)
    parser.add_argument("--jobs", nargs="*", default=list(JOBS), choices=list(JOBS))
    parser.add_argument("--fractions", nargs="*", type=float, default=[0.01, 0.02, 0.03, 0.1, 1.0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        kind, fraction, seed, path = given.child
        child(kind, float(fraction), int(seed), Path(path))
        return
    environment = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")}
    with given.table.open("w", newline="") as file, tempfile.TemporaryDirectory() as folder:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for kind in given.jobs:
            path = make_data(kind, Path(folder))
            for repeat in range(given.repeats):
                for fraction in given.fractions:
                    command = [sys.executable, __file__, str(given.table), "--child", kind, str(fraction), str(repeat), str(path)]
                    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
                    row = {"configuration": kind, "fraction": fraction, "repeat": repeat, "family": JOBS[kind][0], "status": "Failed"}
                    if answer.returncode == 0:
                        row |= {**json.loads(answer.stdout.splitlines()[-1]), "status": "Completed"}
                    else:
                        print(answer.stderr, file=sys.stderr)
                    writer.writerow(row)
                    file.flush()
                    print(kind, fraction, repeat, f"{float(row.get('total_s', 0)):.2f} s", file=sys.stderr, flush=True)
            path.unlink()


if __name__ == "__main__":
    main()
