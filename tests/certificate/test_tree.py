"""The tree leaves out no pair that the certificate has to judge, whatever the duals are."""

import numpy as np
import pytest

from lslmatch import Affine, check_certificate, match
from lslmatch.certificate import checking, tree
from lslmatch.certificate.tree import Need, find_doubtful_in_tree
from tests.support.reference import SMALL


def doubtful(x, y, need, workers=1):
    """All pairs that are handed over, each of them once."""
    pairs = []
    find_doubtful_in_tree(
        x, y, need, lambda i, j: pairs.extend(zip(i.tolist(), j.tolist(), strict=True)), workers
    )
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


def lacking(x, y, need, factor=1.0):
    """All pairs whose squared distance, computed from differences, is below a multiple of what they need."""
    squares = ((x[:, None] - y) ** 2).sum(axis=2)
    needed = np.add.outer(need.p, need.q) * np.add.outer(need.s, need.t)
    return {tuple(pair) for pair in np.argwhere(squares <= factor * needed).tolist()}


def draw(kind, n, m, d):
    """Two sets within the unit cube."""
    rng = np.random.default_rng([n, m, d])
    if kind == "lattice":
        x, y = rng.integers(0, 3, (n, d)) / 4.0, rng.integers(0, 3, (m, d)) / 4.0
    elif kind == "clusters":
        # As wide as a millionth of a millionth of their distance.
        x, y = (1e-12 * rng.random((k, d)) + rng.integers(0, 2, (k, 1)) / 2.0 for k in (n, m))
    elif kind == "planted":
        y = rng.random((m, d))
        x = y[rng.permutation(m)[np.arange(n) % m]] + 1e-3 * rng.normal(size=(n, d))
    else:
        x, y = rng.random((n, d)), rng.random((m, d))
    return np.clip(x, 0.0, 1.0) - 0.5, np.clip(y, 0.0, 1.0) - 0.5


def draw_need(kind, n, m, typical):
    """What pairs need, so that some have it and some do not."""
    rng = np.random.default_rng([n, m])
    if kind == "product":
        return Need(
            typical * np.exp(rng.normal(size=n)), np.zeros(m), np.zeros(n), np.exp(rng.normal(size=m))
        )
    if kind == "wide product":
        exponents = rng.normal(scale=60.0, size=m)
        return Need(np.full(n, typical), np.zeros(m), np.zeros(n), np.exp(exponents - exponents.max()))
    if kind == "sum":
        rows, cols = rng.normal(size=n), rng.normal(size=m)
        return Need(typical * (1.0 + 1e3 + rows), typical * (cols - 1e3), np.ones(n), np.zeros(m))
    levels = rng.random(n), 2.0 * rng.random(m)
    return Need(typical * rng.normal(size=n), typical * rng.normal(size=m), *levels)


@pytest.mark.parametrize("needed", ["product", "wide product", "sum", "both"])
@pytest.mark.parametrize("kind", ["uniform", "lattice", "clusters", "planted"])
@pytest.mark.parametrize(("n", "m", "d"), [(9, 300, 1), (40, 150, 3), (6, 140, 60)])
def test_every_pair_that_may_lack_something_is_found_and_few_others(needed, kind, n, m, d):
    x, y = draw(kind, n, m, d)
    squares = ((x[:, None] - y) ** 2).sum(axis=2)
    need = draw_need(needed, n, m, float(np.quantile(squares, 0.02)) + 1e-30)
    found = doubtful(x, y, need)
    assert lacking(x, y, need) <= found
    # Those whose squared distance is clearly more than what they need, and than what rounding can hide.
    spread = np.ptp(y, axis=0).max() ** 2 * d
    hidden = np.argwhere(squares <= 1e-3 * spread).tolist()
    assert found <= lacking(x, y, need, 1.01) | lacking(x, y, need, 0.99) | {tuple(pair) for pair in hidden}


def test_a_tree_of_several_levels_leaves_out_nothing():
    x, y = draw("planted", 30, 9000, 2)
    need = Need(np.full(30, 1e-5), np.zeros(9000), np.zeros(30), np.ones(9000))
    found = doubtful(x, y, need)
    assert lacking(x, y, need) <= found
    assert len(found) <= 1.1 * len(lacking(x, y, need)) + 10


@pytest.mark.parametrize(("pairs", "work"), [(0, 1 << 30), (1 << 16, 0), (7, 1000)])
def test_a_search_in_many_parts_finds_the_same(pairs, work, monkeypatch):
    x, y = draw("uniform", 30, 200, 2)
    need = draw_need("product", 30, 200, 0.01)
    expected = doubtful(x, y, need)
    assert expected
    monkeypatch.setattr(tree, "_PAIRS_PER_CALL", pairs)
    monkeypatch.setattr(tree, "_WORK_PER_CALL", work)
    monkeypatch.setattr(tree, "_BLOCK_ROWS", 8)
    assert doubtful(x, y, need) == expected
    assert doubtful(x, y, need, workers=3) == expected


@pytest.mark.parametrize("part", range(4))
def test_what_is_not_a_number_is_handed_over(part):
    x, y = draw("uniform", 5, 140, 2)
    need = list(draw_need("both", 5, 140, 1e-9))
    need[part] = np.where(np.arange(need[part].size) == 3, np.nan, need[part])
    found = doubtful(x, y, Need(*need))
    affected = {(3, j) for j in range(140)} if part in {0, 2} else {(i, 3) for i in range(5)}
    assert affected <= found


# -------------------------------------------------------------------- the certificate as a whole


def both_ways(x, y, result, monkeypatch):
    """The violation from all pairs, and from those that the tree finds."""
    violations = []
    for pairs in (x.shape[0] * y.shape[0] + 1, 0):
        monkeypatch.setattr(checking, "_TREE_PAIRS", pairs)
        violations.append(check_certificate(x, y, result))
    return violations


@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns"])
@pytest.mark.parametrize(("n", "m"), [(40, 40), (20, 150), (150, 20)])
def test_the_violation_is_that_of_all_pairs(objective, n, m, monkeypatch):
    rng = np.random.default_rng([n, m])
    x, y = rng.normal(size=(n, 3)), 1e6 + 1e3 * rng.normal(size=(m, 3))
    noise = (np.linspace(0.5, 2.0, n), np.linspace(1.0, 3.0, m)) if objective == "lsns" else None
    result = match(x, y, objective=objective, noise=noise)
    every, some = both_ways(x, y, result, monkeypatch)
    assert some == every
    unit = max(1.0, abs(result.objective))
    assert some < 1e-9 * unit
    for size in (1e-6, 1e-2, 10.0):
        row, col = rng.integers(n), rng.integers(m)
        u, v = result.row_dual.copy(), result.col_dual + size * rng.normal(size=m)
        u[row] += size
        v[col] += size
        every, some = both_ways(x, y, result._replace(row_dual=u, col_dual=v), monkeypatch)
        assert some == every > 0.1 * size


@pytest.mark.parametrize("d", [1, 2, 40])
def test_coincident_points_and_ties_are_judged_exactly(d, monkeypatch):
    rng = np.random.default_rng(d)
    x, y = rng.integers(0, 2, (60, d)).astype(float), rng.integers(0, 2, (70, d)).astype(float)
    result = match(x, y, alignment=Affine(1.0, np.zeros(d)))
    every, some = both_ways(x, y, result, monkeypatch)
    assert some == every < 1e-9


@pytest.mark.skipif(SMALL, reason="too slow without compilation")
def test_one_pair_in_a_million_is_noticed():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1100, 5))
    y = x[rng.permutation(1100)] + 0.01 * rng.normal(size=(1100, 5))
    result = match(x, y)
    assert check_certificate(x, y, result) < 1e-9
    row, col = 17, int(result.permutation[600])
    slack = np.log(((x[row] - result.scale * y[col] - result.shift) ** 2).sum())
    slack -= result.row_dual[row] + result.col_dual[col]
    duals = result.row_dual.copy()
    duals[600] -= slack + 0.001
    columns = result.col_dual.copy()
    columns[col] += slack + 0.001
    broken = result._replace(row_dual=duals, col_dual=columns)
    assert check_certificate(x, y, broken, workers=2) >= 0.0009
