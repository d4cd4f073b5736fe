"""Samples in TFRecord files: each record a `tf.train.Example` with an image, or a sample's bytes as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..samples import UNLABELLED, BadSampleError, RawSample
from ..tolerance import Tolerance

_CONTENT = ("image/encoded", "image_raw", "image", "encoded", "jpg", "png", "content", "data")
_LABEL = ("image/class/label", "label", "class")
_KEY = ("image/filename", "filename", "key", "id")
_SHAPE = (("height", "image/height"), ("width", "image/width"), ("depth", "image/channels"))


def records_of(file: Any, name: str, labels: str, tolerance: Tolerance) -> Iterator[RawSample]:
    """Yield the samples of a TFRecord stream, whose checksums are verified.

    Args:
        file: binary, read forwards only.
        name: of the file.
        labels: `feature` or `none`.
        tolerance: where records without a label are counted, and damaged files: what follows damage is not read.

    Raises:
        BadSampleError: a record is cut or damaged, and no more may be skipped.
    """
    from ..tfrecord import DamagedRecordError, parsed, records

    number = -1
    try:
        for number, payload in enumerate(records(file, name)):
            place = f"{name}: record {number}"
            try:
                yield _sample(parsed(payload, place), place, f"{_stem(name)}-{number:06d}", labels, tolerance)
            except DamagedRecordError:
                # without features it is the sample itself
                yield RawSample(f"{_stem(name)}-{number:06d}", payload, UNLABELLED, place)
            except BadSampleError as error:
                tolerance.skip(error)
    except DamagedRecordError as error:
        tolerance.skip(BadSampleError(f"{error} (after record {number})" if number >= 0 else str(error)))


def _sample(features: Mapping[str, Sequence[Any]], place: str, key: str, labels: str, tolerance: Tolerance) -> RawSample:
    content = _first(features, _CONTENT)
    if content is None:
        content = next((values[0] for values in features.values() if values and isinstance(values[0], bytes)), None)
    if content is None:
        raise BadSampleError(f"{place}: none of its features holds bytes (it has {', '.join(sorted(features)) or 'none'})")
    named = _first(features, _KEY)
    label = _first(features, _LABEL)
    if label is None and labels != "none":
        tolerance.count("unlabelled")
    shape = [_first(features, names) for names in _SHAPE]
    raw: Any = content
    if shape[0] and shape[1] and len(content) == shape[0] * shape[1] * (shape[2] or 3):
        raw = np.frombuffer(content, np.uint8).reshape(shape[0], shape[1], shape[2] or 3).copy()
    key = named.decode(errors="replace").rpartition("/")[2].partition(".")[0] if isinstance(named, bytes) else key
    return RawSample(key, raw, UNLABELLED if label is None or labels == "none" else int(label), place)


def _first(features: Mapping[str, Sequence[Any]], names: Sequence[str]) -> Any:
    return next((features[name][0] for name in names if features.get(name)), None)


def _stem(name: str) -> str:
    return name.rpartition("/")[2].rpartition(".")[0]
