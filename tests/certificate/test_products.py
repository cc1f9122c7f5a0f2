"""Products leave out no pair that the certificate has to judge, whatever the duals are."""

import numpy as np
import pytest

from lslmatch import check_certificate, match
from lslmatch.certificate import checking, products
from lslmatch.certificate.products import find_doubtful
from lslmatch.certificate.tree import Need
from tests.certificate.test_tree import both_ways, draw, draw_need, lacking
from tests.support.reference import SMALL


@pytest.fixture
def _always_products(monkeypatch):
    monkeypatch.setattr(products, "_FEWEST_DIMENSIONS", 1)
    monkeypatch.setattr(products, "_GREATEST_SHARE", 1.0)
    monkeypatch.setattr(products, "find_doubtful_in_tree", None)


def doubtful(x, y, need, workers=1):
    """All pairs that are handed over, each of them once."""
    pairs = []
    find_doubtful(x, y, need, lambda i, j: pairs.extend(zip(i.tolist(), j.tolist(), strict=True)), workers)
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


@pytest.mark.usefixtures("_always_products")
@pytest.mark.parametrize("needed", ["product", "wide product", "sum", "both"])
@pytest.mark.parametrize("kind", ["uniform", "lattice", "clusters", "planted"])
@pytest.mark.parametrize(
    ("n", "m", "d"), [(9, 140, 1), (6, 130, 20)] if SMALL else [(9, 600, 1), (41, 150, 3), (6, 140, 60)]
)
def test_every_pair_that_may_lack_something_is_found_and_few_others(needed, kind, n, m, d):
    x, y = draw(kind, n, m, d)
    squares = ((x[:, None] - y) ** 2).sum(axis=2)
    need = draw_need(needed, n, m, float(np.quantile(squares, 0.02)) + 1e-30)
    found = doubtful(x, y, need)
    assert lacking(x, y, need) <= found
    # By all coordinates, few others: those that rounding can hide.
    vectors = products._vectors(x, y, need)
    pairs = set(zip(*(part.tolist() for part in products._find(vectors, np.arange(n))), strict=True))
    assert lacking(x, y, need) <= pairs
    hidden = np.argwhere(squares <= 1e-2 * d).tolist()
    sums = np.abs(need.p).max() * (need.s.max() + need.t.max())
    others = {tuple(pair) for pair in hidden} | lacking(x, y, need, 1.01) | lacking(x, y, need, 0.99)
    assert pairs <= others | ({(i, j) for i in range(n) for j in range(m)} if sums > 100.0 else set())


@pytest.mark.parametrize("seed", range(2 if SMALL else 6))
def test_the_bound_of_rounding_errors_holds(seed):
    """Products of pairs that have exactly what they need, or a little less, are never positive."""
    rng = np.random.default_rng([71, seed])
    n, m, d = 12, 30, int(rng.integers(1, 90))
    x, y = rng.uniform(-1.0, 1.0, (n, d)), rng.uniform(-1.0, 1.0, (m, d))
    x, y = x * 2.0 ** rng.integers(-30, 1), y * 2.0 ** rng.integers(-30, 1)
    s, t = rng.random(n), rng.random(m)
    squares = ((x[:, None] - y) ** 2).sum(axis=2)
    for row in range(n):
        # With p alone, chosen for one column after the other, which then has just what it needs.
        for col in range(0, m, 7):
            p = np.zeros(n)
            p[row] = squares[row, col] / (s[row] + t[col]) * (1.0 + 1e-12)
            vectors = products._vectors(x, y, Need(p, np.zeros(m), s, t))
            _, found = products._find(vectors, np.array([row]))
            assert col in found


@pytest.mark.usefixtures("_always_products")
@pytest.mark.parametrize("part", range(4))
def test_what_is_not_a_number_is_handed_over(part):
    x, y = draw("uniform", 5, 140, 2)
    need = list(draw_need("both", 5, 140, 1e-9))
    need[part] = np.where(np.arange(need[part].size) == 3, np.nan, need[part])
    vectors = products._vectors(x, y, Need(*need))
    found = set(zip(*(part.tolist() for part in products._find(vectors, np.arange(5))), strict=True))
    affected = {(3, j) for j in range(140)} if part in {0, 2} else {(i, 3) for i in range(5)}
    assert affected <= found
    assert max(j for _, j in found) < 140  # none of the padding


@pytest.mark.usefixtures("_always_products")
def test_parts_and_workers_find_the_same(monkeypatch):
    n, m = (20, 300) if SMALL else (30, 1300)
    x, y = draw("uniform", n, m, 20)
    need = draw_need("product", n, m, 0.5)
    expected = doubtful(x, y, need)
    assert expected
    monkeypatch.setattr(products, "_ROWS", 7)
    monkeypatch.setattr(products, "_TILES", 1)
    assert doubtful(x, y, need) == expected
    assert doubtful(x, y, need, workers=3) == expected


@pytest.mark.usefixtures("_always_products")
@pytest.mark.parametrize("objective", ["lsl", "lss", "lsns"])
@pytest.mark.parametrize(
    ("n", "m"), [(15, 15), (12, 40), (40, 12)] if SMALL else [(40, 40), (20, 150), (150, 20)]
)
def test_the_violation_is_that_of_all_pairs(objective, n, m, monkeypatch):
    rng = np.random.default_rng([n, m])
    x, y = rng.normal(size=(n, 15)), 1e6 + 1e3 * rng.normal(size=(m, 15))
    noise = (np.linspace(0.5, 2.0, n), np.linspace(1.0, 3.0, m)) if objective == "lsns" else None
    result = match(x, y, objective=objective, noise=noise)
    every, some = both_ways(x, y, result, monkeypatch)
    assert some == every < 1e-9 * max(1.0, abs(result.objective))
    for size in (1e-6, 1e-2, 10.0):
        row, col = rng.integers(n), rng.integers(m)
        u, v = result.row_dual.copy(), result.col_dual + size * rng.normal(size=m)
        u[row] += size
        v[col] += size
        every, some = both_ways(x, y, result._replace(row_dual=u, col_dual=v), monkeypatch)
        assert some == every > 0.1 * size


@pytest.mark.skipif(SMALL, reason="too slow without compilation")
def test_leading_coordinates_serve_if_they_tell_partners_from_others(monkeypatch):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(1100, 50))
    y = x[rng.permutation(1100)] + 0.01 * rng.normal(size=(1100, 50))
    result = match(x, y)
    made = []
    plain = products._vectors
    monkeypatch.setattr(products, "_vectors", lambda x, y, need: made.append(x.shape[1]) or plain(x, y, need))
    assert check_certificate(x, y, result) < 1e-9
    assert made[0] == 3
    assert max(made) < 50
    # One pair that violates what the leading coordinates cannot tell.
    duals = result.row_dual.copy()
    duals[600] += 0.001
    assert check_certificate(x, y, result._replace(row_dual=duals), workers=2) >= 0.0009
    assert checking._TREE_PAIRS <= 1100**2


def test_crowded_points_are_left_to_the_tree(monkeypatch):
    asked = []
    monkeypatch.setattr(products, "find_doubtful_in_tree", lambda *arguments: asked.append(arguments))
    x, y = draw("clusters", 20, 140, 20)
    find_doubtful(x, y, draw_need("product", 20, 140, 1e-30), None, 1)
    assert asked


@pytest.mark.parametrize("spread", ["flat", "falling"])
def test_of_very_many_pairs_the_quicker_way_is_taken(spread, monkeypatch):
    monkeypatch.setattr(products, "_MANY_PAIRS", 0)
    if SMALL:  # too few points for regions to pay
        monkeypatch.setattr(products, "_OF_TREE", 1e-3 if spread == "falling" else 1e9)
    asked = []
    plain = products.find_doubtful_in_tree
    monkeypatch.setattr(products, "find_doubtful_in_tree", lambda *rest: asked.append(0) or plain(*rest))
    n, d = (300, 14) if SMALL else (3000, 40)
    rng = np.random.default_rng(8)
    # Points near a curve are told apart by regions of space; others are not.
    time = rng.uniform(-1.0, 1.0, (n, 1))
    x = np.sin((1.0 + np.arange(d) / d) * time) if spread == "falling" else rng.uniform(-1.0, 1.0, (n, d))
    y = x[rng.permutation(n)] + 1e-9
    need = Need(np.full(n, 1e-9), np.zeros(n), np.ones(n), np.zeros(n))
    found = doubtful(x, y, need)
    assert bool(asked) == (spread == "falling")
    assert lacking(x, y, need) <= found
