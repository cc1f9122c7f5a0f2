import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests

from verification.engine.studies import Cell
from verification.engine.tally import Tally
from verification.statistics import binomial
from verification.statistics.binomial import (
    CLAIM_LEVEL,
    CONTROLS,
    MISS,
    SENSITIVITY,
    STATEMENTS,
    SUITE_ERROR,
    Count,
    decide_counts,
    decide_events,
    decide_probability,
    largest_number_of_trials,
    trials_needed,
)
from verification.statistics.decisions import CellCount
from verification.statistics.evidence import (
    least_that_refutes,
    log_evidence_above,
    log_evidence_below,
    most_that_supports,
    upper_limit,
)


@pytest.fixture
def _no_collection(monkeypatch):
    """Leave out the garbage collection that statsmodels asks for in every call."""
    monkeypatch.setattr("gc.collect", lambda *arguments: 0)


def outcomes(rng, rates, allowed, trials, repetitions, level):
    """How often a family of cells with these true rates gets each verdict."""
    found = {"supported": 0, "refuted": 0, "inconclusive": 0}
    for _ in range(repetitions):
        table = [Count(int(rng.binomial(trials, rate)), trials, allowed) for rate in rates]
        found[decide_counts(table, level)[0]] += 1
    return {verdict: count / repetitions for verdict, count in found.items()}


def test_error_rates_are_shared_out():
    assert pytest.approx(SUITE_ERROR) == STATEMENTS * CLAIM_LEVEL + (STATEMENTS + CONTROLS) * MISS


@pytest.mark.parametrize("cells", [1, 5])
def test_true_claims_on_the_edge_are_refuted_at_most_at_the_level(cells):
    # A level of 0.05 in place of CLAIM_LEVEL, so that thousands of claims can measure it.
    found = outcomes(np.random.default_rng(0), [0.1] * cells, 0.1, 300, 2000, 0.05)
    assert found["refuted"] <= binom.isf(1e-6, 2000, 0.05) / 2000


@pytest.mark.parametrize("cells", [1, 5])
def test_false_claims_on_the_edge_are_supported_at_most_at_the_level(cells):
    rates = [0.1] + [0.01] * (cells - 1)  # one bad cell among good ones
    found = outcomes(np.random.default_rng(1), rates, 0.1, 300, 2000, 0.05)
    assert found["supported"] <= binom.isf(1e-6, 2000, 0.05) / 2000


def test_power_is_what_the_number_of_trials_was_chosen_for():
    rng, allowed = np.random.default_rng(2), 0.05
    trials = trials_needed(allowed, 4, SENSITIVITY["quick"])
    half = outcomes(rng, [allowed / 2] * 4, allowed, trials, 500, CLAIM_LEVEL)
    assert half["supported"] == 1.0
    twice = outcomes(rng, [2 * allowed] + [allowed / 10] * 3, allowed, trials, 500, CLAIM_LEVEL)
    assert twice["refuted"] == 1.0


@pytest.mark.parametrize("allowed", [0.001, 0.05, 0.4, 0.9])
@pytest.mark.parametrize("profile", ["smoke", "quick", "full"])
def test_trials_meet_the_exact_power(allowed, profile):
    below, above = SENSITIVITY[profile]
    trials = trials_needed(allowed, 3, SENSITIVITY[profile])
    needed = np.log(3 / CLAIM_LEVEL)
    most = most_that_supports(trials, allowed, CLAIM_LEVEL / 3)
    least = least_that_refutes(trials, allowed, CLAIM_LEVEL / 3)
    assert log_evidence_below(most, trials, allowed) >= needed > log_evidence_below(most + 1, trials, allowed)
    assert (
        log_evidence_above(least, trials, allowed) >= needed > log_evidence_above(least - 1, trials, allowed)
    )
    assert binom.cdf(most, trials, below * allowed) >= 1 - MISS
    assert binom.sf(least - 1, trials, min(1.0, above * allowed)) >= 1 - MISS


@pytest.mark.usefixtures("_no_collection")
@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_holm_is_that_of_statsmodels(count):
    rng = np.random.default_rng(count)
    for _ in range(50):
        p_values = rng.random(count) ** 3
        # Some are on the edge of a step, and some are equal.
        p_values[rng.random(count) < 0.3] = 0.1 / rng.integers(1, count + 1)
        expected = multipletests(p_values, alpha=0.1, method="holm")[0]
        np.testing.assert_array_equal(binomial._holm(p_values, 0.1), expected)


def test_no_violation_in_few_trials_supports_nothing():
    verdict, limits = decide_counts([Count(0, 20, 0.05)])
    assert verdict == "inconclusive"
    assert limits[0].upper_limit == upper_limit(0, 20, CLAIM_LEVEL)
    assert limits[0].upper_limit > 1 - CLAIM_LEVEL ** (1 / 20)  # Clopper and Pearson's, for a single look


def test_violation_in_every_trial_has_the_limit_one():
    verdict, limits = decide_counts([Count(50, 50, 0.05)])
    assert verdict == "refuted"
    assert limits[0].upper_limit == 1.0


def test_one_violation_refutes_an_exact_claim():
    assert decide_counts([Count(0, 10, 0.0), Count(0, 10, 0.0)])[0] == "supported"
    assert decide_counts([Count(0, 10, 0.0), Count(1, 10, 0.0)])[0] == "refuted"


def counted(values, allowed):
    tally = Tally()
    for value in values:
        tally.add({"ratio": value})
    return CellCount(Cell(f"cell {allowed}", {}, allowed), tally)


def test_cells_that_allow_everything_are_vacuous():
    assert decide_probability([counted([0.1], 1.0), counted([0.1], 3.6)], "ratio").verdict == "vacuous"
    mixed = decide_probability([counted([], 1.0), counted([0.1] * 400, 0.1)], "ratio")
    assert mixed.verdict == "supported"
    assert [row["vacuous"] for row in mixed.cells] == [True, False]


def test_undecided_claims_say_how_many_more_trials():
    decision = decide_probability([counted([2.0] * 9 + [0.5] * 91, 0.1)], "ratio")
    assert decision.verdict == "inconclusive"
    assert decision.more_trials > 100
    assert "more trials would decide" in decision.detail


def test_slack_is_the_smallest_supported_multiple():
    # Uniform ratios on (0, 0.5): a bound of 0.45 is passed by one tenth of them, twice what is allowed.
    values = np.linspace(0, 0.5, 4000, endpoint=False)
    item = counted(values, 0.05)
    decision = decide_probability([item], "ratio")
    assert 0.475 <= decision.slack <= 0.51
    assert 0.4 <= decision.caught <= 0.475
    assert decide_events([item], "ratio").slack is None


def test_the_closest_cell_is_the_one_whose_bound_has_the_least_room():
    # Nine tenths are allowed, and no ratio is above a hundredth: near its allowed rate, and yet harmless.
    harmless = counted(np.linspace(-0.2, 0.01, 300), 0.9)
    decision = decide_probability([harmless, counted(np.linspace(0, 0.5, 4000), 0.05)], "ratio")
    assert "closest cell cell 0.05" in decision.detail


def test_the_largest_number_of_trials_tells_a_factor_of_two_in_every_profile():
    for profile in SENSITIVITY:
        first = trials_needed(0.1, 4, SENSITIVITY[profile])
        assert largest_number_of_trials(0.1, 4, first) >= trials_needed(0.1, 4, SENSITIVITY["quick"])
