"""How an objective goes on."""

import numpy as np
import pytest

from benchmarking.forecasting.metric.curve import MetricCurve, draws


def law(a, b, c, levels=(0.03, 0.03, 0.1, 0.1, 0.3), noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    return MetricCurve(tuple(levels), tuple(a + b * x**-c + noise * rng.standard_normal() for x in levels))


def median(curve, full=1.0):
    return float(np.median(draws(curve, full, 4000, np.random.default_rng(1))))


@pytest.mark.parametrize(("a", "b", "c"), [(0.1, 0.02, 0.5), (0.0, 0.05, 0.4), (0.2, 0.01, 1.0), (2.0, -0.1, 0.5)])
def test_a_law_goes_on_as_it_does(a, b, c):
    curve = law(a, b, c)
    left = abs(curve.last - (a + b))
    assert abs(median(curve) - (a + b)) < 0.5 * left
    assert abs(median(curve) - (a + b)) < 0.1 * abs(curve.changed)


def test_what_has_come_to_its_end_stays_there():
    curve = MetricCurve((0.01, 0.03, 0.1, 0.3), (0.9, 0.3, 0.301, 0.3))
    assert median(curve) == pytest.approx(0.3, abs=0.03)


def test_an_error_never_falls_below_zero():
    assert float(draws(law(0.0, 0.01, 0.8), 100.0, 2000, np.random.default_rng(0)).min()) >= 0.0


def test_hundreds_of_epochs_are_as_few_even_ones_and_no_surer_than_these():
    epochs = tuple(float(k) for k in range(1, 201))
    curve = MetricCurve(epochs, tuple(0.2 + 0.8 * k**-0.5 for k in epochs))
    drawn = draws(curve, 2000.0, 4000, np.random.default_rng(0))
    assert float(np.median(drawn)) == pytest.approx(0.2 + 0.8 * 2000**-0.5, abs=0.02)
    assert float(np.std(drawn)) > 0.003


def test_eighty_percent_intervals_hold_of_noisy_laws():
    rng = np.random.default_rng(4)
    held = nearer = 0
    for seed in range(200):
        a, b, c = rng.uniform(0.0, 0.3), rng.uniform(0.01, 0.1), rng.uniform(0.2, 1.0)
        curve = law(a, b, c, noise=0.03 * abs(b) * 0.3**-c, seed=seed)
        drawn = draws(curve, 1.0, 1000, np.random.default_rng(seed))
        low, high = np.quantile(drawn, (0.1, 0.9))
        held += low <= a + b <= high
        nearer += abs(np.median(drawn) - a - b) < abs(curve.last - a - b)
    assert 0.75 <= held / 200 <= 0.99
    assert nearer / 200 > 0.85
