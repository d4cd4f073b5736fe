"""Crops of photographs: of those that scikit-learn ships, which is not imported for them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarking.datasets.photographs import Photographs
from definitions.datasets import ImagesDataset


def made():
    photographs = Photographs(ImagesDataset(type="images", samples=4, image_size=32, seed=3))
    return [photographs.sample(index) for index in range(4)]


def test_crops_are_of_the_photographs_that_it_reads_itself(monkeypatch):
    from PIL import Image
    from sklearn.datasets import load_sample_images

    ours = made()
    read = load_sample_images()
    whole = [(Path(name).stem, Image.fromarray(pixels)) for name, pixels in zip(read.filenames, read.images, strict=True)]
    monkeypatch.setattr("benchmarking.datasets.photographs._shipped", lambda: sorted(whole, key=lambda pair: pair[0]))
    assert made() == ours
    assert [one.folder for one in ours] == ["china", "flower", "china", "flower"]


def test_without_scikit_learn_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ModuleNotFoundError, match="sklearn"):
        made()
