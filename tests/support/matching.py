"""Point sets to match, and a match of which all is checked that can be."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, match
from tests.support.sets import draw

PROVEN = ("lsl", "lss", "lsns")

objectives = pytest.mark.parametrize("objective", [*PROVEN, "greedy"])

proven = pytest.mark.parametrize("objective", PROVEN)

alignments = pytest.mark.parametrize("alignment", ["standardize", "identity", Affine(2.0, np.float64(0.5))])


def noise_of(objective, n, m):
    return (np.linspace(0.5, 2.0, n), np.linspace(3.0, 1.0, m)) if objective == "lsns" else None


def run(x, y, objective="lsl", alignment="standardize", **options):
    """Match with made-up noise levels where the objective needs some, and check what can be checked."""
    if isinstance(alignment, Affine):
        alignment = Affine(alignment.scale, np.broadcast_to(alignment.shift, x.shape[1]))
    options.setdefault("noise", noise_of(objective, len(x), len(y)))
    result = match(x, y, objective=objective, alignment=alignment, **options)
    assert_is_matching(result, len(x), len(y))
    if objective != "greedy":
        assert check_certificate(x, y, result) <= 1e-9 * max(1.0, abs(result.objective))
    return result


def assert_is_matching(result, n, m):
    partners = result.permutation[result.permutation >= 0]
    assert result.permutation.shape == (n,)
    assert result.permutation.min() >= -1
    assert result.permutation.max() < m
    assert len(set(partners.tolist())) == len(partners) == min(n, m)


def shuffled_copy(n, d, *, scale=1.0, shift=0.0, noise=0.0):
    """x, y and an order, one cycle, with ``x[i]`` about ``scale * y[order[i]] + shift``."""
    x = draw(n, d)
    cycle = np.random.default_rng(n).permutation(n)
    order = np.empty(n, int)
    order[cycle] = np.roll(cycle, 1)
    y = np.empty_like(x)
    y[order] = (x + noise * draw(n, d, 1) - shift) / scale
    return x, y, order
