"""A covariance that is learned from the matching: certified, invariant, better where noise is correlated."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, diagnose, match
from lslmatch.covariance.worth import doubt_estimate
from tests.support.planted import draw, strong_direction
from tests.support.reference import SMALL

N, D = (24, 5) if SMALL else (80, 20)
X, Y, PERMUTATION = draw(strong_direction(D), N, 1.5 if SMALL else 0.8, np.random.default_rng(0))


def shares(x, y, permutation, *covariances):
    return [float((match(x, y, covariance=c).permutation == permutation).mean()) for c in covariances]


def test_it_finds_what_isotropic_noise_does_not():
    plain, learned, chosen = shares(X, Y, PERMUTATION, "isotropic", "estimate", "auto")
    assert learned >= plain + 0.2
    assert chosen == learned


@pytest.mark.skipif(SMALL, reason="many draws show nothing else without compilation")
def test_on_average_it_beats_isotropic_noise_by_far():
    gains = []
    for seed in range(8):
        x, y, permutation = draw(strong_direction(20), 60, 0.7, np.random.default_rng([1, seed]))
        plain, learned = shares(x, y, permutation, "isotropic", "auto")
        gains.append(learned - plain)
    # Four standard errors of the mean.
    assert np.mean(gains) - 4 * np.std(gains, ddof=1) / np.sqrt(8) > 0.2


@pytest.mark.skipif(SMALL, reason="many draws show nothing else without compilation")
@pytest.mark.parametrize(("n", "d", "signal"), [(100, 2, 8.0), (60, 10, 1.5), (40, 60, 0.8)])
def test_on_isotropic_noise_auto_loses_nothing(n, d, signal):
    losses = []
    for seed in range(6):
        x, y, permutation = draw(np.eye(d), n, signal, np.random.default_rng([2, seed]))
        plain, chosen = shares(x, y, permutation, "isotropic", "auto")
        losses.append(plain - chosen)
    assert np.mean(losses) <= 0.01


@pytest.mark.parametrize(("n", "m"), [(N, N), (N - 6, N), (N, N - 6)])
def test_the_matching_is_proven_optimal_for_its_costs(n, m):
    x, y = X[:n], Y[:m]
    result = match(x, y, covariance="estimate")
    assert result.covariance.leave_out
    assert check_certificate(x, y, result) < 1e-9
    rows = np.flatnonzero(result.permutation >= 0)
    duals = result.row_dual[rows] + result.col_dual[result.permutation[rows]]
    assert result.objective == pytest.approx(duals.sum())


@pytest.mark.parametrize(("n", "m", "d"), [(20, 20, 3), (20, 16, 3), (16, 20, 3), (8, 8, 20)])
def test_a_map_that_leads_nearly_through_one_pair_is_proven_too(n, m, d):
    # Scale and shift that are fitted to quiet pairs may become those of one pair, of whose residual the
    # difference of coordinates has few digits.
    x, y, _ = draw(strong_direction(d), max(n, m), 4.0, np.random.default_rng([12, n, m, d]))
    x, y = x[:n] + 3.0, y[:m]
    partner = match(x, y, covariance="estimate").permutation
    row = int(np.flatnonzero(partner >= 0)[0])
    for apart in (1e-8, 1e-10, 3e-12):
        shift = x[row] - 1.1 * y[partner[row]] + apart / np.sqrt(d)
        result = match(x, y, alignment=Affine(1.1, shift), covariance="estimate")
        residual = np.linalg.norm(x - 1.1 * y[result.permutation] - shift, axis=1)[row]
        assert result.covariance.reference[row] == partner[row]
        assert residual == pytest.approx(apart, rel=1e-2)
        assert check_certificate(x, y, result) < 1e-8


def test_a_result_that_was_tampered_with_is_not_proven():
    result = match(X, Y, covariance="estimate")
    swapped = result.permutation.copy()
    swapped[:2] = swapped[1::-1]
    learned = result.covariance
    reference = learned.reference.copy()
    reference[:2] = reference[1::-1]
    for wrong in (
        result._replace(permutation=swapped),
        result._replace(row_dual=result.row_dual + 1e-3),
        result._replace(scale=1.01 * result.scale),
        result._replace(covariance=None),
        result._replace(covariance=learned._replace(leave_out=False)),
        result._replace(covariance=learned._replace(ridge=1.1 * learned.ridge)),
        result._replace(covariance=learned._replace(weight=np.roll(learned.weight, 1) + learned.weight)),
        result._replace(covariance=learned._replace(reference=reference)),
    ):
        assert not check_certificate(X, Y, wrong) < 1e-6


def test_the_covariance_is_that_of_the_residuals():
    result = match(X, Y, covariance="estimate")
    learned = result.covariance
    residuals = X - result.scale * Y[learned.reference] - result.shift
    expected = (residuals * learned.weight[:, None]).T @ residuals + learned.ridge * np.eye(D)
    np.testing.assert_allclose(learned.matrix, expected, rtol=1e-9, atol=1e-12)
    strongest = np.linalg.eigh(learned.matrix)[1][:, -1]
    assert abs(strongest.sum()) / np.sqrt(D) > 0.95


def test_order_units_origin_and_axes_do_not_matter():
    result = match(X, Y, covariance="estimate")
    rng = np.random.default_rng(3)
    p, q = rng.permutation(N), rng.permutation(N)
    moved = match(X[p], Y[q], covariance="estimate")
    np.testing.assert_array_equal(q[moved.permutation], result.permutation[p])
    scaled = match(X * 8.0 + 5.0, Y * 0.5 - 1.0, covariance="estimate")
    np.testing.assert_array_equal(scaled.permutation, result.permutation)
    assert scaled.scale == pytest.approx(16.0 * result.scale, rel=1e-6)
    axes = np.linalg.qr(rng.normal(size=(D, D)))[0]
    rotated = match(X @ axes, Y @ axes, covariance="estimate")
    np.testing.assert_array_equal(rotated.permutation, result.permutation)
    np.testing.assert_allclose(
        rotated.covariance.matrix, axes.T @ result.covariance.matrix @ axes, rtol=1e-6, atol=1e-6
    )


def test_the_number_of_workers_changes_no_bit():
    one, two = (match(X, Y, covariance="estimate", workers=workers) for workers in (1, 2))
    np.testing.assert_array_equal(one.row_dual, two.row_dual)
    np.testing.assert_array_equal(one.permutation, two.permutation)


def test_a_map_that_was_given_stays():
    for alignment in ("identity", match(X, Y).affine):
        expected = match(X, Y, alignment=alignment).affine
        result = match(X, Y, alignment=alignment, covariance="estimate")
        assert result.scale == expected.scale
        np.testing.assert_array_equal(result.shift, expected.shift)


@pytest.mark.parametrize("objective", ["lss", "greedy"])
def test_other_objectives_take_the_learned_covariance_for_known(objective):
    result = match(X, Y, objective=objective, covariance="estimate")
    assert result.criterion == objective
    assert not result.covariance.is_isotropic
    assert result.covariance.cross_entropy < result.covariance.isotropic_cross_entropy
    if objective != "greedy":
        assert check_certificate(X, Y, result) < 1e-9


def test_many_pairs_in_few_dimensions_are_streamed(monkeypatch):
    monkeypatch.setattr("lslmatch.covariance.iteration._STREAMED_PAIRS", 10)
    monkeypatch.setattr("lslmatch.covariance.iteration._STREAMED_RATIO", 1)
    result = match(X, Y, covariance="estimate")
    assert not result.covariance.leave_out
    assert 0 <= result.covariance.undecided <= N
    assert check_certificate(X, Y, result) < 1e-9
    assert diagnose(X, Y, result).confidence.shape == (N,)


DEGENERATE = {
    "two points": (X[:2], Y[:2]),
    "one dimension": (X[:, :1], Y[:, :1]),
    "no noise": (X, X[::-1] / 2.0),
    "huge units": (X * 1e200, Y),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("covariance", ["estimate", "auto"])
def test_where_nothing_can_be_learned_noise_is_isotropic_and_the_reason_kept(name, covariance):
    x, y = DEGENERATE[name]
    result = match(x, y, covariance=covariance)
    assert result.covariance.reason
    assert result.covariance.is_isotropic
    np.testing.assert_array_equal(result.permutation, match(x, y).permutation)
    assert check_certificate(x, y, result) < 1e-9
    assert diagnose(x, y, result).verdict


@pytest.mark.parametrize("name", ["duplicates", "constant columns", "few points", "many dimensions"])
def test_degenerate_sets_give_finite_numbers(name):
    x, y = X.copy(), Y.copy()
    if name == "duplicates":
        x[1], y[PERMUTATION[1]] = x[0], y[PERMUTATION[0]]
    elif name == "constant columns":
        x[:, 0], y[:, 0] = 1.0, 2.0
    elif name == "few points":
        x, y = x[:5], y[PERMUTATION[:5]]
    else:
        x, y = x[:8, :], y[PERMUTATION[:8]]
        x, y = np.tile(x, 5), np.tile(y, 5)
    result = match(x, y, covariance="estimate")
    assert np.isfinite(result.objective)
    assert np.isfinite(result.row_dual).all()
    assert np.isfinite(result.covariance.matrix).all()
    assert check_certificate(x, y, result) < 1e-8


@pytest.mark.parametrize(("n", "m"), [(N, N), (N - 6, N), (N, N - 6)])
def test_margins_are_what_forbidding_a_pair_costs(n, m):
    from lslmatch import solve_assignment
    from lslmatch.covariance.fit import white_of
    from lslmatch.covariance.leave_out import cost_matrix

    x, y = X[:n], Y[:m]
    result = match(x, y, covariance="estimate")
    bound, exact = (diagnose(x, y, result, margins=margins).margin for margins in ("bound", "exact"))
    white, offset = white_of(x, y, result.affine, result.covariance)
    costs = cost_matrix(white) + offset
    for i in np.flatnonzero(result.permutation >= 0)[:5]:
        forbidden = costs.copy()
        forbidden[i, result.permutation[i]] = np.inf
        rise = solve_assignment(forbidden).objective - result.objective
        assert exact[i] == pytest.approx(rise, abs=1e-9)
        assert bound[i] <= rise + 1e-9


def test_unrelated_sets_are_not_trusted():
    related = match(X, Y, covariance="estimate")
    other = draw(strong_direction(D), N, 1.5 if SMALL else 0.8, np.random.default_rng(9))[1]
    unrelated = match(X, other, covariance="estimate")
    assert unrelated.covariance.cross_entropy > 2.0 * related.covariance.cross_entropy
    trust, doubt = (float(diagnose(X, y, r).confidence.mean()) for y, r in ((Y, related), (other, unrelated)))
    assert doubt < trust - 0.2
    right = float((related.permutation == PERMUTATION).mean())
    assert trust == pytest.approx(right, abs=0.2)


def test_a_diagnosis_refuses_the_result_of_other_sets():
    with pytest.raises(ValueError, match="what match returned"):
        diagnose(X + np.arange(N)[:, None], Y, match(X, Y, covariance="estimate"))


@pytest.mark.parametrize("covariance", ["estimate", np.eye(3) + 0.5])
@pytest.mark.parametrize(("offset", "unit"), [(0.0, 1e-12), (1e3, 1e-3), (1e5, 1e-3), (1e9, 1e-7)])
def test_sets_of_very_different_units_and_offsets_keep_their_pairs_and_certificate(covariance, offset, unit):
    rng = np.random.default_rng(5)
    features = rng.normal(size=(N, 3))
    x, y = features + offset, (features[::-1] + 0.02 * rng.normal(size=(N, 3))) * unit
    result = match(x, y, covariance=covariance)
    assert result.permutation.tolist() == match(x, y).permutation.tolist()
    # The shift that is returned is rounded by some eps of the offset, and the matching is that of this one.
    assert check_certificate(x, y, result) < 1e-9
    diagnose(x, y, result)


@pytest.mark.parametrize("covariance", ["estimate", np.eye(3) + 0.5])
def test_coincident_pairs_have_a_certificate(covariance):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(N, 3))
    y = 3.3 * x[::-1] + 1.7
    y[: N // 2] += rng.normal(size=(N // 2, 3))
    affine = Affine(1 / 3.3, np.full(3, -1.7 / 3.3))
    result = match(x, y, covariance=covariance, alignment=affine)
    assert check_certificate(x, y, result) < 1e-9
    diagnose(x, y, result)
    tampered = result._replace(row_dual=result.row_dual + 1e-3)
    assert check_certificate(x, y, tampered) > 1e-4


def test_more_dimensions_than_points_are_judged_in_the_span_of_the_points():
    rng = np.random.default_rng(8)
    x, y = X[:8], Y[:8]
    axes = np.linalg.qr(rng.normal(size=(3 * D, D)))[0].T  # an isometry into a larger space
    small, large = match(x, y, covariance="estimate"), match(x @ axes, y @ axes, covariance="estimate")
    assert check_certificate(x @ axes, y @ axes, large) < 1e-9
    judged = diagnose(x @ axes, y @ axes, large)
    assert np.isfinite(judged.noise).all()
    matrix = large.covariance.matrix
    # The definition: the square under the inverse, in the unit in which the determinant is 1.
    residuals = x @ axes - large.scale * (y @ axes)[large.permutation] - large.shift
    form = np.einsum("ij,ij->i", residuals @ np.linalg.inv(matrix), residuals)
    form *= np.exp(np.linalg.slogdet(matrix)[1] / (3 * D))
    levels = np.sqrt(form / (2 * 3 * D))
    assert np.median(judged.noise) == pytest.approx(np.median(levels), rel=0.2)
    assert small.permutation.shape == large.permutation.shape


@pytest.mark.parametrize("swapped", [False, True])
def test_few_points_beside_many_need_only_their_candidates(swapped, monkeypatch):
    rng = np.random.default_rng(13)
    x, y, _ = draw(strong_direction(4), 60, 1.5, rng)
    x = x[:5]
    if swapped:
        x, y = y, x
    few = match(x, y, covariance="estimate")
    assert few.covariance.leave_out
    assert check_certificate(x, y, few) < 1e-9
    monkeypatch.setattr("lslmatch.covariance.iteration.has_few_candidates", lambda n, m: False)
    full = match(x, y, covariance="estimate")
    np.testing.assert_array_equal(few.permutation, full.permutation)
    assert few.objective == pytest.approx(full.objective, rel=1e-12)
    assert few.covariance.cross_entropy == pytest.approx(full.covariance.cross_entropy, rel=1e-9)


def test_the_cross_entropy_is_that_of_the_matching_that_is_returned():
    from lslmatch.covariance.evidence import surprises
    from lslmatch.covariance.fit import Aligned, fit_matching
    from lslmatch.covariance.leave_out import cost_matrix

    for seed in range(20):
        x, y, _ = draw(strong_direction(4), 12, 0.5, np.random.default_rng([10, seed]))
        result, first = match(x, y, covariance="estimate"), Aligned.at(x, y, match(x, y).affine)
        found = []
        for weighting in ("tyler", "equal"):
            fit = fit_matching(x, y, result.permutation, first, True, weighting)
            found.append(surprises(cost_matrix(fit.white), result.permutation, 4).mean())
        assert np.isclose(found, result.covariance.cross_entropy, rtol=1e-9).any()


def test_an_estimate_is_kept_if_it_is_better_and_surer_than_of_unrelated_sets():
    rng = np.random.default_rng(11)
    sure, doubtful = 0.1 * rng.random(50), 2.0 + rng.random(50)
    y = rng.normal(size=(50, 3))
    assert doubt_estimate(sure, doubtful, y, lambda other: doubtful) == ""
    assert "isotropic noise predicts" in doubt_estimate(doubtful, sure, y, lambda other: doubtful)
    assert "unrelated sets" in doubt_estimate(sure, doubtful, y, lambda other: sure + 1e-3)
    assert doubt_estimate(sure, doubtful, y, lambda other: None) == ""


@pytest.mark.skipif(SMALL, reason="many draws show nothing else without compilation")
def test_few_estimates_of_unrelated_sets_are_kept():
    kept, chosen_anyway = [], []
    for seed in range(12):
        rng = np.random.default_rng([12, seed])
        x, y = (rng.normal(size=(20, 3)) * [5.0, 1.0, 1.0] for _ in range(2))
        learned = match(x, y, covariance="auto").covariance
        # Variances of the columns are those of what strangers differ by; more than that is not to be learned.
        kept.append(np.count_nonzero(learned.matrix) > 3)
        chosen_anyway.append(learned.cross_entropy < learned.isotropic_cross_entropy)
    assert np.mean(kept) <= 0.25
    assert np.mean(chosen_anyway) > 0.5  # what the comparison with isotropic noise alone would do


@pytest.mark.parametrize("covariance", ["estimate", "auto"])
def test_a_set_that_is_one_point_is_matched_where_isotropic_noise_is(covariance):
    x, y = np.zeros((5, 3)), np.random.default_rng(7).normal(size=(5, 3))
    result = match(x, y, alignment="identity", covariance=covariance)
    assert sorted(result.permutation) == list(range(5))


@pytest.mark.parametrize("covariance", ["estimate", "auto"])
def test_fills_whose_fourth_powers_are_beyond_the_range_are_learned_from(covariance):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    y = x + 1e-3 * rng.normal(size=x.shape)
    y[[1, 7, 30], [0, 1, 1]] = 1e100
    result = match(x, y, covariance=covariance, alignment="identity")
    np.testing.assert_array_equal(
        np.delete(result.permutation, [1, 7, 30]), np.delete(np.arange(40), [1, 7, 30])
    )
    assert check_certificate(x, y, result) < 1e-6
