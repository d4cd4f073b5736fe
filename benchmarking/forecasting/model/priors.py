"""What is known beforehand of how algorithms grow with the data, by family. Data.

Sources: epochs over the data are linear in it by construction; histogram boosting (Ke et al., LightGBM, NeurIPS 2017) and k-means are
linear per iteration; sorting and tree growing are n log n (Louppe, "Understanding random forests", 2014, section 5); kernel machines take
n^2 to n^3 (Bottou and Lin, "Support vector machine solvers", 2007); exact neighbours and linkage n^2; Gaussian processes n^3 (Rasmussen
and Williams, 2006, section 2.2). Iteration counts to convergence vary with n, hence wide components.
"""

from __future__ import annotations

from definitions.errors import UserError, did_you_mean

Exponents = tuple[tuple[float, float, float], ...]

UNKNOWN = ""

FAMILIES: dict[str, Exponents] = {
    # An algorithm that is not named is one of those below: one that passes over the data is linear exactly, one that sorts n log n.
    UNKNOWN: ((0.46, 1.0, 0.012), (0.2, 1.08, 0.04), (0.23, 1.05, 0.15), (0.03, 0.0, 0.05), (0.03, 2.0, 0.12), (0.05, 1.6, 0.5)),
    "constant": ((0.9, 0.0, 0.01), (0.1, 0.3, 0.3)),
    "epochs": ((0.85, 1.0, 0.02), (0.15, 1.0, 0.12)),
    "linear": ((0.8, 1.0, 0.02), (0.2, 1.0, 0.12)),
    "trees": ((0.45, 1.0, 0.04), (0.55, 1.02, 0.15)),
    "sort": ((0.8, 1.08, 0.04), (0.2, 1.1, 0.15)),
    "iterative": ((0.5, 1.0, 0.06), (0.5, 1.05, 0.25)),
    "clustering": ((0.5, 1.0, 0.06), (0.5, 1.05, 0.25)),
    "neighbours": ((0.7, 2.0, 0.08), (0.3, 1.7, 0.35)),
    "kernel": ((0.6, 2.0, 0.12), (0.4, 2.0, 0.4)),
    "gaussian_process": ((0.6, 3.0, 0.15), (0.4, 2.6, 0.4)),
}
"""Family -> components (weight, mean, standard deviation) of the exponent of the fit phase."""


def exponents_of(family: str) -> Exponents:
    """Return the prior of a family's exponent; raises `UserError` where there is no such family.

    Half of it is that of an algorithm that is not named: who tells the family may be wrong, and no forecast shall be the narrower for that.
    """
    if family not in FAMILIES:
        known = [name for name in FAMILIES if name]
        raise UserError(f"family {family!r} is not known", did_you_mean(family, known), "leave it empty where it is not known")
    if family == UNKNOWN:
        return FAMILIES[UNKNOWN]
    return tuple((weight / 2, mean, sd) for one in (family, UNKNOWN) for weight, mean, sd in FAMILIES[one])
