"""A small Gaussian process: Matern 5/2 with a length-scale per dimension, fitted by maximum a posteriori.

Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006: chapters 2, 4.2 and 5.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_JITTER = 1e-8
"""Added to the diagonal of a kernel, so that it stays positive definite where inputs coincide."""

_ROOT5 = 5.0**0.5


class GaussianProcess:
    """Predicts a standardised target.

    Args:
        inputs: (n, d), in the unit cube.
        targets: (n,), finite.
    """

    def __init__(self, inputs: NDArray[np.float64], targets: NDArray[np.float64]) -> None:
        import numpy as np
        from scipy.optimize import minimize

        self._inputs: NDArray[np.float64] = np.asarray(inputs, dtype=float)
        targets = np.asarray(targets, dtype=float)
        self._mean = float(targets.mean())
        self._scale = float(targets.std()) or 1.0
        self._targets = (targets - self._mean) / self._scale
        width = self._inputs.shape[1]
        # Log length-scales, log signal variance, log noise variance: each with a normal prior.
        self._centre = np.concatenate([np.full(width, np.log(0.4) + 0.5 * np.log(max(width, 1)) / 2), [0.0], [np.log(1e-3)]])
        self._spread = np.concatenate([np.full(width, 0.8), [1.0], [2.0]])
        self._squares = (self._inputs[:, None, :] - self._inputs[None, :, :]) ** 2
        # Maximum a posteriori: the mode of the posterior density of the logarithms; the search starts at the prior's.
        bounds = [(-4.0, 4.0)] * width + [(-4.0, 4.0)] + [(np.log(1e-6), np.log(1.0))]
        found = minimize(self.cost, self._centre, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 40})
        self.hyperparameters = found.x
        self._factor, self._weights = self._solve(self.hyperparameters)

    def predict(self, inputs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and standard deviation of the noise-free target, in its own units.

        Args:
            inputs: (m, d).
        """
        import numpy as np
        from scipy.linalg import solve_triangular

        cross = self._kernel(np.asarray(inputs, dtype=float), self._inputs, self.hyperparameters)
        mean = cross @ self._weights
        half = solve_triangular(self._factor, cross.T, lower=True)
        variance = np.exp(self.hyperparameters[-2]) - (half**2).sum(axis=0)
        return self._mean + self._scale * mean, self._scale * np.sqrt(np.maximum(variance, 1e-12))

    def with_believed(self, inputs: NDArray[np.float64]) -> GaussianProcess:
        """Return the process as if these inputs had been measured at their predicted mean, the hyperparameters unchanged.

        Args:
            inputs: (m, d).
        """
        import numpy as np

        mean, _ = self.predict(inputs)
        made = object.__new__(GaussianProcess)
        made.__dict__.update(self.__dict__)
        made._inputs = np.vstack([self._inputs, inputs])
        made._targets = np.concatenate([self._targets, (mean - self._mean) / self._scale])
        made._squares = (made._inputs[:, None, :] - made._inputs[None, :, :]) ** 2
        made._factor, made._weights = made._solve(self.hyperparameters)
        return made

    def _kernel(self, one: NDArray[np.float64], other: NDArray[np.float64], parameters: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Matern 5/2 covariances, (n, m), between inputs (n, d) and (m, d) (Rasmussen and Williams, eq. 4.17)."""
        import numpy as np

        lengths, signal = np.exp(parameters[:-2]), np.exp(parameters[-2])
        a, b = one / lengths, other / lengths
        squares = np.maximum((a**2).sum(1)[:, None] + (b**2).sum(1)[None, :] - 2 * a @ b.T, 0.0)
        r = _ROOT5 * np.sqrt(squares)
        found: NDArray[np.float64] = signal * (1 + r + 5 / 3 * squares) * np.exp(-r)
        return found

    def _solve(self, parameters: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the Cholesky factor of the covariances, (n, n), and the weights of the observations, (n,) (their algorithm 2.1)."""
        import numpy as np
        from scipy.linalg import cho_solve, cholesky

        kernel = self._kernel(self._inputs, self._inputs, parameters)
        kernel[np.diag_indices_from(kernel)] += np.exp(parameters[-1]) + _JITTER
        factor = cholesky(kernel, lower=True)
        return factor, cho_solve((factor, True), self._targets)

    def cost(self, parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the negative log posterior density, up to a constant, and its gradient (d + 2,).

        Args:
            parameters: (d + 2,) logarithms of the length-scales, the signal's variance and the noise's.
        """
        import numpy as np
        from scipy.linalg import LinAlgError, cho_solve

        # The prior: independent normal densities of the logarithms.
        deviation = (parameters - self._centre) / self._spread
        try:
            factor, weights = self._solve(parameters)
        except LinAlgError:
            return 1e10, np.zeros_like(parameters)
        # The negative log marginal likelihood (eq. 5.8), plus the prior's.
        value = 0.5 * self._targets @ weights + np.log(np.diag(factor)).sum() + 0.5 * (deviation**2).sum()
        # Its gradient by each parameter is half the trace of (inverse covariance - weights weights') times the kernel's slope (eq. 5.9).
        outer = cho_solve((factor, True), np.eye(len(weights))) - np.outer(weights, weights)
        lengths, signal = np.exp(parameters[:-2]), np.exp(parameters[-2])
        r = _ROOT5 * np.sqrt((self._squares / lengths**2).sum(axis=2))
        decay = np.exp(-r)
        inner = outer * (signal * 5 / 3 * (1 + r) * decay)
        slopes = 0.5 * np.einsum("ij,ijk->k", inner, self._squares) / lengths**2
        by_signal = 0.5 * (outer * (signal * (1 + r + r**2 / 3) * decay)).sum()
        by_noise = 0.5 * np.trace(outer) * np.exp(parameters[-1])
        gradient = np.concatenate([slopes, [by_signal, by_noise]]) + deviation / self._spread
        return float(value), gradient
