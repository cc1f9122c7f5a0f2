"""Matching fewer pairs than there are points: `match(..., pairs=k)` and `match_path`."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, match, match_path
from tests.support.matching import PROVEN, noise_of
from tests.support.partial import least_costs
from tests.support.reference import costs

COVARIANCE = np.diag([1.0, 3.0, 0.5]) + 0.2
ALIGNMENTS = ("standardize", "identity", "profile", "auto", Affine(1.5, np.array([0.5, 0.0, 1.0])))


def draw(n, m, d=3, noise=0.2, seed=0):
    rng = np.random.default_rng([n, m, d, seed])
    features = rng.normal(size=(max(n, m), d))
    x, y = (features + noise * rng.normal(size=features.shape) for _ in range(2))
    return x[:n], y[::-1][:m]


def count(result):
    return np.count_nonzero(result.permutation >= 0)


@pytest.mark.parametrize("objective", PROVEN)
@pytest.mark.parametrize(("n", "m"), [(4, 4), (3, 5), (5, 3)])
def test_the_pairs_are_the_best_of_their_number(objective, n, m):
    x, y = draw(n, m)
    noise = noise_of(objective, n, m)
    path = match_path(x, y, objective=objective, noise=noise)
    least = least_costs(costs(objective, x, y, path.first.scale, path.first.shift, noise))
    np.testing.assert_allclose(path.objective, least, rtol=1e-9, atol=1e-9)
    for k in range(1, min(n, m) + 1):
        result = match(x, y, objective=objective, noise=noise, pairs=k)
        assert count(result) == count(path.matching(k)) == k
        assert result.objective == pytest.approx(least[k], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("covariance", ["isotropic", COVARIANCE, "estimate"], ids=str)
@pytest.mark.parametrize(
    ("objective", "alignment"),
    [("lsl", alignment) for alignment in ALIGNMENTS] + [("lss", "standardize"), ("lsns", "profile")],
    ids=str,
)
def test_every_objective_alignment_and_covariance_has_a_certificate(objective, alignment, covariance):
    x, y = draw(12, 10)
    options = {"objective": objective, "alignment": alignment, "covariance": covariance}
    options["noise"] = noise_of(objective, 12, 10)
    path = match_path(x, y, **options)
    for k in (1, 6, 9, 10):
        for result in (path.matching(k), match(x, y, pairs=k, **options)):
            assert count(result) == k
            assert result.objective == pytest.approx(path.objective[k], abs=1e-9)
            assert (result.price is None) == (k == 10)
            assert check_certificate(x, y, result) <= 1e-10


def test_all_pairs_are_todays_result():
    x, y = draw(9, 7)
    for one, other in zip(match(x, y), match(x, y, pairs=7), strict=True):
        np.testing.assert_array_equal(one, other)


def test_increments_never_fall_and_are_the_prices():
    x, y = draw(30, 25)
    path = match_path(x, y)
    assert (np.diff(path.increments) >= 0.0).all()
    np.testing.assert_allclose(np.diff(path.objective), path.increments, atol=1e-10)
    assert path.matching(8).price == path.increments[7]
    assert path.chosen is None


def test_paths_can_be_compared():
    x, y = draw(9, 7)
    path = match_path(x, y)
    assert path == match_path(x, y)
    assert path != match_path(x, y, objective="lss")


def test_points_without_a_partner_are_left_out():
    rng = np.random.default_rng(2)
    features = rng.normal(size=(20, 4))
    x = np.vstack([features, 30.0 + rng.normal(size=(3, 4))])
    y = np.vstack([rng.normal(size=(5, 4)) - 40.0, features[::-1] + 1e-3 * rng.normal(size=(20, 4))])
    result = match(x, y, alignment="identity", pairs=20)
    assert result.permutation.tolist() == [*range(24, 4, -1), -1, -1, -1]
    increments = match_path(x, y, alignment="identity").increments
    assert increments[20] - increments[19] > 10.0


def test_exchanging_the_sets_exchanges_the_pairs():
    x, y = draw(11, 8)
    given, exchanged = (match(*sets, pairs=5, alignment="identity") for sets in ((x, y), (y, x)))
    rows = np.flatnonzero(given.permutation >= 0)
    assert exchanged.permutation[given.permutation[rows]].tolist() == rows.tolist()
    assert exchanged.objective == pytest.approx(given.objective, abs=1e-10)


def test_scale_shift_and_order_of_the_points_do_not_matter():
    x, y = draw(11, 11)
    expected = match(x, y, pairs=6)
    order = np.random.default_rng(0).permutation(11)
    moved = match(3.0 * x[order] - 7.0, 0.25 * y + 2.0, pairs=6)
    assert moved.permutation.tolist() == expected.permutation[order].tolist()


@pytest.mark.parametrize("k", [1, 3, 5])
def test_coincident_points_and_no_noise_are_ordinary(k):
    x = np.repeat(draw(3, 3)[0], 2, axis=0)
    for y in (x, x[::-1] * 2.0 + 1.0, np.zeros((6, 3)) + x[0]):
        result = match(x, y, pairs=k, alignment="identity")
        assert count(result) == k
        assert check_certificate(x, y, result) <= 1e-12


@pytest.mark.parametrize("objective", PROVEN)
def test_the_number_of_workers_changes_nothing(objective):
    x, y = draw(40, 45)
    noise = noise_of(objective, 40, 45)
    results = [match(x, y, objective=objective, noise=noise, pairs=33, workers=w) for w in (1, 3)]
    for one, other in zip(*results, strict=True):
        np.testing.assert_equal(one, other)


# ---------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        (0, ValueError, "pairs must be at least 1; got 0"),
        (-3, ValueError, "pairs must be at least 1"),
        (8, ValueError, "pairs must be at most 7"),
        (2.0, TypeError, "pairs must be a whole number"),
        (True, TypeError, "pairs must be a whole number"),
        (None, TypeError, "pairs must be a whole number"),
        ("most", ValueError, "pairs must be one of 'all'"),
    ],
)
def test_a_number_of_pairs_that_cannot_be(pairs, error, message):
    x, y = draw(9, 7)
    with pytest.raises(error, match=message):
        match(x, y, pairs=pairs)


def test_greedy_has_no_best_pairs():
    x, y = draw(9, 7)
    with pytest.raises(ValueError, match="pairs must be 'all' for objective 'greedy'"):
        match(x, y, objective="greedy", pairs=3)
    with pytest.raises(ValueError, match="objective must be one of"):
        match_path(x, y, objective="greedy")


def test_a_path_has_matchings_of_one_to_all_pairs():
    path = match_path(*draw(9, 7))
    for k, message in ((0, "k must be at least 1"), (8, "k must be at most 7")):
        with pytest.raises(ValueError, match=message):
            path.matching(k)


def test_a_path_of_too_many_points_is_refused_with_advice():
    x, y = np.zeros((20_000, 1)), np.zeros((20_000, 1))
    with pytest.raises(ValueError, match=r"match\(x, y, pairs=k\) needs no matrix"):
        match_path(x, y)


# ------------------------------------------------------------------------------ what the certificate finds


@pytest.fixture(params=["isotropic", "given", "learned"])
def proven(request):
    """Two sets and a certified partial matching of them."""
    x, y = draw(14, 12)
    covariance = {"isotropic": "isotropic", "given": COVARIANCE, "learned": "estimate"}[request.param]
    result = match(x, y, pairs=8, covariance=covariance)
    assert check_certificate(x, y, result) <= 1e-10
    return x, y, result


def test_a_swapped_pair_is_found(proven):
    x, y, result = proven
    first, second = np.flatnonzero(result.permutation >= 0)[:2]
    permutation = result.permutation.copy()
    permutation[[first, second]] = permutation[[second, first]]
    assert check_certificate(x, y, result._replace(permutation=permutation)) > 1e-3


def test_a_pair_of_unmatched_points_instead_of_a_matched_one_is_found(proven):
    x, y, result = proven
    matched, free = np.flatnonzero(result.permutation >= 0)[0], np.flatnonzero(result.permutation < 0)[0]
    permutation = result.permutation.copy()
    permutation[free], permutation[matched] = permutation[matched], -1
    assert check_certificate(x, y, result._replace(permutation=permutation)) > 1e-3


@pytest.mark.parametrize("side", ["row_dual", "col_dual"])
def test_a_positive_dual_is_found(proven, side):
    x, y, result = proven
    duals = getattr(result, side).copy()
    duals[np.argmax(duals)] = 0.25
    assert check_certificate(x, y, result._replace(**{side: duals})) >= 0.25


@pytest.mark.parametrize("side", ["row_dual", "col_dual"])
def test_a_dual_of_an_unmatched_point_that_is_not_0_is_found(proven, side):
    x, y, result = proven
    matched = np.flatnonzero(result.permutation >= 0) if side == "row_dual" else result.permutation
    duals = getattr(result, side).copy()
    duals[np.setdiff1d(np.arange(duals.size), matched)[0]] = -0.25
    assert check_certificate(x, y, result._replace(**{side: duals})) >= 0.25


@pytest.mark.parametrize("change", [0.125, -0.125, np.nan, np.inf])
def test_a_wrong_price_is_found(proven, change):
    x, y, result = proven
    assert not check_certificate(x, y, result._replace(price=result.price + change)) < 0.1


def test_a_partial_matching_without_its_price_is_refused(proven):
    x, y, result = proven
    with pytest.raises(ValueError, match=r"result\.permutation must match 12 points"):
        check_certificate(x, y, result._replace(price=None))
