"""What a cluster of this machine's own may use of it: cores and GPUs that no other experiment here has meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from backends.common.cpu_quota import usable_cores
from backends.common.gpus import gpu_ids
from backends.common.leases import Lease, LeaseBook
from backends.common.leases_folder import leases_folder
from backends.ray.shapes import RayShape, parse_shape
from backends.worker_needs import WorkerNeeds

RETRY_S = 0.075
"""Seconds between two looks at whether what is wanted is free."""


def cores_and_gpus(needs: WorkerNeeds, n_cores: int, n_gpus: int) -> tuple[int, int]:
    """Return how many cores and GPUs all workers take together, of so many that there are; none where no type fits.

    GPUs are taken all or none: which of them a job gets Ray chooses, among all that its cluster has.
    """

    def fits(shape: RayShape) -> bool:
        return shape.cpus <= n_cores and shape.gpus <= n_gpus

    shapes = [shape for shape in map(parse_shape, needs.instance_types) if fits(shape)]
    cores = min(n_cores, needs.n_workers * max((shape.cpus for shape in shapes), default=0))
    return cores, n_gpus if any(shape.gpus for shape in shapes) else 0


class MachineLease:
    """The lease of one experiment, taken from the same book as jobs of this machine take theirs.

    Args:
        environ: the controller's environment.
        tag: of the experiment, by which others are told who holds what they wait for.
    """

    def __init__(self, environ: Mapping[str, str], tag: str) -> None:
        self._cores, self._gpus = usable_cores(), gpu_ids(environ)
        self._book = LeaseBook(leases_folder(environ), self._cores, f"experiment {tag}" if tag else "")
        self._lease: Lease | None = None

    def reserve(
        self, needs: WorkerNeeds, waiting: Callable[[str], None], given_up: Callable[[], bool], pause: Callable[[float], object]
    ) -> None:
        """Take what all workers need; see `Backend.reserve`. `pause` waits so many seconds, or until somebody wants this thread."""
        cores, gpus = cores_and_gpus(needs, len(self._cores), len(self._gpus))
        said = ""
        try:
            while cores and self._lease is None and not given_up():
                self._lease = self._book.acquire(cores, gpus, self._gpus, needs.exclusive, in_turn=True)
                if self._lease is not None:
                    return
                held = self._book.held_by_others(self._gpus if gpus else ())
                if held and held != said:
                    waiting(held)
                    said = held
                pause(RETRY_S)
        finally:
            self._book.give_up()

    def release(self) -> None:
        """Give everything back."""
        if self._lease is not None:
            self._lease.release()
