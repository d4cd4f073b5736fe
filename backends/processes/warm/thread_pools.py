"""Sizes the thread pools of native libraries in a forked job as they would be in a new process. Standard library only.

The libraries read OMP_NUM_THREADS and the like once, when they are loaded; in a warm worker that was before the job was known.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

QUIET = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""What a worker's environment says besides, so that no library starts threads while it is loaded: OpenBLAS its pool, pyarrow (which pandas
imports) the thread in which its allocator gives memory back."""

_OPENBLAS = (
    "openblas_set_num_threads",
    "scipy_openblas_set_num_threads",
    "scipy_openblas_set_num_threads64_",
    "openblas_set_num_threads64_",
)


def openblas_threads(environment: Mapping[str, str], cores: int) -> int:
    """Return how many threads OpenBLAS would have: by its own variable, else by OpenMP's, else one a core."""
    return _first_number(environment, ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")) or cores


def openmp_threads(environment: Mapping[str, str], cores: int) -> int:
    """Return how many threads OpenMP would have: by its variable, else one a core."""
    return _first_number(environment, ("OMP_NUM_THREADS",)) or cores


class ThreadPools:
    """The thread pools of the libraries that this process has loaded, found before it is forked.

    Args:
        environment: in which they were loaded.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        # Kept as text, as that is what the libraries were told: a job that says the same needs no call.
        self._openmp_text = environment.get("OMP_NUM_THREADS")
        self._openblas: list[Callable[[int], object]] = []
        self._openmp: list[Callable[[int], object]] = []
        # By the name of the file, as several copies may be loaded, each with its own pool: numpy's and scipy's OpenBLAS.
        for path in _libraries():
            name = path.rsplit("/", 1)[-1]
            if "openblas" in name:
                self._openblas += _setter(path, _OPENBLAS)
            elif name.startswith(("libgomp", "libiomp5", "libomp")):
                self._openmp += _setter(path, ("omp_set_num_threads",))

    def resize(self, environment: Mapping[str, str]) -> None:
        """Give them the numbers of threads that they would have if they were loaded by a new process with this environment."""
        # The job's own cores, which this process has been given by now; libraries count the same.
        cores = len(os.sched_getaffinity(0))
        # OpenBLAS began with one thread (`QUIET`), so that one is what it has.
        blas = openblas_threads(environment, cores)
        for call in self._openblas if blas != 1 else ():
            call(blas)
        if environment.get("OMP_NUM_THREADS") == self._openmp_text:
            return
        # OpenMP starts no thread before its first parallel part, so that a number that was set now is as good as one read at loading.
        for call in self._openmp:
            call(openmp_threads(environment, cores))
        # torch has taken OpenMP's number as its own when it was imported, unless MKL's variable says another.
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.set_num_threads(_first_number(environment, ("MKL_NUM_THREADS",)) or openmp_threads(environment, cores))


def _first_number(environment: Mapping[str, str], names: tuple[str, ...]) -> int:
    for name in names:
        # OpenMP takes a list, one number for each level of nesting.
        text = environment.get(name, "").split(",")[0].strip()
        if text.isdigit() and int(text) > 0:
            return int(text)
    return 0


def _libraries() -> list[str]:
    # What is mapped is what is loaded, whoever loaded it and under whatever name.
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
        paths = (line.rstrip("\n").split(None, 5)[5:] for line in file if "blas" in line or "omp" in line)
        return [*dict.fromkeys(path[0] for path in paths if path and ".so" in path[0])]


def _setter(path: str, names: tuple[str, ...]) -> list[Callable[[int], object]]:
    """Return the first of these functions that a library has, in a list; an empty one where it has none."""
    import ctypes

    # Loaded already, so that this opens it once more and runs nothing.
    try:
        library = ctypes.CDLL(path)
    except OSError:
        return []
    return [getattr(library, name) for name in names if hasattr(library, name)][:1]
