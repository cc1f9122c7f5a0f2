"""Scale and shift that wild points cannot spoil: every kind of stranger, with the moments as the control."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, estimate_affine, match
from lslmatch.alignment.prominence import Judge, Map
from lslmatch.alignment.robust import fit_robust
from tests.support.reference import SMALL
from verification.scenarios.strangers import KINDS, LIKE, draw_partly_common

PAIRS, STRANGERS = 36, 24
#: Strangers of either set; without compilation some are enough.
SIDES = [(STRANGERS, STRANGERS)] if SMALL else [(STRANGERS, STRANGERS), (STRANGERS, 0), (0, STRANGERS)]


def drawn(kind, strangers=(STRANGERS, STRANGERS), d=5, seed=0, pairs=PAIRS):
    rng = np.random.default_rng([seed, d])
    return draw_partly_common(
        kind, "normal", pairs=pairs, strangers=strangers, d=d, separation=10.0, noise_ratio=4.0, rng=rng
    )


def recall(sets, alignment):
    return sets.score(match(sets.x, sets.y, alignment=alignment).permutation)[0]


# ---------------------------------------------------------------------------- strangers


@pytest.mark.parametrize("kind", [LIKE, *KINDS])
@pytest.mark.parametrize("strangers", SIDES)
def test_two_fifths_of_strangers_do_not_spoil_scale_and_shift(kind, strangers):
    sets = drawn(kind, strangers)
    found = fit_robust(sets.x, sets.y).affine
    assert found.scale == pytest.approx(3.0, rel=0.05)
    assert recall(sets, found) >= recall(sets, sets.affine) - 0.03


@pytest.mark.parametrize("kind", ["wide", "one far cluster", "another population", "constant rows"])
def test_the_moments_are_spoiled_by_them(kind):
    sets = drawn(kind, (STRANGERS, 0))
    assert abs(np.log(estimate_affine(sets.x, sets.y).scale / 3.0)) > 0.2


def test_one_wild_point_of_any_size_is_of_no_consequence():
    sets = drawn(LIKE, (0, 0))
    for size in (1e3, 1e100, 1e300):
        x = sets.x.copy()
        x[0] = size
        assert fit_robust(x, sets.y).affine.scale == pytest.approx(3.0, rel=0.05)


def test_sets_whose_centres_say_nothing_are_aligned_by_two_points_of_either():
    sets = drawn("another population", d=2, seed=3)
    assert recall(sets, "robust") >= recall(sets, sets.affine) - 0.03
    assert recall(sets, "standardize") < 0.5


# ---------------------------------------------------------------------------- without strangers


@pytest.mark.parametrize("d", [1, 2, 5])
def test_without_strangers_the_moments_are_mostly_kept(d):
    kept = 0
    for seed in range(5):
        sets = drawn(LIKE, (0, 0), d, seed)
        kept += fit_robust(sets.x, sets.y).affine.scale == estimate_affine(sets.x, sets.y).scale
    assert kept >= 4


def test_the_result_says_what_was_chosen_and_is_certified():
    sets = drawn("wide")
    result = match(sets.x, sets.y, alignment="robust")
    assert len(result.decisions) == 1
    assert result.decisions[0].startswith("alignment: robust (pairs stand out by ")
    assert check_certificate(sets.x, sets.y, result) < 1e-9
    clean = drawn(LIKE, (0, 0))
    (kept,) = match(clean.x, clean.y, alignment="robust").decisions
    assert kept.startswith("alignment: moments, which robust estimates do not improve")


def test_auto_includes_it():
    sets = drawn("one far cluster", (STRANGERS, 0))
    result = match(sets.x, sets.y, alignment="auto")
    assert result.scale == pytest.approx(3.0, rel=0.05)
    assert result.decisions[0].startswith("alignment: robust estimates, of the likelihoods f = ")


# ---------------------------------------------------------------------------- invariance


def test_other_units_and_offsets_change_nothing():
    sets = drawn("wide")
    scale = fit_robust(sets.x, sets.y).affine.scale
    for factor, offset in ((2.0**300, 0.0), (2.0**-300, 0.0), (1.0, 2.0**30)):
        other = fit_robust(factor * sets.x + offset, sets.y - offset).affine.scale
        assert other / factor == pytest.approx(scale, rel=1e-3)


def test_exchanging_the_sets_inverts_the_map():
    sets = drawn("another population", (STRANGERS, 0))
    one, other = fit_robust(sets.x, sets.y).affine, fit_robust(sets.y, sets.x).affine
    assert one.scale * other.scale == pytest.approx(1.0, rel=1e-9)


# ---------------------------------------------------------------------------- prominence


def test_prominence_is_the_log_ratio_to_the_best_alternative_of_row_and_column():
    a, b = np.array([[0.0], [10.0], [11.0]]), np.array([[1.0], [10.5], [14.0]])
    judged = Judge(a, b).judge(Map(1.0, np.zeros(1)))
    # 0-1: distance 1, others 10.5 and 9; 10-10.5 and 11-10.5 are as near as each other.
    assert judged.cols.tolist() == [0, 1, 1]
    np.testing.assert_allclose(judged.prominence, [np.log(81.0), 0.0, 0.0], atol=1e-12)


def test_points_that_coincide_within_a_set_do_not_stand_out():
    a = np.array([[0.0, 0.0], [0.0, 0.0], [3.0, 1.0]])
    judged = Judge(a, a).judge(Map(1.0, np.zeros(2)))
    assert judged.prominence[:2].tolist() == [0.0, 0.0]
    assert judged.prominence[2] == pytest.approx(np.log(1e4))


def test_a_map_is_a_name_or_given_as_before():
    sets = drawn(LIKE, (0, 0))
    assert match(sets.x, sets.y, alignment=Affine(3.0, np.full(5, 5.0))).decisions == ()


def test_a_spread_beyond_the_range_of_numbers_keeps_the_moments():
    corners = np.random.default_rng(2).choice([-8e307, 8e307], (12, 40))
    found = fit_robust(corners, corners[::-1])
    assert found.affine.scale == pytest.approx(1.0)
    assert found.decision.endswith("out of range")
