"""Sets that have nothing in common with the first."""

import numpy as np
import pytest

from lslmatch.choice.unrelated import unrelated_sets


@pytest.mark.parametrize("shape", [(30, 5), (30, 4), (4, 9), (6, 1), (100, 2)])
def test_one_of_two_components_is_turned_and_distances_stay(shape):
    rng = np.random.default_rng(4)
    y = rng.normal(size=shape) + 100.0
    sets = list(unrelated_sets(y))
    assert len(sets) == (3 if shape[0] >= 100 else 9)
    axes = np.linalg.svd(y - y.mean(axis=0), full_matrices=False)[2]
    before = (y - y.mean(axis=0)) @ axes.T
    for other in sets:
        assert np.allclose(other.mean(axis=0), y.mean(axis=0))
        after = (other - y.mean(axis=0)) @ axes.T
        is_turned = np.abs(after + before).max(axis=0) < 1e-9
        assert (is_turned | (np.abs(after - before).max(axis=0) < 1e-9)).all()
        sizes = np.linalg.norm(before, axis=0)
        full = is_turned[: len(is_turned) // 2 * 2].reshape(-1, 2)[sizes[1::2] > 1e-9]
        assert (full.sum(axis=1) == 1).all()
        assert np.allclose(
            np.linalg.norm(other[:, None] - other, axis=2), np.linalg.norm(y[:, None] - y, axis=2)
        )
    repeated = list(unrelated_sets(y))
    assert all(np.array_equal(one, same) for one, same in zip(sets, repeated, strict=True))
