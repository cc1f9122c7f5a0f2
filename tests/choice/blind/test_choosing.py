"""A limit with a proof, through `match`: what comes out, and that the limit is kept."""

import numpy as np
import pytest

from lslmatch import Affine, ColumnMap, FalseShare, check_certificate, match
from lslmatch.choice.blind import choosing
from lslmatch.choice.blind.choosing import choose_blindly
from lslmatch.choice.blind.counting import count_pairs
from lslmatch.choice.blind.learning import pair_and_learn as learn
from lslmatch.choice.blind.pairing import pair_blindly
from tests.choice.blind.test_pairing import pool_of

IDENTITY = {3: Affine(1.0, np.zeros(3))}


def planted(seed, pairs=50, strangers=20, d=3, noise=0.1):
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((pairs, d))
    n = pairs + strangers
    x, y = (
        np.vstack([common, rng.standard_normal((strangers, d))]) + noise * rng.standard_normal((n, d))
        for _ in range(2)
    )
    place = rng.permutation(n)
    shuffled = np.empty_like(y)
    shuffled[place] = y
    return x, shuffled, np.where(np.arange(n) < pairs, place, -1)


def false_share(found, partner):
    kept = found.permutation >= 0
    return float((found.permutation[kept] != partner[kept]).mean()) if kept.any() else 0.0


@pytest.mark.parametrize("alignment", ["standardize", IDENTITY[3]])
def test_most_partners_are_found_and_it_is_said_what_that_rests_on(alignment):
    x, y, partner = planted(1)
    found = match(x, y, alignment=alignment, pairs=FalseShare(0.1, proof=True))
    kept = found.permutation >= 0
    assert (found.permutation[kept] == partner[kept]).sum() >= 30
    assert false_share(found, partner) <= 0.15
    assert found.row_dual is None
    assert found.chosen_from is None
    with pytest.raises(ValueError, match="must carry dual variables"):
        check_certificate(x, y, found)
    confidence = found.confidence[kept]
    assert ((confidence > 0.0) & (confidence < 1.0)).all()
    assert np.isnan(found.confidence[~kept]).all()
    assert abs(confidence.sum() - (found.permutation[kept] == partner[kept]).sum()) < 8
    said = "\n".join(found.decisions)
    assert f"pairs: {kept.sum()} that join the sets" in said
    assert "At most 0.1 of the pairs are false in expectation" in said
    assert "of lower rank" in said
    assert "times as high" in said
    residuals = x[kept] - found.transform(y[found.permutation[kept]])
    assert found.objective == pytest.approx(np.log(np.square(residuals).sum(axis=1)).sum())
    assert f"{kept.sum()} pairs" in repr(found)
    assert "limit" in str(found.summary()) or "At most" in str(found.summary())


def draws(limit, look, relatives=0, count=40):
    """Give the mean share of false pairs; `look` at the sets before ranking, or plant relatives."""
    shares = []
    for seed in range(count):
        rng = np.random.default_rng([29, seed])
        common = rng.standard_normal((20, 3))
        x, y = (
            np.vstack([common, rng.standard_normal((20, 3))]) + 0.25 * rng.standard_normal((40, 3))
            for _ in range(2)
        )
        if relatives:
            y[20 : 20 + relatives] = x[20 : 20 + relatives] + 0.25 * rng.standard_normal((relatives, 3))
        pool = pool_of(x, y)
        ends = pair_blindly(pool).ends
        joins = pool.in_y[ends].sum(axis=1) == 1
        if look:
            order = np.argsort(~joins, kind="stable")
            ends, joins = ends[order], joins[order]
        kept = count_pairs(joins, limit).kept
        taken = ends[:kept][joins[:kept]]
        right = (pool.row[taken[:, 0]] == pool.row[taken[:, 1]]) & (pool.row[taken[:, 0]] < 20)
        shares.append(1.0 - right.mean() if taken.size else 0.0)
    return np.mean(shares), np.std(shares) / np.sqrt(count)


def test_the_limit_is_kept_and_broken_by_looking_or_by_relatives():
    mean, error = draws(0.2, look=False)
    assert 0.02 < mean < 0.2 + 2.0 * error
    for broken in ({"look": True}, {"look": False, "relatives": 15}):
        mean, error = draws(0.2, **broken)
        assert mean > 0.2 + 4.0 * error


def test_sets_that_do_not_mix_get_no_pairs_and_are_named():
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((40, 2)), rng.standard_normal((40, 2)) + 50.0
    found = match(x, y, alignment=Affine(1.0, np.zeros(2)), pairs=FalseShare(0.1, proof=True))
    assert (found.permutation < 0).all()
    assert found.objective == 0.0
    said = "\n".join(found.decisions)
    assert "at least 10 pairs" in said
    assert "the sets do not mix" in said


def test_correlated_noise_is_learned_blindly():
    rng = np.random.default_rng(2)
    factor = np.linalg.cholesky(0.95 + 0.05 * np.eye(6))
    common = rng.standard_normal((60, 6))
    x, y = (common + 0.5 * rng.standard_normal((60, 6)) @ factor.T for _ in range(2))
    found = {}
    for covariance in ("isotropic", "estimate", np.full((6, 6), 0.95) + 0.05 * np.eye(6)):
        result = match(x, y, covariance=covariance, pairs=FalseShare(0.1, proof=True))
        found[str(covariance)[:3]] = int((result.permutation == np.arange(60)).sum())
    assert found["est"] > 45 > 30 > found["iso"]
    assert found["[[1"] > 45
    assert match(x, y, covariance="estimate", pairs=FalseShare(0.1, True)).covariance.origin == "learned"
    assert result.covariance.origin == "given"


def test_columns_with_units_of_their_own_are_paired():
    x, y, partner = planted(4, noise=0.05)
    unit = np.array([1.0, 1e-3, 1e4])
    given = ColumnMap(unit, np.array([1.0, 0.0, 7.0]))
    x = given.apply(x)
    found = match(x, y, alignment=given, pairs=FalseShare(0.1, proof=True))
    assert (found.permutation == partner)[partner >= 0].sum() >= 40
    assert found.covariance.units is not None


@pytest.mark.parametrize("n", [2, 3])
def test_few_points_get_no_pairs(n):
    x, y = np.arange(2.0 * n).reshape(n, 2), np.arange(4.0).reshape(2, 2)
    result = match(x, y, alignment="identity")
    found = choose_blindly(x, y, result, 0.3, True, 1)
    assert (found.permutation == -1).all()
    assert found.decisions[0].startswith("pairs: none, as ")


def test_a_fill_does_no_harm():
    x, y, partner = planted(5)
    x[-1], y[partner[0]] = 1e20, -1e20
    found = match(x, y, alignment=IDENTITY[3], pairs=FalseShare(0.1, proof=True))
    assert (found.permutation == partner)[partner >= 0].sum() >= 28


@pytest.mark.parametrize("proof", [1, "yes", None])
def test_proof_is_true_or_false(proof):
    x, y, _ = planted(1)
    with pytest.raises(TypeError, match=r"pairs.proof must be True or False; got"):
        match(x, y, pairs=FalseShare(0.1, proof=proof))


def test_the_map_that_was_given_is_not_corrected(monkeypatch):
    x, y, _ = planted(8)
    result = match(x, y, alignment=IDENTITY[3])
    seen = []
    monkeypatch.setattr(
        choosing, "pair_and_learn", lambda pool, *rest: seen.append(pool) or learn(pool, *rest)
    )
    for is_given in (True, False):
        choose_blindly(x, y, result, 0.2, is_given, 1)
    assert [pool.between for pool in seen] == [1.0, 1.0 + 2.0 / 70]


def test_partners_are_of_one_group_and_known_pairs_are_kept_besides():
    x, y, partner = planted(3, noise=0.3)
    rng = np.random.default_rng(1)
    of_x = rng.integers(3, size=len(x))
    of_y = rng.integers(3, size=len(y))
    of_y[partner[partner >= 0]] = of_x[partner >= 0]
    known = np.column_stack([np.arange(4), partner[:4]])
    limit = FalseShare(0.1, proof=True)
    found = match(x, y, alignment=IDENTITY[3], pairs=limit, groups=(of_x, of_y), known=known)
    kept = np.flatnonzero(found.permutation >= 0)
    assert (of_x[kept] == of_y[found.permutation[kept]]).all()
    assert (found.permutation[:4] == partner[:4]).all()
    assert (found.confidence[:4] == 1.0).all()
    assert "pairs: 4 known ones besides, which need no proof" in found.decisions
    assert np.unique(found.permutation[kept]).size == kept.size
    assert found.row_dual is None
    plain = match(x, y, alignment=IDENTITY[3], pairs=limit)
    right = [int((result.permutation == partner)[partner >= 0].sum()) for result in (plain, found)]
    assert right[1] > right[0]  # a third of the candidates
    residuals = x[kept] - found.transform(y[found.permutation[kept]])
    assert found.objective == pytest.approx(np.log(np.square(residuals).sum(axis=1)).sum())


def test_known_pairs_beside_a_noise_that_is_learned():
    x, y, partner = planted(3)
    known = np.column_stack([np.arange(50), partner[:50]])
    pairs = FalseShare(0.1, proof=True)
    found = match(x, y, alignment=IDENTITY[3], covariance="diagonal", pairs=pairs, known=known)
    assert (found.permutation[:50] == partner[:50]).all()
    assert np.isfinite(found.objective)
    everything = np.column_stack([np.arange(70), np.arange(70)])
    found = match(x, x + 0.1, alignment=IDENTITY[3], pairs=pairs, known=everything)
    assert (found.permutation == np.arange(70)).all()


def test_forbidden_pairs_are_refused():
    x, y, _ = planted(1)
    with pytest.raises(ValueError, match="takes no forbidden pairs"):
        match(x, y, pairs=FalseShare(0.1, proof=True), forbidden=[(0, 1)])


def share_in_groups(seed, limit):
    """Give the share of false pairs of sets with four groups."""
    rng = np.random.default_rng([30, seed])
    common = rng.standard_normal((20, 3))
    group = rng.integers(4, size=20)
    sides = []
    for _ in range(2):
        points = np.vstack([common, rng.standard_normal((20, 3))]) + 0.3 * rng.standard_normal((40, 3))
        sides.append((points, np.concatenate([group, rng.integers(4, size=20)])))
    (x, of_x), (y, of_y) = sides
    found = match(x, y, alignment=IDENTITY[3], pairs=FalseShare(limit, proof=True), groups=(of_x, of_y))
    kept = np.flatnonzero(found.permutation >= 0)
    right = (found.permutation[kept] == kept) & (kept < 20)
    return 1.0 - right.mean() if kept.size else 0.0


def test_the_limit_is_kept_within_groups():
    shares = [share_in_groups(seed, 0.2) for seed in range(30)]
    assert 0.0 < np.mean(shares) < 0.2 + 2.0 * np.std(shares) / np.sqrt(30)
