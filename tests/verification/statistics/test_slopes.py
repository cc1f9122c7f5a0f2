import numpy as np
import pytest

from verification.engine.studies import Cell
from verification.engine.tally import Tally
from verification.statistics.decisions import CellCount
from verification.statistics.slopes import decide_equivalence, equality_decision, fit_slope, slope_decision


def cells(abscissa, means, rng, trials=400, spread=0.3):
    found = []
    for x, mean in zip(abscissa, means, strict=True):
        tally = Tally()
        for value in mean * rng.gamma(1 / spread**2, spread**2, trials):
            tally.add({"ratio": value})
        found.append(CellCount(Cell(f"x={x}", {"x": x}), tally))
    return found


def test_slope_of_an_exact_power_law():
    x = np.array([1.0, 3.0, 10.0, 100.0])
    slope = fit_slope(x, 5 * x**-0.5, 0.01 * x**-0.5)
    assert slope.value == pytest.approx(-0.5)
    assert np.exp(slope.intercept) == pytest.approx(5)


def test_scatter_beyond_the_errors_widens_the_interval():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    crooked = x * np.array([1.0, 1.5, 0.7, 1.0])
    assert fit_slope(x, crooked, 0.001 * x).error > 10 * fit_slope(x, x, 0.001 * x).error


@pytest.mark.parametrize(
    ("value", "error", "verdict"),
    [
        (1.0, 0.001, "supported"),
        (1.1, 0.01, "inconclusive"),
        (1.5, 0.01, "refuted"),
        (1.0, 1.0, "inconclusive"),
    ],
)
def test_equivalence(value, error, verdict):
    assert decide_equivalence(value, error, 1.0, 0.1, 1e-5)[0] == verdict


def test_slopes_true_and_false_over_many_simulated_claims():
    rng, x = np.random.default_rng(0), np.array([1.0, 10.0, 100.0])
    decide = slope_decision("x", 1.0, 0.1)
    for _ in range(100):
        assert decide(cells(x, x, rng), "ratio").verdict == "supported"
        assert decide(cells(x, x**0.75, rng), "ratio").verdict == "refuted"
    edge = [decide(cells(x, x**1.1, rng), "ratio").verdict for _ in range(100)]
    assert edge.count("inconclusive") == 100


def test_closed_forms_true_and_false_over_many_simulated_claims():
    rng, decide = np.random.default_rng(1), equality_decision(0.1)
    for _ in range(100):
        assert decide(cells([1, 2], [1.0, 1.0], rng, spread=0.15), "ratio").verdict == "supported"
        assert decide(cells([1, 2], [1.0, 1.2], rng, spread=0.15), "ratio").verdict == "refuted"


def test_a_test_without_power_supports_no_closed_form():
    rng = np.random.default_rng(2)
    assert equality_decision(0.1)(cells([1], [1.0], rng, trials=10), "ratio").verdict == "inconclusive"
