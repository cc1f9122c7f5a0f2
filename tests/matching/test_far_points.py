"""Points that are far out, and all kinds of nasty input in small: optimal for the numbers that were given."""

import numpy as np
import pytest

from lslmatch import check_certificate, match
from tests.stress.real_sizes.cases import Case
from tests.stress.real_sizes.judge import judge
from tests.stress.real_sizes.kinds import KINDS, draw_sets
from tests.stress.real_sizes.trying import may_be_refused
from tests.support.reference import SMALL
from tests.support.solver import set_solver

SEEDS = 4 if SMALL else 12


@pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_nasty_input_is_proven_or_refused_for_a_reason(kind, streamed, monkeypatch):
    if streamed:
        set_solver(monkeypatch, dense_pairs=0)
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        n, m, d = rng.integers(2, 14, 3)
        x, y = draw_sets(rng, (kind,), min(n, m), max(n, m), 1 + d // 4)
        options = {
            "objective": ("lsl", "lss")[seed % 2],
            "alignment": ("identity", "standardize")[seed // 2 % 2],
        }
        try:
            result = match(x, y, **options)
        except ValueError:
            assert may_be_refused(Case((kind,), "", x, y, options)), seed
            continue
        found = judge(x, y, result)
        assert found.is_proven, (seed, found)
        assert check_certificate(x, y, result) <= found.greatest, seed


def test_one_far_point_does_not_move_the_floor_of_the_others():
    """Beside a fill of 1e20 a floor from the mean square would make all distances of 1e-5 cost the same."""
    x = np.array([[0.0], [1e-5], [3e-5], [1.0]])
    y = np.array([[3.1e-5], [1.2e-5], [0.1e-5], [1e20]])
    result = match(x, y, alignment="identity")
    assert result.permutation.tolist() == [2, 1, 0, 3]
    expected = 2.0 * np.log([0.1e-5, 0.2e-5, 0.1e-5, 1e20]).sum()
    assert result.objective == pytest.approx(expected, rel=1e-9)
    assert check_certificate(x, y, result) < 1e-9


@pytest.mark.parametrize("tiny", [1.4e56, 1e-200, 5e-324])
def test_points_of_all_magnitudes_agree_on_which_coincide(tiny):
    x, y = np.array([[tiny], [0.0]]), np.array([[1e217], [0.0]])
    assert check_certificate(x, y, match(x, y, alignment="identity")) < 1e-12


def test_sets_out_of_the_range_of_their_far_points_are_refused_by_name():
    x = np.array([[1e-150], [2e-150], [3e-150], [1e100]])
    with pytest.raises(ValueError, match=r"x and y must be in the range of float64: x\[3\] are so large"):
        match(x, x[:3], alignment="identity")


def test_noise_levels_in_the_denormal_range_keep_their_digits():
    rng = np.random.default_rng(0)
    x, y = np.round(1e3 * rng.normal(size=(2, 12, 2)))
    levels = np.round(rng.uniform(50.0, 300.0, size=(2, 12)))
    x, y, levels = (np.ldexp(part, -1070) for part in (x, y, levels))
    result = match(x, y, objective="lsns", noise=tuple(levels))
    assert judge(x, y, result).is_proven
    assert check_certificate(x, y, result) <= 1e-12 * result.row_dual.max()


@pytest.mark.parametrize(("fill", "is_refused"), [(1e140, False), (1.4e154, True), (1e200, True)])
def test_a_fill_whose_square_is_no_double_is_refused_for_a_sum_of_squares(fill, is_refused):
    x, y = np.zeros((3, 1)), np.array([[fill], [1.0], [1.0]])
    if is_refused:
        with pytest.raises(ValueError, match="moderate units for a sum of squares"):
            match(x, y, alignment="identity", objective="lss")
    else:
        assert check_certificate(x, y, match(x, y, alignment="identity", objective="lss")) == 0.0
