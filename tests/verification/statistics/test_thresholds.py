import numpy as np
import pytest

from verification.engine.studies import Cell
from verification.engine.tally import Tally
from verification.statistics.decisions import CellCount
from verification.statistics.thresholds import estimate_threshold, rises_decision, stays_decision

LADDER = (1.0, 1.5, 2.2, 3.3, 5.0, 7.5, 11.0)


def success_rate(separation, threshold):
    return 1 / (1 + (threshold / separation) ** 6)


def groups(rng, thresholds, trials=200):
    found = []
    for ratio, threshold in thresholds.items():
        for separation in LADDER:
            tally = Tally()
            for success in rng.random(trials) < success_rate(separation, threshold):
                tally.add({"recovered": success})
            parameters = {"family": "some", "noise_ratio": ratio, "separation": separation}
            found.append(CellCount(Cell(f"{ratio} {separation}", parameters), tally))
    return found


def test_threshold_and_its_error_over_many_samples():
    rng, trials, scores = np.random.default_rng(0), 60, []
    rates = [success_rate(k, 3.0) for k in LADDER]
    for _ in range(500):
        found = estimate_threshold(LADDER, rng.binomial(trials, rates), [trials] * len(LADDER))
        scores.append((found.log - np.log(3.0)) / found.error)
    assert abs(np.mean(scores)) < 0.3
    assert 0.7 < np.std(scores) < 1.2


def test_certain_success_has_an_error_too():
    found = estimate_threshold([1, 2, 4], [0, 0, 50], [50, 50, 50])
    assert found.error > 0
    assert 2 < found.value < 4
    low, high = found.interval()
    assert low < found.value < high


@pytest.mark.parametrize(
    ("second", "verdict"), [(3.0, "supported"), (2.0, "supported"), (5.0, "refuted"), (3.9, "inconclusive")]
)
def test_threshold_that_stays(second, verdict):
    counts = groups(np.random.default_rng(1), {1.0: 3.0, 9.0: second})
    assert stays_decision(1.3)(counts, "recovered").verdict == verdict


@pytest.mark.parametrize(
    ("slope", "thresholds", "verdict"),
    [
        (0.05, (2.0, 3.0, 4.0), "supported"),
        (0.2, (2.0, 2.0, 2.0), "refuted"),
        (0.05, (2.0, 6.0, 3.0), "refuted"),
    ],
)
def test_threshold_that_rises(slope, thresholds, verdict):
    counts = groups(np.random.default_rng(2), dict(zip((1.0, 16.0, 64.0), thresholds, strict=True)))
    assert rises_decision(slope)(counts, "recovered").verdict == verdict
