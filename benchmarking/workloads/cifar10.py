"""Reads CIFAR-10 in its two published formats, fetches it, and makes small data sets of the same form.

Both formats hold each image as 3,072 bytes: the red plane, the green one, the blue one, each 32 rows of 32.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import shutil
import tarfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

ARCHIVE_URL = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
ARCHIVE_MD5 = "c58f30108f718f92721af3b95e74349a"
CLASSES = 10
SIDE = 32
_PIXELS = 3 * SIDE * SIDE
_PYTHON_FOLDER, _BINARY_FOLDER = "cifar-10-batches-py", "cifar-10-batches-bin"
_TIMEOUT_S = 60.0


class Images(NamedTuple):
    """Images (n, 3, 32, 32) as uint8, and labels (n,) as int64; numpy arrays."""

    pixels: Any
    labels: Any


def load(folder: Path) -> tuple[Images, Images]:
    """Return the training and the test images in a folder that holds either format, as published or one level down.

    Raises:
        SystemExit: nothing of either format is there, or a file is not whole.
    """
    for home in (folder, folder / _PYTHON_FOLDER, folder / _BINARY_FOLDER):
        for ending, read in (("", read_python), (".bin", read_binary)):
            train, test = sorted(home.glob("data_batch_[0-9]" + ending)), home / ("test_batch" + ending)
            if train and test.is_file():
                return _joined([read(path) for path in train]), read(test)
    raise SystemExit(f"{folder} holds no CIFAR-10: neither data_batch_1 ... test_batch nor data_batch_1.bin ... test_batch.bin")


def read_python(path: Path) -> Images:
    """Return the images of one file of the Python format: a pickled mapping with `data` (n, 3072) and `labels`.

    Raises:
        SystemExit: the file holds something else.
    """
    import numpy as np

    try:
        with path.open("rb") as file:
            found = _PlainUnpickler(file, encoding="bytes").load()
        data, labels = found[b"data"], np.asarray(found[b"labels"], dtype=np.int64)
        return Images(np.asarray(data, dtype=np.uint8).reshape(len(labels), 3, SIDE, SIDE), labels)
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError) as error:
        raise SystemExit(f"{path} is no file of CIFAR-10's Python format: {error}") from error


class _PlainUnpickler(pickle.Unpickler):
    """Reads arrays, lists and texts only: a pickle from the network must not be able to run anything."""

    _ALLOWED: ClassVar[set[tuple[str, str]]] = {
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("_codecs", "encode"),
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self._ALLOWED:
            raise pickle.UnpicklingError(f"it wants {module}.{name}")
        return super().find_class(module, name)


def read_binary(path: Path) -> Images:
    """Return the images of one file of the binary format: per image a byte of label and 3,072 of pixels.

    Raises:
        SystemExit: the file is cut off, or a label is none.
    """
    import numpy as np

    data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    if not len(data) or len(data) % (1 + _PIXELS):
        raise SystemExit(f"{path} is no file of CIFAR-10's binary format: {len(data)} bytes are no multiple of {1 + _PIXELS}")
    rows = data.reshape(-1, 1 + _PIXELS)
    if rows[:, 0].max() >= CLASSES:
        raise SystemExit(f"{path} is no file of CIFAR-10's binary format: there is a label {rows[:, 0].max()}")
    return Images(rows[:, 1:].reshape(-1, 3, SIDE, SIDE), rows[:, 0].astype(np.int64))


def _joined(parts: Sequence[Images]) -> Images:
    import numpy as np

    return Images(np.concatenate([part.pixels for part in parts]), np.concatenate([part.labels for part in parts]))


def fetch(folder: Path, url: str = ARCHIVE_URL, md5: str = ARCHIVE_MD5) -> None:
    """Put the published archive's content into a folder; nothing where it is there already.

    Raises:
        SystemExit: the archive cannot be had, or is not the published one.
    """
    if (folder / _PYTHON_FOLDER / "test_batch").is_file():
        return
    advice = f"put the archive's content into {folder}, or train on made-up images: --data generated"
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
            content = answer.read()
    except (OSError, urllib.error.URLError) as error:
        raise SystemExit(f"{url} cannot be fetched: {error}\n{advice}") from error
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if found != md5:
        raise SystemExit(f"{url} is not the published archive: its MD5 is {found}, not {md5}\n{advice}")
    part = folder / f".part-{os.getpid()}"
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(part, filter="data")
    _put(part / _PYTHON_FOLDER, folder / _PYTHON_FOLDER)
    shutil.rmtree(part, ignore_errors=True)


def _put(made: Path, home: Path) -> None:
    """Move a whole folder to its place, unless another job was first, which has made the same."""
    try:
        made.replace(home)
    except OSError:
        if not home.is_dir():
            raise
        shutil.rmtree(made, ignore_errors=True)


def generate(folder: Path, train: int, test: int, seed: int = 0) -> None:
    """Write a small data set of the Python format: each class is a smooth pattern of its own under noise, so it can be learnt.

    Args:
        folder: gets `cifar-10-batches-py`; nothing is done where it is there already.
        train: training images.
        test: test images.
        seed: of patterns and noise.
    """
    import numpy as np

    home = folder / _PYTHON_FOLDER
    if home.is_dir():
        return
    source = np.random.default_rng(seed)
    coarse = source.normal(0.0, 1.0, (CLASSES, 3, 4, 4)).repeat(8, axis=2).repeat(8, axis=3)
    part = folder / f".part-{os.getpid()}"
    part.mkdir(parents=True, exist_ok=True)
    for name, count in (("data_batch_1", train), ("test_batch", test)):
        labels = source.integers(0, CLASSES, count)
        shades = 128 + 50 * coarse[labels] + source.normal(0.0, 30.0, (count, 3, SIDE, SIDE))
        data = shades.clip(0, 255).astype(np.uint8).reshape(count, _PIXELS)
        with (part / name).open("wb") as file:
            pickle.dump({b"data": data, b"labels": labels.tolist()}, file, protocol=2)
    _put(part, home)
