"""A covariance that is known: the same as matching in coordinates in which it is the identity."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, diagnose, match
from tests.support.planted import draw, strong_direction
from tests.support.reference import SMALL

D = 4
COVARIANCE = strong_direction(D)
N = 16 if SMALL else 30
X, Y, PERMUTATION = draw(COVARIANCE, N, 3.0, np.random.default_rng(0))
WHITENING = np.linalg.inv(np.linalg.cholesky(COVARIANCE / np.linalg.det(COVARIANCE) ** (1 / D)))


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns", "greedy"])
@pytest.mark.parametrize("alignment", ["standardize", "identity", "profile", "robust"])
def test_it_is_matching_in_whitened_coordinates(objective, alignment):
    noise = (1.0, 0.5) if objective == "lsns" else None
    result = match(X, Y, objective=objective, alignment=alignment, covariance=COVARIANCE, noise=noise)
    # Relative to one point for both sets, which leaves the identity as it is.
    white = [(points - X[0]) @ WHITENING.T for points in (X, Y)]
    expected = match(*white, objective=objective, alignment=alignment, noise=noise)
    np.testing.assert_array_equal(result.permutation, expected.permutation)
    assert result.objective == pytest.approx(expected.objective, rel=1e-9)
    assert result.scale == pytest.approx(expected.scale, rel=1e-9)
    if objective != "greedy":
        assert check_certificate(X, Y, result) < 1e-9
    assert diagnose(X, Y, result).noise.shape == (N,)


def test_auto_chooses_among_maps_with_one_scale():
    result = match(X, Y, alignment="auto", covariance=COVARIANCE)
    assert result.column_map is None
    assert check_certificate(X, Y, result) < 1e-9


def test_a_given_map_is_in_the_coordinates_of_the_sets():
    affine = Affine(2.0, np.full(D, 3.0))
    result = match(X, Y, alignment=affine, covariance=COVARIANCE)
    assert result.scale == 2.0
    np.testing.assert_allclose(result.shift, 3.0, rtol=1e-12)
    residuals = (X - 2.0 * Y[result.permutation] - 3.0) @ WHITENING.T
    assert result.objective == pytest.approx(np.log((residuals**2).sum(axis=1)).sum(), rel=1e-12)


def test_a_multiple_of_the_identity_is_no_covariance():
    plain = match(X, Y)
    for covariance in (np.full(D, 7.0), 7.0 * np.eye(D)):
        result = match(X, Y, covariance=covariance)
        np.testing.assert_array_equal(result.permutation, plain.permutation)
        assert result.objective == pytest.approx(plain.objective, rel=1e-12)
        np.testing.assert_allclose(result.shift, plain.shift, rtol=1e-9)


def test_variances_are_the_diagonal_of_a_matrix():
    variances = np.arange(1.0, D + 1)
    one, other = match(X, Y, covariance=variances), match(X, Y, covariance=np.diag(variances))
    np.testing.assert_array_equal(one.row_dual, other.row_dual)
    np.testing.assert_allclose(one.covariance.matrix, np.diag(variances), rtol=1e-12)


def test_sets_of_unequal_size_have_a_certificate():
    for x, y in ((X[:20], Y), (X, Y[:20])):
        assert check_certificate(x, y, match(x, y, covariance=COVARIANCE)) < 1e-9


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        (np.ones(3), "shape"),
        (np.ones((D, 3)), "shape"),
        (np.full(D, np.nan), "finite"),
        (np.array([1.0, 1.0, 0.0, 1.0]), "positive variances"),
        (np.triu(np.ones((D, D))), "symmetric"),
        (np.ones((D, D)), "positive definite"),
        ("diagonals", "must be one of"),
    ],
)
def test_what_is_no_covariance_is_refused(covariance, message):
    with pytest.raises(ValueError, match=message):
        match(X, Y, covariance=covariance)


def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match="covariance"):
        match(X, Y, covariance=np.eye(D) * 1j)


@pytest.mark.parametrize("objective", ["lsl", "lss", "distance"])
@pytest.mark.parametrize("level", [1e-6, 1e-12])
def test_little_noise_under_a_covariance_is_proven_to_all_digits(objective, level):
    rng = np.random.default_rng(0)
    x = Y[rng.permutation(N)] + level * rng.normal(size=(N, D))
    for covariance in (COVARIANCE, np.diag(COVARIANCE)):
        result = match(x, Y, objective=objective, alignment="identity", covariance=covariance)
        size = np.abs([result.row_dual, result.col_dual]).max()
        assert check_certificate(x, Y, result) < 1e-13 * size


@pytest.mark.parametrize("objective", ["lsl", "lss", "greedy"])
def test_variances_may_be_far_apart(objective):
    units = np.array([1e30, 1e-40, 1.0, 1e12])
    result = match(units * X, units * Y, objective=objective, alignment="identity", covariance=units**2)
    expected = match(X, Y, objective=objective, alignment="identity")
    np.testing.assert_array_equal(result.permutation, expected.permutation)
    correlated = COVARIANCE * np.multiply.outer(units, units)
    other = match(units * X, units * Y, objective=objective, alignment="identity", covariance=correlated)
    expected = match(X, Y, objective=objective, alignment="identity", covariance=COVARIANCE)
    np.testing.assert_array_equal(other.permutation, expected.permutation)
    if objective == "lsl":
        assert check_certificate(units * X, units * Y, other) < 1e-11


@pytest.mark.parametrize("level", [0.0, 1e-12])
def test_pairs_with_little_noise_or_none_are_diagnosed(level):
    """Coordinates in which noise is isotropic are rounded: what was matched is not known again by those."""
    rng = np.random.default_rng(0)
    x = Y[rng.permutation(N)] + level * rng.normal(size=(N, D))
    for alignment, covariance in (
        ("standardize", COVARIANCE),
        ("standardize", np.diag(COVARIANCE)),
        ("columns", "auto"),
    ):
        result = match(x, Y, alignment=alignment, covariance=covariance)
        assert np.isfinite(diagnose(x, Y, result).confidence).all()
        with pytest.raises(ValueError, match="must be what match returned"):
            diagnose(x[::-1], Y, result)
