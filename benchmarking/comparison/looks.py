"""Studies that were looked at and then extended: how often, and what that costs."""

from __future__ import annotations


def level_after(looks: int, level: float) -> float:
    """Return at which level a study is judged that was looked at before it was extended.

    Who looks, and goes on while nothing is decided, has a chance to be wrong at each look. The level is divided by the number of all looks
    (Bonferroni), which is stricter than the constant boundary of so many looks (Pocock, Group sequential methods in the design and analysis
    of clinical trials, 1977: 0.0294 for two, 0.0158 for five) and needs no plan of how many there are to be.

    Args:
        looks: before the present one, each at fewer experiments than there are now.
        level: of one look.
    """
    return level / (looks + 1)
