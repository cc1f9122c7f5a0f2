"""The search finds counterexamples, and invents none."""

import numpy as np
import pytest

from verification.audit.arithmetic import DECIMALS, FLOATS
from verification.audit.search import EFFORTS, Effort, Problem, least_slack

SMOKE = EFFORTS["smoke"]


def search(slack, domain=lambda u: {"x": u[0], "y": u[1]}, dimension=2, seed=0, effort=SMOKE, **options):
    return least_slack(Problem(dimension, domain, slack, **options), np.random.default_rng(seed), effort)


@pytest.mark.parametrize("seed", range(5))
def test_search_finds_a_counterexample_in_a_corner(seed):
    finding = search(lambda m, p: (1999 - 1000 * p.x - 1000 * p.y) / 1000, seed=seed)
    assert finding.verdict == "refuted"
    assert finding.witness == {"x": 1.0, "y": 1.0}


@pytest.mark.parametrize("seed", range(5))
def test_search_finds_a_counterexample_on_an_edge(seed):
    finding = search(lambda m, p: p.x + 100 * (p.y - 37 / 100) ** 2 - 1 / 1000, seed=seed, exact=False)
    assert finding.verdict == "refuted"
    assert finding.witness["y"] == pytest.approx(0.37, abs=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_search_finds_a_narrow_counterexample_by_descent(seed):
    def slack(m, p):
        return ((p.x - 3 / 10) ** 2 + (p.y - 6 / 10) ** 2) * 1e4 - 1e-3

    finding = search(slack, seed=seed, exact=False, effort=Effort(1000, 1, 200))
    assert finding.verdict == "refuted"  # the disc takes 3e-7 of the square


@pytest.mark.parametrize("seed", range(5))
def test_search_does_not_invent_a_counterexample_to_an_equality(seed):
    finding = search(lambda m, p: 1 - 2 * p.x * p.y / (p.x**2 + p.y**2), seed=seed)
    assert finding.verdict == "supported"
    assert abs(finding.slack) < 1e-6


def test_search_never_leaves_the_region():
    def domain(u):
        return {"x": np.where(u[0] > 0.4, u[0], np.nan), "y": u[1]}

    finding = search(lambda m, p: p.x - 3 / 10, domain)
    assert finding.verdict == "supported"
    assert finding.slack == pytest.approx(0.1, abs=2e-3)


def test_a_counterexample_that_is_rounding_alone_is_not_called_refuted():
    finding = search(lambda m, p: ((p.x + 10**17) - 10**17 - p.x) + ((p.y + 10**17) - 10**17 - p.y))
    assert finding.slack < -0.1
    assert finding.verdict == "inconclusive"


def test_an_empty_region_is_vacuous():
    finding = search(lambda m, p: p.x * np.nan - 1, exact=False)
    assert finding.verdict == "vacuous"
    assert (finding.searched, finding.witness) == (0, {})


def test_points_outside_the_region_are_not_counted():
    everywhere = search(lambda m, p: p.x + 1)
    half = search(lambda m, p: p.x + 1, lambda u: {"x": np.where(u[1] > 0.5, u[0], np.nan)})
    assert half.searched < 0.7 * everywhere.searched


def test_decimals_and_doubles_agree_on_the_functions():
    for name in ("sqrt", "log", "exp", "fourth_root"):
        assert float(getattr(DECIMALS, name)(3)) == pytest.approx(
            float(getattr(FLOATS, name)(3.0)), rel=1e-15
        )
