"""Exponential smoothing."""


def smooth(values: list[float], alpha: float) -> list[float]:
    """Return the forecasts of each next value."""
    level, forecasts = values[0], []
    for value in values:
        forecasts.append(level)
        level += alpha * (value - level)
    return forecasts
