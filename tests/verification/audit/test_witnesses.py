"""The witnesses of failing steps, and the numbers of the explanations, by formulas of their own."""

import math

import numpy as np
import pytest
from scipy.stats import chi2, norm

from verification.audit import KNOWN_FAILURES, STEPS
from verification.audit.regions import theorem_region
from verification.audit.search import EFFORTS, least_slack, slack_at
from verification.audit.theorem_2_error import constant_needed, smallest_n
from verification.audit.theorem_2_suprema import rounding_suffices_from

SMOKE = EFFORTS["smoke"]


def over_delta(w, constant, power):
    return math.log(constant / 4) + power * math.log(w["n"]) + w["log_4_delta"]


def scale_minimiser(w):
    z, z_sharp = (np.array([w[f"{name}_{k}"] for k in (1, 2, 3)]) for name in ("z", "z_sharp"))
    best = np.linalg.lstsq(z_sharp[:, None], z, rcond=None)[0][0]
    claimed = math.sqrt(z @ z_sharp / (z_sharp @ z_sharp))
    return np.sum((z - claimed * z_sharp) ** 2), np.sum((z - best * z_sharp) ** 2)


def likelihood(w):
    v = np.array([w[f"v_{k}"] for k in (1, 2, 3)])
    squares = (w["first"] / w["tau"] ** 2 + w["second"]) / v
    shown, exact = (np.diff(squares + k * w["d"] * np.log(v)) for k in (1, 2))
    return shown[0] * exact[1], shown[1] * exact[0]


def cross_expectation(w):
    theta = np.array([w[f"theta_{k}"] for k in (1, 2, 3)])
    centred = theta - theta.mean()
    return centred @ ((theta - w["shift"]) / w["scale"]), centred @ centred


def moving_direction(w):
    mu_i, mu_j = np.array([w["mu_along"], w["mu_across"]]), np.array([1.0, 0.0])
    g, g_prime = (np.array([w[f"{name}_{k}"] for k in (1, 2)]) for name in ("g", "g_prime"))

    def f(a):
        gap = mu_i - a * mu_j
        return gap @ (g - a * w["ratio"] * g_prime) / np.linalg.norm(gap) / math.hypot(1, a * w["ratio"])

    step = 1e-7
    slope = abs(f(w["a"] + step) - f(w["a"] - step)) / (2 * step)
    return slope, math.sqrt(2) * max(np.linalg.norm(g), np.linalg.norm(g_prime))


def three_terms(w):
    small = w["alpha"] ** 2 * w["log_4_delta"] / (w["lam"] ** 2 + w["d"])
    return 12 * math.sqrt(small), 2 * small, 2 * w["d"] / w["n"] / (w["lam"] ** 2 + w["d"])


def zeta_2_term(w):
    net, norms = over_delta(w, 12, 3), over_delta(w, 4, 1)
    kept = 2 * math.sqrt(w["d"] * net) + 2 * net
    rest = 4 * w["epsilon"] / w["n"] * (w["d"] + 2 * math.sqrt(w["d"] * norms) + 2 * norms)
    return 16 / 3 * (kept + rest), 32 / 3 * (math.sqrt(w["d"] * net) + net)


def expectation(w):
    """Bound the mean by that of 1 / (g^2 + b^2), g standard normal, in closed form."""
    b = math.sqrt(w["n"] - 2) * w["ratio"]
    inverse = math.sqrt(math.pi / 2) * math.exp(b * b / 2) * math.erfc(b / math.sqrt(2)) / b
    return (1 - 1 / w["n"]) * inverse - 1, 1000.0


#: For each failing step its left and right side, which should have been equal, or left at most right.
SIDES = {
    "section-4-scale-minimiser": scale_minimiser,
    "section-4-likelihood": likelihood,
    "section-4-cross-expectation": cross_expectation,
    "section-4-second-moment": lambda w: (
        w["square"] + w["d"] * w["variance"],
        w["square"] + w["d"] * w["variance"] / 1000,
    ),
    "section-4-conditional": lambda w: (2 / math.pi * w["variance"], w["square"]),
    "prop-1-lemma-2-citation": lambda w: (2 * (w["delta"] / 2), w["delta"] / 2),
    "thm-1-error-identity": lambda w: (
        w["first_sum"] / (w["second_sum"] * w["scale"] ** 2) - 1,
        (w["first_sum"] - w["second_sum"]) / (w["scale"] ** 2 * w["second_sum"]),
    ),
    "thm-1-expectation": lambda w: (
        three_terms(w)[2],
        100 * w["alpha"] / math.hypot(w["lam"], math.sqrt(w["d"])),
    ),
    "lemma-3-maximum-union": lambda w: (
        math.log(4 * w["n"] ** 2) - over_delta(w, 8, 1),
        math.log(2) - w["log_4_delta"],
    ),
    "lemma-3-maximum-event": lambda w: (
        1 - math.exp(2 * w["n"] ** 2 * math.log1p(-2 * norm.sf(math.sqrt(2 * over_delta(w, 8, 1))))),
        w["delta"] / 2,
    ),
    "zeta-1-fixed-direction": moving_direction,
    "thm-2-first-term": lambda w: (sum(three_terms(w)), three_terms(w)[0]),
    "thm-2-zeta-1-term": lambda w: (
        math.sqrt(2 * over_delta(w, 24, 3)) + 2 * w["epsilon"] / w["n"] * math.sqrt(over_delta(w, 16, 1)),
        math.sqrt(2 * over_delta(w, 24, 3)),
    ),
    "thm-2-zeta-2-term": zeta_2_term,
    "thm-2-combination": lambda w: (
        128 * over_delta(w, 24, 3),
        32 / 3 * math.sqrt(w["d"] * over_delta(w, 12, 3)) + 128 * over_delta(w, 12, 3),
    ),
    "thm-1-expectation-display": expectation,
    "prop-1-frobenius-remark": lambda w: (w["bound"] + w["gap"], w["bound"]),
    "thm-2-zeta-1-defined": lambda w: (w["epsilon"] / 1000, abs(1 - w["tau"])),
    "thm-2-random-separation": lambda w: (
        abs(w["mu_i"] - w["mu_j"]) / math.sqrt(2) - w["epsilon"] * w["mu_j"],
        (1 + w["epsilon"]) * abs(w["mu_i"] - w["tau"] * w["mu_j"]) / math.hypot(1, w["tau"]),
    ),
    "thm-2-probability": lambda w: (2 * (w["delta"] / 2) + w["delta"] + 4 * w["delta"], 4 * w["delta"]),
}


IDENTITIES = {"section-4-likelihood", "section-4-cross-expectation", "thm-1-error-identity"}


@pytest.mark.parametrize("key", KNOWN_FAILURES)
def test_the_witness_of_a_failure_fails_by_an_independent_formula(results, key):
    left, right = SIDES[key](results[key].witness)
    if key in IDENTITIES:
        assert abs(left - right) > 1e-3 * (abs(left) + abs(right))
    else:
        assert left > right * (1 + 1e-4 * np.sign(right))


@pytest.mark.parametrize(
    "key", ["thm-2-first-term", "thm-2-zeta-1-term", "thm-2-zeta-2-term", "thm-2-combination"]
)
def test_the_witness_of_a_failure_satisfies_the_conditions_of_theorem_2(results, key):
    w = results[key].witness
    assert w["n"] >= max(w["d"], 8)
    assert float(w["n"]).is_integer()
    assert float(w["d"]).is_integer()
    assert w["n"] ** -0.5 * (1 - 1e-12) <= w["alpha"] <= 1
    assert math.log(4) < w["log_4_delta"] <= w["d"] / (1024 * w["alpha"] ** 2) * (1 + 1e-12)
    assert w["lam"] >= 0


def test_a_problem_is_re_evaluated_in_decimals_at_its_witness():
    step = {step.id: step for step in STEPS}["thm-2-combination"]
    finding = least_slack(step.problem, np.random.default_rng(0), SMOKE)
    assert slack_at(step.problem, finding.witness) == pytest.approx(finding.slack, rel=1e-9)


def test_the_conditions_of_theorem_2_force_n_to_be_at_least_38():
    def allows(n, delta):
        return any(4 * math.exp(-d * n / 1024) <= delta for d in range(1, n + 1))

    assert smallest_n() == next(n for n in range(8, 100) if allows(n, 1 - 1e-9)) == 38
    assert smallest_n(0.25) == next(n for n in range(8, 100) if allows(n, 0.25 - 1e-9)) == 54


def test_the_region_keeps_the_conditions_of_the_theorem():
    cube = np.random.default_rng(0).random((5, 20_000))
    with np.errstate(invalid="ignore"):
        p = theorem_region(cube, constant=1024, tall=True)
    inside = np.isfinite(p["alpha"])
    assert 0.5 < inside.mean() < 1
    p = {name: value[inside] for name, value in p.items()}
    assert (p["n"] >= 38).all()
    assert (p["d"] <= p["n"]).all()
    assert (p["alpha"] ** 2 * p["n"] >= 1 - 1e-12).all()
    assert (p["log_4_delta"] <= p["d"] / (1024 * p["alpha"] ** 2) * (1 + 1e-12)).all()


def test_epsilon_tau_is_largest_where_the_search_says(results):
    n = d = 38
    ell = d * n / 1024
    by_hand = 12 * math.sqrt(ell / n / d) + 2 * ell / n / d + 2 / n
    assert (1 - results["thm-2-half"].worst_slack) / 2 == pytest.approx(by_hand, rel=2e-3)
    assert by_hand < 0.5 < 12 / 32 + 2 / 1024 + 2 / 8


def test_rounding_alone_suffices_from_the_stated_n_on():
    ell = math.log(4 / 0.05)
    first = rounding_suffices_from(ell)

    def spare(n):
        given = 17 / 1.5 * math.sqrt(math.log(24 * n**3 / 0.05))
        return given - 8 * (
            math.sqrt(2 * math.log(24 * n**3 / 0.05)) + math.sqrt(math.log(16 * n / 0.05)) / n
        )

    assert spare(first - 1) < 0 < spare(first)
    assert all(spare(n) > 0 for n in range(first, 3000))
    assert rounding_suffices_from(1e9) == math.ceil(8 / (17 / 1.5 - 8 * math.sqrt(2)))


def test_thirteen_is_enough_for_all_three_terms(results):
    assert 12 < constant_needed(smallest_n()) < constant_needed(8) < 13
    assert 13 * (1 - results["thm-2-fifty-two"].worst_slack) <= constant_needed(smallest_n()) * (1 + 1e-6)


def test_directions_that_make_the_variables_of_lemma_3_independent():
    n = 5
    directions = np.array([[np.eye(n)[(i + j) % n] for j in range(n)] for i in range(n)])
    for k in range(n):  # g_i over j, and g'_j over i: orthonormal, hence independent
        np.testing.assert_array_equal(directions[k] @ directions[k].T, np.eye(n))
        np.testing.assert_array_equal(directions[:, k] @ directions[:, k].T, np.eye(n))


def test_the_norm_in_the_plane_has_the_tail_of_the_repair():
    t = np.linspace(0.1, 8, 50)
    np.testing.assert_allclose(chi2.sf(t**2, 2), np.exp(-(t**2) / 2), rtol=1e-12)
    assert (chi2.sf(t**2, 1) <= np.exp(-(t**2) / 2)).all()  # d = 1, or mu_i along mu_j
