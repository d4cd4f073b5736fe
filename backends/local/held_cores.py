"""Cores and GPUs that an experiment holds for its whole life, and lends to its jobs one after the other."""

from __future__ import annotations

from backends.common.leases import Lease


class HeldCores:
    """What one lease of the machine is divided into.

    Args:
        lease: of the whole; given back by `release`.
    """

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._cores, self._gpus = list(lease.cores), list(lease.gpus)
        self._n_lent = 0

    def acquire(self, cores: int, gpus: int, *, exclusive: bool) -> Lease | None:
        """Return a lease of a part, the first cores and GPUs that are free; None where there are too few now.

        Args:
            cores: how many cores.
            gpus: how many GPUs.
            exclusive: whether no other part may be lent at the same time.
        """
        if cores > len(self._cores) or gpus > len(self._gpus) or (exclusive and self._n_lent):
            return None
        lent_cores, self._cores = tuple(self._cores[:cores]), self._cores[cores:]
        lent_gpus, self._gpus = tuple(self._gpus[:gpus]), self._gpus[gpus:]
        self._n_lent += 1

        def take_back() -> None:
            # In the order of the whole again, so that jobs one after the other run on the same ones.
            self._cores = sorted([*self._cores, *lent_cores], key=self._lease.cores.index)
            self._gpus = sorted([*self._gpus, *lent_gpus], key=self._lease.gpus.index)
            self._n_lent -= 1

        return Lease(lent_cores, lent_gpus, take_back)

    def release(self) -> None:
        """Give everything back to the machine."""
        self._lease.release()
