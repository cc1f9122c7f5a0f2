"""Turned and mirrored sets are matched as if the rotation were known; what cannot be told is said."""

import warnings

import numpy as np
import pytest

from lslmatch import AlignmentWarning, Similarity, check_certificate, diagnose, match
from tests.support.reference import SMALL

N = 30 if SMALL else 80


def turn(d, rng, mirror=True):
    rotation, upper = np.linalg.qr(rng.normal(size=(d, d)))
    rotation = rotation * np.sign(np.diag(upper))
    if not mirror and np.linalg.det(rotation) < 0:
        rotation[:, 0] *= -1
    return rotation


def draw(seed, n, d, noise=0.02, m=None, scale=0.3, mirror=True, points=None):
    """Draw two sets, one turned, and the partners."""
    rng = np.random.default_rng([seed, n, d])
    z = rng.normal(size=(max(n, m or n), d)) if points is None else points
    given = Similarity(scale, turn(d, rng, mirror), rng.normal(size=d) * 5)
    order = rng.permutation(len(z))
    x = z + noise * rng.normal(size=z.shape)
    y = given.apply(z + noise * rng.normal(size=z.shape))[order]
    return x[:n], y, np.argsort(order)[:n], given.inverse()


def solve(x, y, **options):
    """Match, and let any warning be an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = match(x, y, **({"alignment": "similarity"} | options))
    if result.row_dual is not None:
        assert check_certificate(x, y, result) < 1e-8
    return result


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("mirror", [True, False])
def test_turned_sets_are_matched(d, mirror):
    x, y, partner, given = draw(d, N, d, 0.0005 if d == 1 else 0.01, mirror=mirror)
    result = solve(x, y)
    assert np.mean(result.permutation == partner) > 0.9
    assert result.scale == pytest.approx(given.scale, rel=0.02)
    np.testing.assert_allclose(result.map.rotation, given.rotation, atol=0.05)
    assert "confirmed" in result.decisions[0]
    assert isinstance(result.map, Similarity)


def test_many_dimensions_begin_with_random_signs():
    x, y, partner, _ = draw(1, 60, 14, 0.02)
    assert np.mean(solve(x, y).permutation == partner) == 1.0


@pytest.mark.parametrize("sizes", [(N, N + 20), (N + 20, N)])
def test_sizes_may_differ(sizes):
    n, m = sizes
    x, y, partner, _ = draw(2, min(n, m), 2, 0.005, max(n, m))
    if n > m:
        x, y = y, x
    result = solve(x, y)
    found = result.permutation if n < m else np.argsort(result.permutation)[-min(n, m) :]
    assert np.mean(found == partner) > 0.9


def test_turning_either_set_changes_nothing_but_the_map():
    x, y, _, _ = draw(3, N, 3)
    plain, rng = solve(x, y), np.random.default_rng(0)
    for _ in range(2):
        first, second = (Similarity(s, turn(3, rng), rng.normal(size=3)) for s in (1e3, 1e-5))
        other = solve(first.apply(x), second.apply(y))
        np.testing.assert_array_equal(other.permutation, plain.permutation)
        assert other.scale == pytest.approx(plain.scale * first.scale / second.scale, rel=1e-6)
        expected = first.rotation @ plain.map.rotation @ second.rotation.T
        np.testing.assert_allclose(other.map.rotation, expected, atol=1e-6)


def test_workers_and_repetition_change_nothing():
    x, y, _, _ = draw(4, N, 2, 0.05)
    one, other = solve(x, y), solve(x, y, workers=2)
    assert one == other


def test_a_rotation_does_not_mirror():
    x, y, partner, given = draw(5, N, 2, 0.01, mirror=False)
    result = solve(x, y, alignment="rotation")
    assert np.mean(result.permutation == partner) > 0.9
    assert not result.map.is_mirrored
    mirrored = y * [1.0, -1.0]
    with pytest.warns(AlignmentWarning):
        result = match(x, mirrored, alignment="rotation")
    assert not result.map.is_mirrored
    assert np.mean(solve(x, mirrored).permutation == partner) > 0.9


@pytest.mark.parametrize("exchange", [False, True])
def test_a_rigid_map_has_the_scale_one(exchange):
    x, y, partner, _ = draw(6, N, 2, 0.01, m=N + 5, scale=1.0, mirror=False)
    if exchange:
        result = solve(y, x, alignment="rigid")
        assert np.mean(result.permutation[partner] == np.arange(N)) > 0.9
    else:
        result = solve(x, y, alignment="rigid")
        assert np.mean(result.permutation == partner) > 0.9
    assert result.scale == 1.0
    assert not result.map.is_mirrored


@pytest.mark.parametrize("objective", ["lss", "lsns", "greedy"])
def test_other_objectives_match_under_the_same_map(objective):
    x, y, partner, _ = draw(7, N, 2, 0.005)
    noise = (np.ones(N), np.ones(N)) if objective == "lsns" else None
    result = solve(x, y, objective=objective, noise=noise)
    assert result.map == solve(x, y).map
    assert np.mean(result.permutation == partner) > 0.9


@pytest.mark.parametrize("options", [{"covariance": "diagonal"}, {"pairs": "auto"}, {"pairs": 7}])
def test_noise_and_choice_are_as_elsewhere(options):
    x, y, partner, _ = draw(8, 30, 2, 0.005)
    result = solve(x, y, **options)
    rows = np.flatnonzero(result.permutation >= 0)
    assert np.mean(result.permutation[rows] == partner[rows]) > 0.9
    assert "confirmed" in result.decisions[0]


@pytest.mark.parametrize("fill", [1e20, -999.0, 1e300])
def test_fills_do_not_matter(fill):
    x, y, partner, _ = draw(9, N, 2, 0.005)
    y[partner[3], 1] = x[5, 0] = fill
    if fill == 1e300:
        with pytest.raises(ValueError, match="must be in the range of float64"):
            match(x, y, alignment="similarity")
        return
    result = solve(x, y)
    others = np.delete(np.arange(N), [3, 5])
    assert np.mean(result.permutation[others] == partner[others]) > 0.9


def test_without_noise_all_pairs_are_found():
    x, y, partner, _ = draw(10, N, 3, 0.0)
    np.testing.assert_array_equal(solve(x, y).permutation, partner)


@pytest.mark.parametrize("options", [{}, {"covariance": "auto"}])
def test_without_noise_all_pairs_are_certain(options):
    x, y, partner, _ = draw(10, 20, 3, 0.0)
    result = solve(x, y, **options)
    found = diagnose(x, y, result)
    rows = result.permutation >= 0
    np.testing.assert_array_equal(result.permutation[rows], partner[rows])
    np.testing.assert_allclose(found.confidence[rows], 1.0)


def test_duplicates_are_ordinary():
    x, y, partner, _ = draw(11, N, 2, 0.0)
    y[partner[4]], x[4] = y[partner[9]], x[9]
    result = solve(x, y)
    others = np.delete(np.arange(N), [4, 9])
    np.testing.assert_array_equal(result.permutation[others], partner[others])


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_too_few_points_to_tell(n, d):
    x, y, _, _ = draw(12, n, d)
    with pytest.warns(AlignmentWarning, match="cannot tell a rotation"):
        result = match(x, y, alignment="similarity")
    assert check_certificate(x, y, result) < 1e-8
    assert "cannot tell" in result.decisions[0]


@pytest.mark.parametrize("alignment", ["similarity", "rigid"])
def test_points_that_coincide_tell_nothing(alignment):
    x, y = np.ones((6, 2)), np.zeros((7, 2))
    with pytest.warns(AlignmentWarning, match="coincide"):
        result = match(x, y, alignment=alignment)
    assert check_certificate(x, y, result) == 0.0


@pytest.mark.parametrize("d", [2, 4])
def test_unrelated_sets_are_not_confirmed(d):
    rng = np.random.default_rng(13)
    with pytest.warns(AlignmentWarning, match="no rotation is confirmed"):
        result = match(rng.normal(size=(24, d)), rng.normal(size=(24, d)), alignment="similarity")
    assert "not" in result.decisions[0] or "no rotation" in result.decisions[0]


def lattice():
    return np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), -1).reshape(-1, 2)


def mirror_image():
    half = np.random.default_rng(14).normal(size=(16, 2))
    return np.concatenate([half, half * [-1.0, 1.0]])


@pytest.mark.parametrize("points", [lattice, mirror_image])
def test_symmetric_sets_are_ambiguous(points):
    x, y, _, _ = draw(15, len(points()), 2, 0.002, points=points())
    with pytest.warns(AlignmentWarning, match="ambiguous: .* are as likely"):
        match(x, y, alignment="similarity")


def test_mirror_symmetric_sets_are_not_ambiguous_without_mirrors():
    points = mirror_image()
    x, y, partner, _ = draw(16, len(points), 2, 0.002, points=points, mirror=False)
    assert np.mean(solve(x, y, alignment="rotation").permutation == partner) > 0.9
