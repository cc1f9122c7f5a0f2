"""Changes of the sets that change the answer in a known way."""

import math

import numpy as np
import pytest

from lslmatch import Affine
from tests.support.matching import alignments, noise_of, objectives, run
from tests.support.sets import draw


@objectives
@alignments
@pytest.mark.parametrize(("n", "m"), [(8, 8), (6, 9), (9, 6)])
class TestKnownChangeOfTheOptimum:
    def test_permuted_sets(self, objective, alignment, n, m):
        if objective == "greedy":
            # The order of the smaller set is the order of choice: only the larger one may be permuted.
            rows, cols = (
                (np.arange(n), np.roll(np.arange(m), 2))
                if n <= m
                else (np.roll(np.arange(n), 2), np.arange(m))
            )
        else:
            rows, cols = np.roll(np.arange(n), 3), np.roll(np.arange(m), 2)
        x, y = draw(n, 2), draw(m, 2, 1)
        noise = noise_of(objective, n, m)
        one = run(x, y, objective, alignment)
        noise = noise and (noise[0][rows], noise[1][cols])
        other = run(x[rows], y[cols], objective, alignment, noise=noise)
        assert other.objective == pytest.approx(one.objective, rel=1e-11)
        inverse = np.append(np.argsort(cols), -1)
        np.testing.assert_array_equal(other.permutation, inverse[one.permutation[rows]])

    def test_exchanged_sets(self, objective, alignment, n, m):
        if objective == "greedy" and n == m:
            return  # it matters who chooses
        x, y = draw(n, 2), draw(m, 2, 1)
        noise = noise_of(objective, n, m)
        there = run(x, y, objective, alignment)
        back = Affine(1.0 / there.scale, -there.shift / there.scale)
        alignment = back if isinstance(alignment, Affine) else alignment
        result = run(y, x, objective, alignment, noise=noise and noise[::-1])
        assert result.scale == pytest.approx(1.0 / there.scale, rel=1e-13)
        np.testing.assert_allclose(result.shift, back.shift, atol=1e-13)
        for i, j in enumerate(there.permutation):
            assert j < 0 or result.permutation[j] == i
        change = {"lss": there.scale**-2, "lsns": 1.0}
        if objective in change:
            assert result.objective == pytest.approx(there.objective * change[objective], rel=1e-11)
        else:
            expected = there.objective - 2 * min(n, m) * math.log(there.scale)
            assert result.objective == pytest.approx(expected, rel=1e-11)


@objectives
@pytest.mark.parametrize(("n", "m"), [(8, 8), (6, 9), (9, 6)])
@pytest.mark.parametrize(("a", "c"), [(2.0, 1.0), (1.0, 0.3), (1e-7, 1e6)])
def test_scaling_and_shifting_either_set_changes_the_unit_only(objective, n, m, a, c):
    x, y = draw(n, 2), draw(m, 2, 1)
    noise = noise_of(objective, n, m)
    one = run(x, y, objective)
    other = run(a * x + 3.0 * a, c * y - c, objective, noise=noise and (a * noise[0], c * noise[1]))
    np.testing.assert_array_equal(other.permutation, one.permutation)
    assert other.scale == pytest.approx(one.scale * a / c, rel=1e-12)
    if objective in ("lss", "lsns"):
        factor = a * a if objective == "lss" else 1.0
        assert other.objective == pytest.approx(one.objective * factor, rel=1e-11)
    else:
        assert other.objective == pytest.approx(one.objective + 2 * min(n, m) * math.log(a), rel=1e-11)
