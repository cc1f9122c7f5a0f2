"""Blind pairs: which are made, and that nothing of the sets is seen."""

import numpy as np
import pytest

from lslmatch.choice.blind import pairing
from lslmatch.choice.blind.learning import pair_and_learn
from lslmatch.choice.blind.pairing import pair_blindly
from lslmatch.choice.blind.pool import Pool, pool_sets
from lslmatch.geometry.coordinates import common_coordinates
from lslmatch.objectives.table import make_rule
from lslmatch.results import Affine


def pool_of(x, y, parameters=0):
    geometry = common_coordinates(x, y, Affine(1.0, np.zeros(x.shape[1])))
    return pool_sets(geometry, make_rule("lsl", geometry, 1.0), parameters)


def planted(seed, n=30, strangers=10, d=4, noise=0.1):
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((n - strangers, d))
    x, y = (
        np.vstack([common, rng.standard_normal((strangers, d))]) + noise * rng.standard_normal((n, d))
        for _ in range(2)
    )
    return x, y


def naive(pool):
    """Pair by the matrix of all log-odds."""
    costs = np.log(np.square(pool.points[:, None] - pool.points).sum(axis=2) + np.eye(pool.size))
    if pool.between != 1.0:
        costs[pool.in_y[:, None] != pool.in_y] += np.log(pool.between)
    mean = costs.sum(axis=1) / (pool.size - 1)
    value = -pool.points.shape[1] / 2.0 * (costs - mean - mean[:, None])
    weight = np.exp(value)
    np.fill_diagonal(weight, 0.0)
    share = weight / weight.sum(axis=1, keepdims=True)
    odds = np.log(share + np.eye(pool.size)) - np.log1p(-share)
    odds = (odds + odds.T) / 2.0
    np.fill_diagonal(odds, -np.inf)
    ends = []
    while odds.max() > -np.inf:
        i, j = np.unravel_index(odds.argmax(), odds.shape)
        ends.append(tuple(sorted((int(i), int(j)))))
        odds[[i, j]] = odds[:, [i, j]] = -np.inf
    return ends


@pytest.mark.parametrize("parameters", [0, 5])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_those_with_the_greatest_odds(seed, parameters, monkeypatch):
    monkeypatch.setattr(pairing, "_KEPT", 100)  # all
    pool = pool_of(*planted(seed), parameters)
    assert [tuple(sorted(pair)) for pair in pair_blindly(pool).ends.tolist()] == naive(pool)


def test_few_candidates_are_enough_for_the_surest_pairs():
    pool = pool_of(*planted(1, n=60))
    found, every = pair_blindly(pool), naive(pool)
    assert [tuple(sorted(pair)) for pair in found.ends[:40].tolist()] == every[:40]
    assert np.unique(found.ends).size == found.ends.size


def as_points(pool, edges):
    pairs = np.stack([pool.points[edges.ends[:, 0]], pool.points[edges.ends[:, 1]]])
    return {frozenset(map(bytes, pairs[:, k].round(9) + 0.0)) for k in range(pairs.shape[1])}


@pytest.mark.parametrize("kind", ["isotropic", "full"])
def test_who_is_in_which_set_changes_nothing(kind):
    x, y = planted(3, n=40, d=3)
    swapped = np.random.default_rng(4).random(40) < 0.5
    other = np.where(swapped[:, None], y, x), np.where(swapped[:, None], x, y)
    # The origin is the mean of the first set; it is taken off here.
    pools = [pool_of(*sets) for sets in ((x, y), other)]
    found = []
    for pool in pools:
        centred = pool._replace(points=pool.points - pool.points.mean(axis=0))
        edges, _, _, rounds = pair_and_learn(centred, kind, 1)
        assert rounds == 0 if kind == "isotropic" else rounds > 0
        found.append(as_points(centred, edges))
    assert found[0] == found[1]


def test_the_control_sees_a_correction_that_favours_pairs_of_one_set():
    pool = pool_of(*planted(5, noise=0.5))
    far = pool._replace(between=4.0)
    joins = [p.in_y[pair_blindly(p).ends].sum(axis=1) == 1 for p in (pool, far)]
    assert joins[1].sum() < joins[0].sum()


def test_an_estimated_map_is_corrected_by_its_parameters():
    x, y = planted(1)
    assert pool_of(x, y).between == 1.0
    assert pool_of(x, y, 5).between == 1.0 + 2.0 / 30
    assert pool_of(x, y[:20], 8).between == 1.0 + 2.0 * 8 / (5 * 20)


def test_the_order_of_the_pool_says_nothing_and_rows_are_those_of_the_sets():
    x, y = planted(1)
    pool = pool_of(x, y[:20])
    assert isinstance(pool, Pool)
    assert pool.size == 50
    assert np.bincount(pool.in_y).tolist() == [30, 20]
    assert sorted(pool.row[pool.in_y]) == list(range(20))
    order = np.concatenate([np.flatnonzero(~pool.in_y)[:5], np.flatnonzero(pool.in_y)[:5]])
    truth = np.vstack([x, y])[pool.row + 30 * pool.in_y]
    assert np.allclose(
        np.diff(pool.points[order], axis=0) * 2.0 ** np.round(np.log2(np.ptp(truth) / np.ptp(pool.points))),
        np.diff(truth[order], axis=0),
    )
    assert pool.in_y[:25].any()
    assert not pool.in_y[:25].all()


def test_blocks_and_workers_change_nothing(monkeypatch):
    pool = pool_of(*planted(7, n=40))
    whole = pair_blindly(pool)
    monkeypatch.setattr(pairing, "_BLOCK_ENTRIES", 200)
    cut = pair_blindly(pool, workers=3)
    assert np.array_equal(whole.ends, cut.ends)
    assert np.allclose(whole.odds, cut.odds)


@pytest.mark.parametrize("d", [1, 2])
def test_points_that_coincide_are_ordinary(d):
    x = np.repeat(np.arange(6.0), 2)[:, None] * np.ones(d)
    pool = pool_of(x, x + 0.0)
    edges = pair_blindly(pool)
    assert np.isfinite(edges.odds).all()
    assert len(edges.ends) == 12
    assert np.ptp(pool.points[edges.ends], axis=1).max() == 0.0


def test_noise_that_is_correlated_is_learned():
    rng = np.random.default_rng(2)
    d, n = 6, 80
    factor = np.linalg.cholesky(0.95 + 0.05 * np.eye(d))
    common = rng.standard_normal((n, d))
    x, y = (common + 0.5 * rng.standard_normal((n, d)) @ factor.T for _ in range(2))
    pool = pool_of(x, y)
    right = {}
    for kind in ("isotropic", "diagonal", "full"):
        edges, white, noise, _ = pair_and_learn(pool, kind, 1)
        right[kind] = int((white.row[edges.ends[:, 0]] == white.row[edges.ends[:, 1]]).sum())
        assert (noise is None) == (kind == "isotropic")
    assert right["full"] >= 70 > 60 > right["isotropic"]
    matrix = noise.root.T @ noise.root
    assert np.linalg.det(matrix) == pytest.approx(1.0)
    correlation = matrix / np.sqrt(np.multiply.outer(np.diag(matrix), np.diag(matrix)))
    assert correlation[np.triu_indices(d, 1)].min() > 0.5


def test_columns_of_other_noise_are_learned():
    rng = np.random.default_rng(3)
    level = np.array([0.05, 0.05, 0.05, 3.0])
    common = rng.standard_normal((40, 4))
    x, y = (common + level * rng.standard_normal((40, 4)) for _ in range(2))
    _, _, noise, _ = pair_and_learn(pool_of(x, y), "diagonal", 1)
    assert noise.units[3] / noise.units[:3].max() > 20


def test_without_noise_nothing_is_learned():
    x = np.random.default_rng(1).standard_normal((12, 3))
    found = pair_and_learn(pool_of(x, x.copy()), "full", 1)
    assert found.noise is None
    assert found.rounds == 0
