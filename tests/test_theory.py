"""Every formula against a computation that does not use it: loops, matrices, roots, simulation.

A probability claim "the event has at most this probability" is tried by simulation under a seed
fixed beforehand and fails its test with probability at most FALSE_FAIL if it is true (exact binomial
test). Each such test has a control, the same claim made false, which the same trials must refute.
"""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from lslmatch import theory

FALSE_FAIL = 1e-6


def refuted(events, allowed):
    """Whether the events are too many for the claim that their probability is at most `allowed`."""
    count, trials = int(np.sum(events)), np.size(events)
    return stats.binomtest(count, trials, allowed, alternative="greater").pvalue < FALSE_FAIL


def centring(n):
    return np.eye(n) - np.ones((n, n)) / n


def naive_deviations(noise):
    """The s_i, as the diagonal of the covariance matrix of the centred noise."""
    p = centring(len(noise))
    return np.sqrt(np.diag(p @ np.diag(np.square(noise)) @ p))


def naive_separation(features, noise):
    s = naive_deviations(noise)
    pairs = itertools.combinations(range(len(features)), 2)
    return min(math.dist(features[i], features[j]) / math.hypot(s[i], s[j]) for i, j in pairs)


def centred_noise(noise, d, trials, rng):
    eta = np.asarray(noise)[:, None] * rng.standard_normal((trials, len(noise), d))
    return eta - eta.mean(axis=1, keepdims=True)


def mixed_configuration(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return 3 * rng.standard_normal((n, d)) + 5, np.exp(rng.normal(size=n))


CONFIGURATIONS = {
    "equal noise": (np.arange(24.0).reshape(8, 3) % 7, np.ones(8)),
    "mixed noise": mixed_configuration(12, 4),
    "one dominating noise": (np.eye(8, 5), np.array([10.0] + 7 * [0.01])),
    "no distortion": (np.zeros((10, 6)), np.linspace(1, 2, 10)),
    "large distortion": (100 * np.eye(9, 2), np.linspace(1, 3, 9)),
}
each_configuration = pytest.mark.parametrize("name", CONFIGURATIONS)

# ---------------------------------------------------------------------------------- separation


@settings(deadline=None, max_examples=60)
@given(n=st.integers(2, 12), d=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_separation_is_the_smallest_over_all_pairs(n, d, seed):
    features, noise = mixed_configuration(n, d, seed)
    assert theory.separation(features, noise) == pytest.approx(naive_separation(features, noise), rel=1e-12)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e-3, 1e200, 1e300])
def test_separation_ignores_the_unit(factor):
    features, noise = mixed_configuration(20, 3)
    expected = naive_separation(features, noise)
    assert theory.separation(factor * features, factor * noise) == pytest.approx(expected, rel=1e-12)


def test_separation_ignores_a_large_common_offset_exactly():
    features = np.random.default_rng(1).integers(-50, 50, (30, 3)).astype(float)
    assert theory.separation(features + 1e9, 1.0) == theory.separation(features, 1.0) > 0


def test_separation_ignores_the_order_of_the_points():
    features, noise = mixed_configuration(25, 4)
    order = np.random.default_rng(2).permutation(25)
    assert theory.separation(features[order], noise[order]) == pytest.approx(
        theory.separation(features, noise), rel=1e-14
    )


def test_separation_of_coincident_features_is_zero():
    assert theory.separation([[1.0, 2.0], [5.0, 6.0], [1.0, 2.0]], 1.0) == 0.0
    assert theory.separation(np.zeros((3, 2)), 1.0) == 0.0


def test_separation_sees_a_gap_whose_square_underflows():
    expected = 1e-200 / math.sqrt(2 * 2 / 3)
    assert theory.separation([[0.0], [1e-200], [1.0]], 1.0) == pytest.approx(expected, rel=1e-14, abs=0)


def test_separation_holds_no_matrix_of_all_pairs():
    features = np.random.default_rng(3).standard_normal((2500, 15))
    tracemalloc.start()
    try:
        theory.separation(features, 1.0)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * features.nbytes


# ------------------------------------------------------------------- moments and scalar quantities


@each_configuration
def test_centred_moments_are_those_of_the_centring_matrix(name):
    features, noise = CONFIGURATIONS[name]
    mu, s = theory.centred_moments(features, noise)
    np.testing.assert_allclose(mu, centring(len(noise)) @ features, atol=1e-12)
    np.testing.assert_allclose(s, naive_deviations(noise), rtol=1e-12)


@each_configuration
def test_centred_moments_are_those_of_simulated_observations(name):
    features, noise = CONFIGURATIONS[name]
    n, d = features.shape
    x = features + np.swapaxes(np.random.default_rng(4).standard_normal((n, 4000, d)), 0, 1) * noise[:, None]
    z = x - x.mean(axis=1, keepdims=True)
    mu, s = theory.centred_moments(features, noise)

    def smallest_p_value(mu, s):
        # For one i all 4000 d standardised entries are independent N(0, 1).
        standard = (z - mu) / s[:, None]
        size = 4000 * d
        mean = 2 * stats.norm.sf(abs(standard.sum(axis=(0, 2))) / math.sqrt(size))
        square = (standard**2).sum(axis=(0, 2))
        variance = 2 * np.minimum(stats.chi2.sf(square, size), stats.chi2.cdf(square, size))
        return min(mean.min(), variance.min()) * 2 * n

    assert smallest_p_value(mu, s) > FALSE_FAIL
    assert smallest_p_value(mu, noise) < FALSE_FAIL  # the control: as if centring left the noise alone


def test_centred_moments_survive_a_large_offset_and_extreme_units():
    features, noise = np.array([[0.0], [0.0], [1.0]]), np.array([1.0, 2.0, 3.0])
    mu, s = theory.centred_moments(features + 1e9, noise)  # no float64 holds the mean, 1e9 + 1/3
    np.testing.assert_allclose(mu.ravel(), [-1 / 3, -1 / 3, 2 / 3], rtol=1e-14)
    for factor in (1e-300, 1e300):
        scaled_mu, scaled_s = theory.centred_moments(factor * features, factor * noise)
        np.testing.assert_allclose(scaled_mu / factor, mu, rtol=1e-14)
        np.testing.assert_allclose(scaled_s / factor, s, rtol=1e-14)


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
@each_configuration
def test_noise_quantities_are_those_of_loops_in_any_unit(name, factor):
    features, noise = CONFIGURATIONS[name]
    total = math.sqrt(math.fsum(v * v for v in noise))
    mean = [math.fsum(column) / len(noise) for column in features.T]
    distortion = math.sqrt(math.fsum(math.dist(row, mean) ** 2 for row in features)) / total
    largest = max(a * a / (b * b) for a in noise for b in noise)
    assert theory.noise_ratio(factor * noise) == pytest.approx(largest, rel=1e-12)
    assert theory.relative_noise(factor * noise) == pytest.approx(max(noise) / total, rel=1e-12)
    assert theory.distortion_to_noise(factor * features, factor * noise) == pytest.approx(
        distortion, rel=1e-12
    )


def test_relative_noise_meets_both_ends_of_its_range():
    assert theory.relative_noise(np.full(25, 7.0)) == pytest.approx(1 / 5)
    assert theory.relative_noise([1.0] + 9 * [1e-9]) == pytest.approx(1.0)


@each_configuration
def test_obstruction_is_the_largest_signal_to_noise_ratio_times_the_error(name):
    features, noise = CONFIGURATIONS[name]
    mu, s = centring(len(noise)) @ features, naive_deviations(noise)
    expected = max(0.25 * math.hypot(*row) / deviation for row, deviation in zip(mu, s, strict=True))
    assert theory.obstruction(features, noise, 0.25) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert theory.obstruction(features, noise, 0) == 0


def test_noise_floor_changes_regime_at_d_equal_to_log_n():
    n = round(math.exp(9))
    assert theory.noise_floor(n, 2) == theory.noise_floor(n, 8) == pytest.approx(3.0, rel=1e-4)
    assert theory.noise_floor(n, 9 * 16) == pytest.approx(6.0, rel=1e-4)


# ----------------------------------------------------------------------------- Proposition 1


@each_configuration
def test_expected_sum_of_squares_is_the_trace_of_the_quadratic_form(name):
    features, noise = CONFIGURATIONS[name]
    n, d = features.shape
    form = np.kron(np.diag(noise) @ centring(n) @ np.diag(noise), np.eye(d))
    signal = np.linalg.norm(centring(n) @ features) ** 2
    assert theory.expected_sum_of_squares(features, noise) == pytest.approx(
        signal + np.trace(form), rel=1e-12
    )


@each_configuration
def test_expected_sum_of_squares_is_the_mean_of_simulated_sums(name):
    features, noise = CONFIGURATIONS[name]
    n, d = features.shape
    p = centring(n)
    form = np.diag(noise) @ p @ np.diag(noise)
    signal = p @ features
    variance = 4 * np.sum((noise[:, None] * signal) ** 2) + 2 * d * np.linalg.norm(form) ** 2
    z = signal + centred_noise(noise, d, 20_000, np.random.default_rng(5))
    sums = (z**2).sum(axis=(1, 2))

    def far_off(mean):  # 20,000 terms: normal to far more digits than 6 standard errors need
        return abs(sums.mean() - mean) > 6 * math.sqrt(variance / len(sums))

    expected = theory.expected_sum_of_squares(features, noise)
    assert not far_off(expected)
    control = np.sum(signal**2) + d * np.sum(noise**2)  # the factor (n - 1) / n dropped
    if name != "large distortion":  # where the noise adds too little for anyone to see
        assert far_off(control)


def test_proposition_1_by_hand_where_its_logarithm_is_one():
    features = [[2.0, 0, 0, 0], [-2.0, 0, 0, 0], [2.0, 0, 0, 0], [-2.0, 0, 0, 0]]  # ||mu|| = 4
    noise = [1.0, 2.0, 2.0, 2.0]  # ||sigma||^2 = 13, ||sigma||_4^2 = 7
    cross = 16 * math.sqrt(2)
    bounds = theory.sum_of_squares_bounds(features, noise, 2 / math.e)
    assert bounds == pytest.approx((27 - cross, 104 + cross))
    bounds = theory.frobenius_bounds(features, noise, 2 / math.e)
    assert bounds == pytest.approx((14 - cross, 91 + cross))


@pytest.mark.parametrize("bounds", [theory.sum_of_squares_bounds, theory.frobenius_bounds])
@pytest.mark.parametrize("delta", [0.01, 0.1])
@each_configuration
def test_proposition_1_covers_and_a_tenth_of_its_deviation_does_not(name, delta, bounds):
    features, noise = CONFIGURATIONS[name]
    z = features - features.mean(axis=0)
    z = z + centred_noise(noise, features.shape[1], 3000, np.random.default_rng(6))
    sums = (z**2).sum(axis=(1, 2))
    lower, upper = bounds(features, noise, delta)
    assert not refuted(sums > upper, delta)
    assert not refuted(sums < lower, delta)
    mean = sums.mean()
    assert refuted(sums > mean + (upper - mean) / 10, delta)
    assert refuted(sums < mean + (lower - mean) / 10, delta)


def test_proposition_1_needs_its_bias_term_in_high_dimension():
    features, noise, delta = np.zeros((4, 400)), np.ones(4), 0.5
    sums = (centred_noise(noise, 400, 200, np.random.default_rng(7)) ** 2).sum(axis=(1, 2))
    lower = theory.sum_of_squares_bounds(features, noise, delta).lower
    assert not refuted(sums < lower, delta)
    assert refuted(sums < lower + 400 / 4 * 4, delta)  # d/n ||sigma||^2 dropped


# --------------------------------------------------------------------------------- Theorem 1


def test_theorem_1_by_hand_where_its_logarithm_is_four():
    bound = theory.scale_error_bound(8, 9, relative_noise=0.5, distortion=4.0, delta=4 * math.exp(-4))
    assert bound == pytest.approx(12 * 0.5 * 2 / 5 + 2 * 0.25 * 4 / 25 + 2 * 9 / (8 * 25))
    assert theory.scale_error_bound(8, 9, relative_noise=0.5, distortion=1e200, delta=0.1) < 1e-198


@pytest.mark.parametrize(
    ("smallest_delta", "constant"),
    [(theory.scale_error_smallest_delta, 224), (theory.recovery_smallest_delta, 1024)],
)
def test_smallest_delta_by_hand(smallest_delta, constant):
    assert smallest_delta(constant, relative_noise=1.0) == pytest.approx(4 / math.e)
    assert smallest_delta(2 * constant, relative_noise=0.5) == pytest.approx(4 * math.exp(-8))
    assert smallest_delta(1, relative_noise=1e-200) == 0.0


@pytest.mark.parametrize("spread", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("noise", [np.ones(40), np.linspace(1, 2, 40)], ids=["equal", "mixed"])
def test_theorem_1_covers_and_a_fiftieth_of_its_bound_does_not(noise, spread):
    n, d, scale, trials = 40, 40, 3.0, 200
    rng = np.random.default_rng(8)
    features = spread * rng.standard_normal((n, d))
    alpha = theory.relative_noise(noise)
    delta = theory.scale_error_smallest_delta(d, relative_noise=alpha)
    assert 4 * delta < 0.25, "otherwise there is nothing to test"
    signal = features - features.mean(axis=0)
    first = ((signal + centred_noise(noise, d, trials, rng)) ** 2).sum(axis=(1, 2))
    second = (((signal + centred_noise(noise, d, trials, rng)) / scale) ** 2).sum(axis=(1, 2))
    error = abs(first / second / scale**2 - 1)
    distortion = theory.distortion_to_noise(features, noise)
    bound = theory.scale_error_bound(n, d, relative_noise=alpha, distortion=distortion, delta=delta)
    assert not refuted(error > bound, 4 * delta)
    assert refuted(error > bound / 50, 4 * delta)


# --------------------------------------------------------------------------------- Theorem 2


def test_theorem_2_by_hand_where_its_logarithm_is_sixteen():
    n = 64
    delta = 12 * n**3 / math.exp(16)
    rest = 17 * math.sqrt(16 + math.log(2))
    third = 52 * math.sqrt(math.log(4 / delta))
    assert theory.recovery_threshold(n, 1, noise_ratio=1.0, delta=delta) == pytest.approx(10 + rest + third)
    assert theory.recovery_threshold(n, 81, noise_ratio=9.0, delta=delta) == pytest.approx(
        30 + rest + 3 * third
    )


@pytest.mark.parametrize("noise", [np.ones(100), np.linspace(1, 1.5, 100)], ids=["equal", "mixed"])
def test_theorem_2_recovers_at_its_threshold_and_not_at_a_hundredth_of_it(noise):
    n, d, delta = 100, 80, 0.05
    assert theory.recovery_smallest_delta(d, relative_noise=theory.relative_noise(noise)) < delta
    rho = theory.noise_ratio(noise)
    threshold = theory.recovery_threshold(n, d, noise_ratio=rho, delta=delta)
    rng = np.random.default_rng(9)
    features = rng.standard_normal((n, d))
    features /= naive_separation(features, noise)

    def lost(separation):
        truth, permutation = separation * features, rng.permutation(n)
        x = truth + noise[:, None] * rng.standard_normal((n, d))
        y = np.empty((n, d))
        y[permutation] = (truth + noise[:, None] * rng.standard_normal((n, d)) - 7) / 3
        x, y = (points - points.mean(axis=0) for points in (x, y))
        y *= np.linalg.norm(x) / np.linalg.norm(y)
        cost = np.log(((x[:, None] - y) ** 2).sum(axis=2))
        return not np.array_equal(optimize.linear_sum_assignment(cost)[1], permutation)

    assert not refuted([lost(threshold) for _ in range(20)], 4 * delta)
    assert refuted([lost(threshold / 100) for _ in range(20)], 4 * delta)


# ------------------------------------------------------------------------------------ lemmas


@pytest.mark.parametrize(
    "weights", [[1.0], [1.0, 0.0, 0.1], np.linspace(0, 1, 30)], ids=["one", "few", "many"]
)
def test_lemma_1_covers_and_a_tenth_of_its_bounds_does_not(weights):
    y = np.random.default_rng(10).standard_normal((20_000, len(weights)))
    t = (y**2 - 1) @ np.asarray(weights)
    for x in (0.5, 2.0, 4.0):
        lower, upper = theory.chi_square_deviation_bounds(weights, x)
        assert not refuted(t >= upper, math.exp(-x))
        assert not refuted(t <= lower, math.exp(-x))
    assert refuted(t >= upper / 10, math.exp(-x))
    assert refuted(t <= lower / 10, math.exp(-x))


def test_lemma_1_is_the_optimised_chernoff_bound_of_equal_weights():
    # For T = chi^2_k - k Laurent and Massart bound the log-moment generating function by
    # k t^2 / (1 - 2t), t > 0, and k t^2, t < 0; minimise (level + x) / t over t numerically.
    k, x = 7, 1.5
    lower, upper = theory.chi_square_deviation_bounds(np.ones(k), x)
    above = optimize.minimize_scalar(
        lambda t: (k * t**2 / (1 - 2 * t) + x) / t, bounds=(1e-6, 0.5 - 1e-6), method="bounded"
    )
    below = optimize.minimize_scalar(lambda t: (k * t**2 + x) / t, bounds=(1e-6, 10), method="bounded")
    assert upper == pytest.approx(above.fun, rel=1e-6)
    assert -lower == pytest.approx(below.fun, rel=1e-6)


def test_lemma_2_is_the_optimised_chernoff_bound():
    vectors, noise = mixed_configuration(6, 3)
    stacked = vectors.ravel()
    variance = stacked @ np.kron(np.diag(noise**2), np.eye(3)) @ stacked
    x = 1.3 * math.sqrt(variance)
    best = optimize.minimize_scalar(lambda t: t * t * variance / 2 - t * x, bracket=(0, 1 / x))
    assert theory.gaussian_tail(x, vectors, noise) == pytest.approx(2 * math.exp(best.fun), rel=1e-9)


def test_lemma_2_covers_and_its_square_does_not():
    vectors, noise = mixed_configuration(6, 3)
    y = noise[:, None] * np.random.default_rng(11).standard_normal((20_000, 6, 3))
    t = abs((vectors * y).sum(axis=(1, 2)))
    for level in np.quantile(t, [0.5, 0.9, 0.99]):
        assert not refuted(t >= level, min(1.0, theory.gaussian_tail(level, vectors, noise)))
    assert refuted(t >= level, theory.gaussian_tail(level * math.sqrt(2), vectors, noise))


def test_lemma_2_of_a_constant_is_certain():
    assert theory.gaussian_tail(1e-300, np.zeros((3, 2)), 1.0) == 0.0
    assert theory.gaussian_tail(1e200, np.ones((3, 2)), 1.0) == 0.0


def root(tail, level):
    """The t at which a decreasing tail bound reaches a level."""
    return optimize.brentq(lambda t: math.log(tail(t)) - math.log(level), 1e-9, 36, xtol=1e-13)


@pytest.mark.parametrize("n", [1, 8, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.9), (0.49, 1e-4)])
def test_lemma_3_is_its_net_argument_redone_with_a_root_finder(n, epsilon, delta):
    at_net = root(lambda t: 3 * n**3 * 2 * math.exp(-t * t / 2), delta / 2)
    largest = root(lambda t: 2 * n * 2 * math.exp(-t * t / 2), delta / 2)
    expected = at_net + epsilon / n * math.sqrt(2) * largest
    assert theory.linear_supremum_bound(n, epsilon, delta) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "d"), [(1, 1), (8, 3), (1000, 50)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 0.9), (0.49, 1e-4)])
def test_lemma_4_is_its_net_argument_redone_with_lemma_1(n, d, epsilon, delta):
    x = root(lambda x: 3 * n**3 * 2 * math.exp(-x), delta / 2)
    at_net = theory.chi_square_deviation_bounds(np.ones(d), x).upper
    x = root(lambda x: 2 * n * math.exp(-x), delta / 2)
    largest = d + theory.chi_square_deviation_bounds(np.ones(d), x).upper
    expected = at_net + epsilon / n * 4 * largest
    assert theory.quadratic_supremum_bound(n, d, epsilon, delta) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("noise", [np.ones(6), np.array([1.0, 1, 2, 4, 8, 16])], ids=["equal", "mixed"])
def test_lemmas_3_and_4_cover_and_a_tenth_of_their_bounds_does_not(noise):
    n, d, epsilon, delta, trials = len(noise), 3, 0.4, 0.3, 1000
    rng = np.random.default_rng(12)
    first, second = (centred_noise(noise, d, trials, rng) for _ in range(2))  # correlated, as allowed
    directions = rng.standard_normal((n, n, d))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    variance = naive_deviations(noise) ** 2
    linear, quadratic = np.zeros(trials), np.zeros(trials)
    for a in np.linspace(1 - epsilon, 1 + epsilon, 33):
        difference = first[:, :, None] - a * second[:, None]
        scale = variance[:, None] + a * a * variance
        projected = abs((directions * difference).sum(axis=3)) / np.sqrt(scale)
        linear = np.maximum(linear, projected.max(axis=(1, 2)))
        deviation = abs((difference**2).sum(axis=3) / scale - d)
        quadratic = np.maximum(quadratic, deviation.max(axis=(1, 2)))

    bound = theory.linear_supremum_bound(n, epsilon, delta)
    assert not refuted(linear > bound, delta)
    assert refuted(linear > bound / 10, delta)
    bound = theory.quadratic_supremum_bound(n, d, epsilon, delta)
    assert not refuted(quadratic > bound, delta)
    assert refuted(quadratic > bound / 10, delta)


# ------------------------------------------------------------------------------------- errors

POINTS = np.eye(3)
SCALE = {"relative_noise": 0.5, "distortion": 1.0, "delta": 0.1}
RECOVERY = {"noise_ratio": 1.0, "delta": 0.1}


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: theory.separation([1.0, 2.0], 1.0), ValueError, "features must be 2-dimensional"),
        (lambda: theory.separation([[1.0]], 1.0), ValueError, "features must have at least 2 points"),
        (lambda: theory.separation(POINTS * np.nan, 1.0), ValueError, "features must be finite"),
        (lambda: theory.separation(POINTS * 1j, 1.0), TypeError, "features must be real numbers"),
        (lambda: theory.separation(POINTS, [1.0, 2.0]), ValueError, r"noise must have shape \(3,\)"),
        (lambda: theory.centred_moments(POINTS, 0.0), ValueError, "noise must be positive"),
        (lambda: theory.distortion_to_noise(POINTS, -1.0), ValueError, "noise must be positive"),
        (lambda: theory.noise_ratio(1.0), ValueError, "noise must be a vector of at least one number"),
        (lambda: theory.relative_noise([]), ValueError, "noise must be a vector of at least one number"),
        (lambda: theory.relative_noise([1.0, 0.0]), ValueError, "noise must be positive"),
        (lambda: theory.obstruction(POINTS, 1.0, -0.1), ValueError, "scale_error must be at least 0"),
        (lambda: theory.noise_floor(1, 5), ValueError, "n must be at least 2"),
        (lambda: theory.noise_floor(10, 2.5), TypeError, "d must be a whole number"),
        (lambda: theory.expected_sum_of_squares(POINTS, 0.0), ValueError, "noise must be positive"),
        (lambda: theory.sum_of_squares_bounds(POINTS, 1.0, 0.0), ValueError, "delta must lie strictly"),
        (lambda: theory.frobenius_bounds(POINTS, 1.0, 1.0), ValueError, "delta must lie strictly"),
        (lambda: theory.scale_error_bound(1, 3, **SCALE), ValueError, "n must be at least 2"),
        (lambda: theory.scale_error_bound(8, 0, **SCALE), ValueError, "d must be at least 1"),
        (
            lambda: theory.scale_error_bound(8, 3, **{**SCALE, "relative_noise": 0.0}),
            ValueError,
            "relative_noise must be positive",
        ),
        (
            lambda: theory.scale_error_bound(8, 3, **{**SCALE, "distortion": -1.0}),
            ValueError,
            "distortion must be at least 0",
        ),
        (
            lambda: theory.scale_error_bound(8, 3, **{**SCALE, "delta": 1.5}),
            ValueError,
            "delta must lie strictly between 0 and 1; got 1.5",
        ),
        (
            lambda: theory.scale_error_smallest_delta(0, relative_noise=1.0),
            ValueError,
            "d must be at least 1",
        ),
        (lambda: theory.recovery_smallest_delta(1, relative_noise=0.0), ValueError, "relative_noise must be"),
        (lambda: theory.recovery_threshold(1, 3, **RECOVERY), ValueError, "n must be at least 2"),
        (
            lambda: theory.recovery_threshold(8, 3, noise_ratio=0.5, delta=0.1),
            ValueError,
            "noise_ratio must be at least 1",
        ),
        (lambda: theory.chi_square_deviation_bounds([1.0, -1.0], 1.0), ValueError, "weights must not be neg"),
        (lambda: theory.chi_square_deviation_bounds(POINTS, 1.0), ValueError, "weights must be a vector"),
        (lambda: theory.chi_square_deviation_bounds([1.0], 0.0), ValueError, "x must be positive"),
        (lambda: theory.gaussian_tail(0.0, POINTS, 1.0), ValueError, "x must be positive"),
        (lambda: theory.gaussian_tail(1.0, [1.0], 1.0), ValueError, "vectors must be 2-dimensional"),
        (lambda: theory.linear_supremum_bound(0, 0.1, 0.1), ValueError, "n must be at least 1"),
        (lambda: theory.linear_supremum_bound(3, 0.5, 0.1), ValueError, "epsilon .* between 0 and 0.5"),
        (lambda: theory.linear_supremum_bound(3, 0.1, 0.0), ValueError, "delta must lie strictly"),
        (lambda: theory.quadratic_supremum_bound(3, 0, 0.1, 0.1), ValueError, "d must be at least 1"),
        (lambda: theory.quadratic_supremum_bound(3, 2, 0.0, 0.1), ValueError, "epsilon .* between 0 and 0.5"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, match):
    with pytest.raises(error, match=match):
        call()
