"""Types of arrays and generators for annotations: numpy itself is imported inside the functions that need it, as that takes long.

Import them under `typing.TYPE_CHECKING`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray: TypeAlias = NDArray[np.float64]
    IntArray: TypeAlias = NDArray[np.int64]
    Generator: TypeAlias = np.random.Generator

    __all__ = ["FloatArray", "Generator", "IntArray"]
