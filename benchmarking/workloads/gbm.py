"""Fits gradient-boosted trees to a fraction of a generated table. The script of the benchmark `gbm`; needs no torch.

Runs alone: needs this folder and `outrider_report` on the path. It reads the channel `train` (files *.npy, the label in the last
column) where there is one, else a table that it makes and keeps in the cache ($OUTRIDER_CACHE, else ~/.cache/outrider).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from outrider_report import phase, report, step

_TEST_ROWS = 10_000
_TEST_SEED_OFFSET = 1_000_003
"""The test table has a seed of its own, so that it is the same whatever the fraction."""


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000, help="rows of the whole table, where it is generated")
    parser.add_argument("--fraction", type=float, default=1.0, help="share of the rows that is used")
    parser.add_argument("--trees", type=int, default=60)
    parser.add_argument("--learning_rate", type=float, default=0.1)
    parser.add_argument("--leaves", type=int, default=31, help="most leaves of a tree")
    parser.add_argument("--min_leaf", type=int, default=20, help="least rows of a leaf")
    parser.add_argument("--l2", type=float, default=0.0)
    parser.add_argument("--table_seed", type=int, default=0)
    parser.add_argument("--seed", type=int, default=None, help="default: that of the job, else 0")
    asked = parser.parse_args(arguments)
    if not 0 < asked.fraction <= 1:
        parser.error(f"--fraction {asked.fraction:g}: it must be above 0 and at most 1")
    return asked


def main(arguments: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> None:
    """Fit as asked, and report once."""
    asked = parse_arguments(arguments)
    with phase("startup"):
        import gbm_tables as tables  # type: ignore[import-not-found]  # lies beside this script, where a job has it on its path
        from seeds import seed_of  # type: ignore[import-not-found]  # likewise
        from sklearn.ensemble import HistGradientBoostingClassifier
    with phase("prepare"):
        folder = tables.tables_folder(environ)
        paths, rows = _training_files(asked, environ, folder)
        test_paths = tables.prepare(folder, _TEST_ROWS, asked.table_seed + _TEST_SEED_OFFSET)
    used = max(1, round(rows * asked.fraction))
    started_at = time.monotonic()
    with phase("load"):
        train = tables.read(paths, used)
    load_s = time.monotonic() - started_at
    model = HistGradientBoostingClassifier(
        max_iter=asked.trees,
        learning_rate=asked.learning_rate,
        max_leaf_nodes=asked.leaves,
        min_samples_leaf=asked.min_leaf,
        l2_regularization=asked.l2,
        early_stopping=False,
        random_state=seed_of(asked.seed, environ),
    )
    started_at = time.monotonic()
    with phase("train"):
        model.fit(train.x, train.y)
    train_s = time.monotonic() - started_at
    step(samples=len(train.y))
    with phase("validate"):
        error = _error(model, tables.read(test_paths, _TEST_ROWS))
    report(error=error, rows=len(train.y), bytes=train.read_bytes, load_s=load_s, train_s=train_s)


def _training_files(asked: argparse.Namespace, environ: Mapping[str, str], folder: Path) -> tuple[list[Path], int]:
    """Return the files of the training table, and the rows in them."""
    import gbm_tables as tables
    import numpy as np

    channel = environ.get("OUTRIDER_CHANNEL_TRAIN") or environ.get("SM_CHANNEL_TRAIN")
    if not channel:
        return tables.prepare(folder, asked.rows, asked.table_seed), asked.rows
    paths = sorted(Path(channel).glob("*.npy"))
    return paths, sum(len(np.load(path, mmap_mode="r")) for path in paths)


def _error(model: Any, test: Any) -> float:
    """Return the share of test rows that the model gets wrong."""
    return float((model.predict(test.x) != test.y).mean())


if __name__ == "__main__":
    main()
