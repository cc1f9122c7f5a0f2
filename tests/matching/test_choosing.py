"""Which pairs are kept: the model of true pairs and strangers, its controls, and what the result says."""

import numpy as np
import pytest

from lslmatch import FalseShare, check_certificate, diagnose, match
from tests.support.reference import SMALL
from verification.scenarios.strangers import KINDS, LIKE, draw_partly_common

PAIRS, STRANGERS = (30, 20) if SMALL else (60, 40)


def drawn(kind, pairs=PAIRS, strangers=(STRANGERS, STRANGERS), d=5, seed=0, separation=10.0):
    rng = np.random.default_rng([seed, d])
    return draw_partly_common(
        kind, "normal", pairs=pairs, strangers=strangers, d=d, separation=separation, noise_ratio=4.0, rng=rng
    )


def chosen(sets, pairs="auto"):
    return match(sets.x, sets.y, alignment="robust", pairs=pairs)


@pytest.mark.parametrize("kind", [LIKE, *KINDS])
@pytest.mark.parametrize("strangers", [(STRANGERS, STRANGERS), (STRANGERS, STRANGERS // 2)])
def test_strangers_stay_without_a_partner(kind, strangers):
    sets = drawn(kind, strangers=strangers)
    result = chosen(sets)
    recall, false, _ = sets.score(result.permutation)
    assert recall >= 0.9
    assert false <= 0.1
    assert check_certificate(sets.x, sets.y, result) < 1e-9
    # The control: today's matching of all pairs gives every stranger of the smaller set a partner.
    assert sets.score(match(sets.x, sets.y, alignment=sets.affine).permutation)[1] >= 0.25


@pytest.mark.parametrize("d", [2, 5, 20])
def test_without_strangers_no_pair_is_left_out(d):
    sets = drawn(LIKE, strangers=(0, 0), d=d)
    result = chosen(sets)
    assert np.count_nonzero(result.permutation >= 0) == PAIRS
    assert result.price is None
    assert result.decisions[-1].startswith(f"pairs: {PAIRS} of at most {PAIRS}, as none is")


@pytest.mark.parametrize("d", [5, 20])
def test_sets_with_nothing_in_common_have_no_pairs_and_that_is_said(d):
    sets = drawn(LIKE, pairs=0, strangers=(PAIRS, PAIRS), d=d)
    result = chosen(sets)
    assert (result.permutation == -1).all()
    assert result.decisions[-1].startswith("pairs: none, as the best pairs do not stand out")
    assert check_certificate(sets.x, sets.y, result) <= 1e-9


def test_a_smaller_share_of_false_pairs_means_fewer_pairs_and_is_kept():
    sets = drawn(LIKE, separation=4.0)
    counts = []
    for share in (0.3, 0.05, 0.01):
        result = chosen(sets, FalseShare(share))
        kept = result.permutation >= 0
        assert not kept.any() or 1.0 - result.confidence[kept].mean() <= share
        assert np.isnan(result.confidence[~kept]).all()
        counts.append(np.count_nonzero(kept))
    assert counts[0] >= counts[1] >= counts[2]
    assert counts[0] > counts[2]


def test_right_pairs_have_more_confidence_than_false_ones():
    right, false = [], []
    for seed in range(6):  # few false pairs are kept of each
        sets = drawn(LIKE, separation=4.0, seed=seed)
        result = chosen(sets)
        kept = result.permutation >= 0
        is_right = kept & (result.permutation == sets.partner)
        right.extend(result.confidence[is_right])
        false.extend(result.confidence[kept & ~is_right])
    assert len(false) >= 6
    assert np.mean(right) > np.mean(false) + 0.1


def test_under_a_learned_covariance_pairs_are_chosen_too():
    sets = drawn("wide")
    result = match(sets.x, sets.y, alignment="robust", covariance="estimate", pairs="auto")
    recall, false, _ = sets.score(result.permutation)
    assert recall >= 0.9
    assert false <= 0.1


def test_exchanging_the_sets_exchanges_the_pairs():
    sets = drawn("wide", strangers=(STRANGERS, STRANGERS // 2))
    one = match(sets.x, sets.y, alignment=sets.affine, pairs="auto").permutation
    back = type(sets.affine)(1.0 / 3.0, np.full(5, -5.0 / 3.0))
    other = match(sets.y, sets.x, alignment=back, pairs="auto").permutation
    rows = np.flatnonzero(one >= 0)
    np.testing.assert_array_equal(other[one[rows]], rows)
    assert np.count_nonzero(other >= 0) == rows.size


@pytest.mark.parametrize("n", [2, 3, 5, 6, 7])
def test_few_or_coincident_points_are_ordinary_input(n):
    x = np.random.default_rng(n).standard_normal((n, 2))
    result = match(x, 2.0 * x[::-1] + 1.0, pairs="auto")
    assert check_certificate(x, 2.0 * x[::-1] + 1.0, result) < 1e-9
    repeated = np.repeat(x, 4, axis=0)
    result = match(repeated, repeated[::-1], pairs="auto")
    assert check_certificate(repeated, repeated[::-1], result) < 1e-9


def test_what_cannot_be_chosen_is_refused():
    x = np.arange(8.0).reshape(4, 2)
    with pytest.raises(
        ValueError, match="pairs can be chosen for objective 'lsl' only; got 'auto' with 'lss'"
    ):
        match(x, x, objective="lss", pairs="auto")
    with pytest.raises(ValueError, match="pairs.share must lie strictly between 0 and 1; got 2"):
        match(x, x, pairs=FalseShare(2))
    with pytest.raises(ValueError, match="pairs must be one of 'all', 'auto'; got 'some'"):
        match(x, x, pairs="some")


def correlated(common, strangers, d=12, seed=0):
    """Draw two sets whose noise has one strong direction, in random order; give them and the partners."""
    rng = np.random.default_rng([seed, common, strangers])
    x, y = rng.standard_normal((2, common + strangers, d))
    y[:common] = x[:common]
    direction = np.ones(d) / np.sqrt(d)
    for points in (x, y):
        points += 0.15 * rng.standard_normal(points.shape)
        points += 6.0 * rng.standard_normal((len(points), 1)) * direction
    order = rng.permutation(len(y))
    partner = np.where(np.arange(len(x)) < common, np.argsort(order), -1)
    return x, 2.0 * y[order] - 1.0, partner


def test_the_covariance_is_learned_again_from_the_pairs_that_are_kept():
    x, y, partner = correlated(PAIRS, STRANGERS)
    result = match(x, y, covariance="estimate", pairs="auto")
    kept = result.permutation >= 0
    right = kept & (result.permutation == partner)
    assert right.sum() >= 0.9 * PAIRS
    assert (kept & ~right).sum() <= 0.1 * kept.sum()
    reference = result.covariance.reference
    assert 0 < np.count_nonzero(reference >= 0) < len(x)
    np.testing.assert_array_equal(result.permutation[kept], result.chosen_from[kept])
    assert check_certificate(x, y, result) < 1e-9
    diagnosis = diagnose(x, y, result)
    np.testing.assert_array_equal(np.isnan(diagnosis.confidence), ~kept)
    # The control: with isotropic noise next to nothing is found.
    plain = match(x, y)
    assert (plain.permutation == partner).sum() <= 0.5 * PAIRS


def test_auto_takes_the_covariance_under_which_more_pairs_are_probably_right():
    x, y, partner = correlated(PAIRS, STRANGERS)
    result = match(x, y, covariance="auto", pairs="auto")
    assert result.decisions[-1].startswith("covariance: learned")
    assert (result.permutation == partner)[partner >= 0].mean() >= 0.9
    sets = drawn(LIKE, d=5)
    plain = match(sets.x, sets.y, alignment="robust", covariance="auto", pairs="auto")
    assert plain.covariance.is_isotropic
    assert plain.decisions[-1].startswith("covariance: isotropic, as ")
    assert check_certificate(sets.x, sets.y, plain) < 1e-9


@pytest.mark.parametrize("seed", range(1 if SMALL else 3))
def test_unrelated_sets_have_no_pairs_under_a_learned_covariance_either(seed):
    x, y, _ = correlated(0, PAIRS, seed=seed)
    result = match(x, y, covariance="auto", pairs="auto")
    assert (result.permutation == -1).all()


def test_a_certificate_of_chosen_pairs_is_refused_for_other_pairs():
    x, y, _ = correlated(PAIRS, STRANGERS)
    result = match(x, y, covariance="estimate", pairs="auto")
    rows = np.flatnonzero(result.permutation >= 0)[:2]
    changed = result.permutation.copy()
    changed[rows] = changed[rows[::-1]]
    with pytest.raises(ValueError, match="pairs of the matching in result.chosen_from only"):
        check_certificate(x, y, result._replace(permutation=changed))


def test_readings_that_repeat_are_strangers():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((PAIRS, 8))
    y = x + 0.1 * rng.standard_normal(x.shape)
    y[: PAIRS // 4] = 0.0
    result = match(x, y, alignment="robust", pairs="auto")
    assert (result.permutation[PAIRS // 4 :] == np.arange(PAIRS // 4, PAIRS)).mean() >= 0.95
    assert (result.permutation[: PAIRS // 4] == -1).mean() >= 0.9
