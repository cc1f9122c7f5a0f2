"""The diagnosis of a matching: verdicts, margins and confidences on request, degenerate data, errors."""

import numpy as np
import pytest

from lslmatch import Affine, AlignmentWarning, diagnose, log_cost_matrix, match, solve_assignment
from lslmatch.diagnosis import judging
from lslmatch.diagnosis import outcome as diagnosis
from tests.support.diagnosis import N, planted
from tests.support.reference import SMALL


def area_under_curve(score, right):
    """The probability that a right pair scores above a wrong one."""
    above = score[right][:, None] - score[~right]
    return np.mean(above > 0) + np.mean(above == 0) / 2


@pytest.mark.parametrize("objective", ["lsl", "lss"])
@pytest.mark.parametrize(("n", "m"), [(12, 12), (10, 12), (12, 10)])
def test_a_result_of_other_sets_is_refused(n, m, objective):
    x, y = np.random.default_rng(3).normal(size=(2, 12, 3))
    x, y = x[:n], y[:m]
    result = match(x, y, objective=objective)
    assert diagnose(x, y, result).margin is not None
    for other_x, other_y in ((x + 0.01 * y[0], y), (x, 1.001 * y), (x[::-1], y)):
        with pytest.raises(ValueError, match="what match returned for x and y"):
            diagnose(other_x, other_y, result)
    with pytest.raises(ValueError, match="what match returned for x and y"):
        diagnose(x, y, result._replace(row_dual=np.full(n, 1.7e308), col_dual=np.full(m, 1.7e308)))


@pytest.mark.parametrize("margins", ["bound", "exact"])
def test_duals_that_are_out_of_range_make_no_noise(margins):
    x, y = np.random.default_rng(3).normal(size=(2, 8, 3))
    result = match(x, y)
    signs = np.where(np.arange(8) % 2, 1.0, -1.0)
    col_dual = np.empty(8)
    col_dual[result.permutation] = -1.7e308 * signs
    found = diagnose(x, y, result._replace(row_dual=1.7e308 * signs, col_dual=col_dual), margins=margins)
    assert not np.isnan(found.margin).any()
    assert ((found.confidence >= 0.0) & (found.confidence <= 1.0)).all()


# Verdicts.


def test_verdict_follows_the_separation():
    verdicts = {}
    for separation in (0.1, 10.0, 1000.0):
        _, x, y = planted(n=70, d=65, separation=separation)
        found = diagnose(x, y, match(x, y))
        verdicts[separation] = found.verdict.split("; ")[-1]
        assert 200 < found.threshold < 400
    assert verdicts == {
        0.1: "some rows are too similar to tell apart",
        10.0: "even the most similar rows can be told apart",
        1000.0: "all rows can be told apart, by the theorem",
    }


@pytest.mark.parametrize(
    ("n", "options"),
    [
        (70, {"objective": "lss"}),
        (70, {"alignment": "identity"}),
        (70, {"alignment": Affine(1.0, np.zeros(65))}),
        (60, {}),  # n < d
    ],
)
def test_no_threshold_where_the_theorem_says_nothing(n, options):
    _, x, y = planted(n=n, d=65, separation=1000.0)
    found = diagnose(x, y, match(x, y, **options))
    assert found.threshold == np.inf
    assert found.verdict.startswith("about 100 % of the pairs right (")
    assert found.verdict.endswith("; even the most similar rows can be told apart")


def test_no_threshold_for_sets_of_different_size_or_too_small_a_probability():
    _, x, y = planted(n=72, d=65, separation=1000.0)
    assert diagnose(x[:-1], y, match(x[:-1], y)).threshold == np.inf
    assert diagnose(x, y, match(x, y)).threshold < np.inf
    assert diagnose(x, y, match(x, y), delta=1e-9).threshold == np.inf


def test_the_set_for_comparison_is_nobodys_to_be_warned_of():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(90, 8))
    y = (x + 3.0 * rng.normal(size=(90, 1)) * np.linspace(0.0, 1.0, 8))[rng.permutation(90)]
    y[:6] = -8.0
    with pytest.warns(AlignmentWarning):
        result = match(x, y)
    with pytest.warns(AlignmentWarning):
        match(x, 2.0 * y.mean(axis=0) - y)
    assert diagnose(x, y, result).expected_right < 0.5


@pytest.mark.parametrize("covariance", ["isotropic", "estimate", np.diag([1.0, 2.0, 3.0, 4.0])])
def test_unrelated_sets_do_not_look_matched(covariance):
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=(2, N, 4))
    related = x[::-1] + 0.05 * rng.normal(size=(N, 4))
    found = diagnose(x, y, match(x, y, covariance=covariance))
    assert found.verdict.startswith(diagnosis.NO_RELATION)
    assert found.expected_right < 0.1
    assert found.expected_right_interval[0] == 0.0
    clear = diagnose(x, related, match(x, related, covariance=covariance))
    assert clear.expected_right > 0.9
    assert clear.verdict.startswith("about 9") or clear.verdict.startswith("about 100")
    assert clear.expected_right_interval[0] <= clear.expected_right <= clear.expected_right_interval[1]


# Degenerate data.


def test_noiseless_data():
    x = np.random.default_rng(1).normal(size=(80, 60))
    y = (x[::-1] - 7.0) / 3.0
    found = diagnose(x, y, match(x, y), margins="exact")
    assert found.verdict.endswith(diagnosis.GUARANTEED)
    assert (found.noise < 1e-12).all()
    assert (found.margin > 50).all()
    np.testing.assert_allclose(found.confidence, 1.0)


def test_twins_have_no_margin():
    x = np.random.default_rng(1).normal(size=(20, 3))
    x[1] = x[0]
    found = diagnose(x, x, match(x, x), margins="exact")
    assert found.separation == 0
    assert found.verdict.endswith(diagnosis.BELOW_FLOOR)
    np.testing.assert_allclose(found.margin[:2], 0, atol=1e-9)
    np.testing.assert_allclose(found.confidence[:2], 0.5, atol=1e-3)
    assert (found.margin[2:] > 50).all()


def test_points_that_all_coincide():
    x = np.ones((10, 2))
    found = diagnose(x, x, match(x, x, alignment="identity"), margins="exact")
    assert found.verdict.endswith(diagnosis.BELOW_FLOOR)
    np.testing.assert_array_equal(found.margin, 0)
    np.testing.assert_allclose(found.confidence, 0.1, atol=1e-6)


@pytest.mark.parametrize("alignment", ["identity", "standardize"])
@pytest.mark.parametrize("d", [1, 2])
def test_two_points(d, alignment):
    x = np.arange(2.0 * d).reshape(2, d)
    y = x + 0.1 * np.eye(2, d)
    found = diagnose(x, y, match(x, y, alignment=alignment), margins="exact")
    assert (found.noise > 0).all()
    assert np.isfinite(found.margin).all()


# Margins.


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns"])
@pytest.mark.parametrize(("n", "m"), [(12, 12), (9, 12), (12, 9)])
def test_margin_is_the_rise_of_the_objective_without_the_pair(objective, n, m):
    _, x, y = planted(n=12, d=2, separation=0.3, noise_ratio=4.0, seed=3)
    x, y = x[:n], y[:m]
    levels = (np.linspace(1, 2, n), np.linspace(2, 3, m)) if objective == "lsns" else None
    result = match(x, y, objective=objective, noise=levels)
    cost = log_cost_matrix(x, y, result.affine)
    if objective != "lsl":
        cost = np.exp(cost)
    if levels is not None:
        cost = cost / (levels[0][:, None] ** 2 + (result.scale * levels[1]) ** 2)
    expected = np.full(n, np.nan)
    for i in np.flatnonzero(result.permutation >= 0):
        forbidden = cost.copy()
        forbidden[i, result.permutation[i]] = np.inf
        expected[i] = solve_assignment(forbidden).objective - result.objective
    exact, bound = diagnose(x, y, result, margins="exact"), diagnose(x, y, result)
    np.testing.assert_allclose(exact.margin, expected, atol=1e-9 * np.abs(cost).max())
    matched = ~np.isnan(expected)
    assert matched.sum() == min(n, m)
    assert (bound.margin[matched] <= expected[matched] + 1e-9).all()
    assert ((exact.confidence[matched] > 0) & (exact.confidence[matched] <= 1)).all()
    for values in (exact.confidence, exact.noise, bound.margin):
        np.testing.assert_array_equal(np.isnan(values), ~matched)


def test_margins_on_request():
    _, x, y = planted(n=30, d=3, separation=0.5)
    result = match(x[:25], y)
    exact, bound, some = (
        diagnose(x[:25], y, result, margins=margins).margin for margins in ("exact", "bound", [3, 17])
    )
    assert not np.array_equal(exact, bound)
    np.testing.assert_array_equal(diagnose(x[:25], y, result, margins=[]).margin, bound)
    bound[[3, 17]] = exact[[3, 17]]
    np.testing.assert_array_equal(some, bound)


def test_greedy_has_neither_margins_nor_confidences():
    _, x, y = planted(n=20)
    found = diagnose(x, y, match(x, y, objective="greedy"))
    assert found.margin is None
    assert found.confidence is None
    assert found.verdict == diagnosis.ABOVE_FLOOR


def test_confidences_are_left_out_above_a_number_of_pairs(monkeypatch):
    monkeypatch.setattr(judging, "MOST_PAIRS", 20 * 20 - 1)
    _, x, y = planted(n=20)
    found = diagnose(x, y, match(x, y))
    assert found.confidence is None
    assert found.margin is not None


def test_workers_do_not_change_the_result():
    _, x, y = planted(n=50, d=3, separation=0.5)
    result = match(x, y)
    for one, two in zip(diagnose(x, y, result), diagnose(x, y, result, workers=2), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.skipif(SMALL, reason="needs more pairs than plain Python can take")
@pytest.mark.parametrize(("d", "separation", "noise_ratio"), [(5, 0.7, 1.0), (20, 2.0, 9.0), (60, 3.0, 25.0)])
def test_margins_and_confidences_tell_wrong_pairs(d, separation, noise_ratio):
    right, bound, exact, confidence = [], [], [], []
    for seed in range(2):
        truth, x, y = planted(N, d, separation, noise_ratio, seed)
        result = match(x, y)
        found = diagnose(x, y, result, margins="exact")
        right.append(result.permutation == truth.permutation)
        bound.append(diagnose(x, y, result).margin)
        exact.append(found.margin)
        confidence.append(found.confidence)
    right, bound, exact, confidence = map(np.concatenate, (right, bound, exact, confidence))
    assert 0.3 < right.mean() < 0.95
    for score in (bound, exact, confidence):
        assert area_under_curve(score, right) > 0.7
    # Control: a shuffled score tells nothing. The standard error of its area is below 0.05.
    shuffled = np.random.default_rng(0).permutation(exact)
    assert abs(area_under_curve(shuffled, right) - 0.5) < 0.15
    assert right.mean() - 0.25 < confidence.mean() < right.mean() + 0.1


def test_pairs_of_a_wrong_alignment_are_not_believed():
    # A row of points that is off by one step fits as well as the right one; so does the reflected row.
    x = np.arange(20.0)[:, None] + 0.01 * np.random.default_rng(0).normal(size=(20, 5))
    result = match(x, x + 1.0, alignment="identity")
    wrong = result.permutation != np.arange(20)
    assert wrong.mean() > 0.9
    assert np.median(diagnose(x, x + 1.0, result).confidence[wrong]) < 0.5
    assert (match(x, x + 1.0).permutation == np.arange(20)).all()


# Input.


@pytest.mark.parametrize(
    ("options", "error", "because"),
    [
        ({"margins": "best"}, ValueError, "margins must be one of"),
        ({"margins": [0.5]}, TypeError, "margins must be"),
        ({"margins": [20]}, ValueError, "margins must hold indices from 0 to 19"),
        ({"margins": [-1]}, ValueError, "margins must hold indices"),
        ({"margins": 3}, ValueError, "margins must be a vector"),
        ({"delta": 1.0}, ValueError, "delta must lie"),
        ({"workers": 0}, ValueError, "workers must be at least 1"),
    ],
)
def test_bad_option_is_refused(options, error, because):
    _, x, y = planted(n=20, d=3)
    with pytest.raises(error, match=because):
        diagnose(x, y, match(x, y), **options)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"permutation": np.arange(19)}, ValueError),
        ({"permutation": np.zeros(20, int)}, ValueError),
        ({"permutation": np.arange(1, 21)}, ValueError),
        ({"permutation": np.arange(-2, 18)}, ValueError),
        ({"permutation": np.arange(20.0)}, TypeError),
        ({"scale": -1.0}, ValueError),
        ({"shift": np.zeros(4)}, ValueError),
        ({"row_dual": np.zeros(19)}, ValueError),
        ({"col_dual": np.full(20, np.nan)}, ValueError),
        ({"criterion": "none"}, ValueError),
    ],
)
def test_result_must_fit(changes, error):
    _, x, y = planted(n=20, d=3)
    with pytest.raises(error, match="result"):
        diagnose(x, y, match(x, y)._replace(**changes))
