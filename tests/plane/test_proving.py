"""Proofs for all angles: against a search that knows nothing of bounds, and against whoever changes them."""

import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from lslmatch import Similarity, TurnProof, check_certificate, load, match, prove_everywhere
from lslmatch.certificate.everywhere import _Planar, turn_violation
from lslmatch.plane.arcs import WHOLE
from lslmatch.plane.proving import prove_turn
from tests.support.reference import SMALL


def turn(angle, mirrored=False):
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.array([[cosine, -sine], [sine, cosine]]) @ np.diag([1.0, -1.0 if mirrored else 1.0])


def draw(seed, n, m, noise=0.02, mirrored=True):
    """Draw two sets and a map that is about right."""
    rng = np.random.default_rng([seed, n, m])
    z = rng.normal(size=(max(n, m), 2))
    given = Similarity(0.4, turn(2.0, mirrored), np.array([3.0, -1.0]))
    x = z + noise * rng.normal(size=z.shape)
    y = given.inverse().apply(z + noise * rng.normal(size=z.shape))
    return x[:n], y[:m], given


def least_sum(x, y, proof, angle, mirrored):
    """Solve the assignment of one turn anew."""
    mapped = proof.scale * (y - proof.y_centre) @ turn(angle, mirrored).T + proof.x_centre
    squares = ((x[:, None] - mapped) ** 2).sum(axis=2) + proof.floor**2
    return np.log(squares)[linear_sum_assignment(np.log(squares))].sum()


def result_with(x, y, proof, found):
    return match(x, y, alignment=found)._replace(everywhere=proof)


@pytest.mark.parametrize(("n", "m"), [(8, 8), (7, 10), (10, 7), (4, 4)])
@pytest.mark.parametrize("noise", [0.02, 2.0])
def test_no_turn_is_better_than_what_is_proven(n, m, noise):
    x, y, found = draw(1, n, m, noise)
    proof = prove_turn(x, y, found)
    assert proof.is_closed
    assert turn_violation(x, y, proof) < 1e-12
    assert proof.value - proof.bound <= 2e-6 * n
    assert least_sum(x, y, proof, proof.angle, proof.mirrored) == pytest.approx(proof.value, abs=1e-5)
    sums = {}
    for mirrored in (False, True):
        for angle in np.linspace(0.0, math.tau, 400, endpoint=False):
            sums[angle, mirrored] = least_sum(x, y, proof, angle, mirrored)
    assert min(sums.values()) >= proof.bound
    others = [
        value
        for (angle, mirrored), value in sums.items()
        if mirrored != proof.mirrored or abs(math.remainder(angle - proof.angle, math.tau)) >= proof.apart
    ]
    assert min(others) >= proof.other_bound
    if not math.isnan(proof.other_value):
        value = least_sum(x, y, proof, proof.other_angle, proof.other_mirrored)
        assert value <= proof.other_value + 1e-9
        assert proof.other_bound >= min(proof.other_value - 0.02 * n, proof.value + 0.29 * n)


def test_a_search_that_begins_wrong_ends_at_the_best_turn():
    n = 6 if SMALL else 20
    x, y, found = draw(2, n, n)
    right = prove_turn(x, y, found)
    for wrong in (turn(2.5, True), turn(0.3), turn(5.0, True)):
        centre = np.median(y, axis=0)
        begin = Similarity(found.scale, wrong, found.apply(centre[None])[0] - found.scale * (wrong @ centre))
        proof = prove_turn(x, y, begin, floor=right.floor)
        assert proof.value == pytest.approx(right.value, abs=1e-4)
        assert proof.mirrored
        np.testing.assert_allclose(proof.map.rotation, right.map.rotation, atol=1e-4)
        assert turn_violation(x, y, proof) < 1e-12


def test_sets_that_are_symmetric_have_another_turn_that_is_as_good():
    x, _, _ = draw(3, 10, 10)
    x = np.vstack([x, -x])
    proof = prove_turn(x, x, Similarity(1.0, np.eye(2), np.zeros(2)))
    assert proof.other_value == pytest.approx(proof.value, abs=1e-4)
    np.testing.assert_allclose(proof.other_map.rotation, -proof.map.rotation, atol=1e-6)
    assert proof.margin <= 0.0


def test_without_mirror_images_none_are_looked_at():
    x, y, found = draw(4, 12, 12, mirrored=True)
    proof = prove_turn(x, y, found._replace(rotation=turn(1.0)), mirrors=False)
    assert not proof.mirrored
    assert not proof.of_mirror.any()
    assert turn_violation(x, y, proof) < 1e-12
    assert turn_violation(x, y, proof._replace(mirrors=True)) == math.inf


def test_few_arcs_prove_less_and_say_so():
    x, y, found = draw(5, 12, 12)
    proof = prove_turn(x, y, found, most_arcs=3)
    assert not proof.is_closed
    assert proof.bound < proof.value - 1.0
    assert turn_violation(x, y, proof) < 1e-12


def test_a_result_carries_its_proof(tmp_path):
    x, y, found = draw(6, 15, 15)
    result = prove_everywhere(x, y, match(x, y, alignment=found))
    assert isinstance(result.everywhere, TurnProof)
    assert "none below" in repr(result.everywhere)
    assert check_certificate(x, y, result) < 1e-9
    assert check_certificate(x, y, result, everywhere=True, workers=2) < 1e-9
    result.save(tmp_path / "match.npz")
    assert load(tmp_path / "match.npz") == result
    other = prove_everywhere(x, y, result, floor=0.5, tolerance=1e-3)
    assert other.everywhere.floor == 0.5
    bare = match(x, y, alignment=found)
    assert bare.everywhere is None
    with pytest.raises(ValueError, match="must carry a proof for all angles"):
        check_certificate(x, y, bare, everywhere=True)
    spoiled = result._replace(everywhere=result.everywhere._replace(bound=result.everywhere.value))
    assert check_certificate(x, y, spoiled) > 1e-7
    assert check_certificate(x, y, spoiled, everywhere=False) < 1e-9


def test_a_proof_of_another_map_is_none():
    x, y, found = draw(7, 8, 8)
    proof = prove_turn(x, y, found)
    moved = found._replace(shift=found.shift + 0.1)
    larger = found._replace(scale=found.scale * 1.01)
    for other in (moved, larger):
        assert check_certificate(x, y, result_with(x, y, proof, other)) == math.inf
    plain = match(x, y)._replace(everywhere=proof)
    assert check_certificate(x, y, plain) == math.inf
    assert check_certificate(x, y, result_with(x, y, proof, found)) < 1e-9


def test_what_cannot_be_proven_is_refused():
    x, y, found = draw(8, 6, 6)
    result = match(x, y, alignment=found)
    with pytest.raises(ValueError, match="must have a map that turns"):
        prove_everywhere(x, y, match(x, y))
    solid = np.column_stack([x, x[:, 0]])
    same = match(solid, solid, alignment=Similarity(1.0, np.eye(3), np.zeros(3)))
    with pytest.raises(ValueError, match="must be in the plane"):
        prove_everywhere(solid, solid, same)
    with pytest.raises(ValueError, match="floor must be"):
        prove_everywhere(x, y, result, floor=0.0)
    far, farther = x.copy(), np.vstack([y[1:], [[1e200, 0.0]]])
    far[0] = 1e12
    with pytest.raises(ValueError, match="beside those that are far out"):
        prove_turn(far, far.copy(), Similarity(1.0, np.eye(2), np.zeros(2)))
    with pytest.raises(ValueError, match="their squares exceed the range"):
        prove_turn(x, farther, found)


def mutations(proof):
    """Give proofs that claim a little more than they prove, or lack something."""
    k = int(np.argmin(proof.width))
    wider, shifted, fewer = proof.width.copy(), proof.start.copy(), np.arange(len(proof.width)) != k
    wider[k] += 1
    shifted[k] += 1
    exchanged = proof.permutation.copy()
    exchanged[[0, 1]] = exchanged[[1, 0]]
    twice = proof.permutation.copy()
    twice[0] = twice[1]
    kept = {"start": proof.start[fewer], "width": proof.width[fewer], "of_mirror": proof.of_mirror[fewer]}
    noise = np.random.default_rng(0).normal(size=proof.duals.shape)
    whole = np.array([0], np.intp), np.array([WHOLE], np.intp)
    return {
        "value": proof._replace(value=proof.value - 1e-3),
        "bound": proof._replace(bound=proof.bound + 1e-3),
        "bound above value": proof._replace(bound=proof.value + 1e-3, value=proof.value),
        "other bound": proof._replace(other_bound=proof.other_bound + 5.0),
        "apart": proof._replace(apart=proof.apart / 50.0),
        "apart, negative": proof._replace(apart=-1.0),
        "angle": proof._replace(angle=proof.angle + 0.01),
        "mirrored": proof._replace(mirrored=not proof.mirrored),
        "floor": proof._replace(floor=proof.floor / 3.0),
        "no floor": proof._replace(floor=0.0),
        "scale": proof._replace(scale=proof.scale * 1.01),
        "centre of x": proof._replace(x_centre=proof.x_centre + 0.01),
        "centre of y": proof._replace(y_centre=proof.y_centre + 0.01),
        "matching": proof._replace(permutation=exchanged),
        "no matching": proof._replace(permutation=twice),
        "no partner": proof._replace(permutation=proof.permutation + 100),
        "an arc lacks": proof._replace(**kept, duals=proof.duals[fewer]),
        "an arc overlaps": proof._replace(width=wider),
        "an arc is moved": proof._replace(start=shifted),
        "arcs of the mirror image": proof._replace(of_mirror=~proof.of_mirror),
        "one mirrored arc": proof._replace(of_mirror=np.where(fewer, proof.of_mirror, ~proof.of_mirror)),
        "an arc too wide": proof._replace(
            start=np.repeat(whole[0], 2),
            width=np.repeat(whole[1], 2),
            of_mirror=np.array([False, True]),
            duals=proof.duals[:2],
        ),
        "no arcs": proof._replace(
            start=proof.start[:0], width=proof.width[:0], of_mirror=proof.of_mirror[:0], duals=proof.duals[:0]
        ),
        "arrays of several dimensions": proof._replace(start=proof.start[None]),
        "duals": proof._replace(duals=proof.duals + 0.05 * noise),
        "duals of other ends": proof._replace(duals=proof.duals[:, ::-1]),
        "duals of other arcs": proof._replace(duals=np.roll(proof.duals, 1, axis=0)),
        "duals of too few": proof._replace(duals=proof.duals[:, :, 1:]),
        "a dual that is NaN": proof._replace(duals=np.where(noise == noise.max(), np.nan, proof.duals)),
    }


@pytest.mark.parametrize("sizes", [(14, 14), (11, 14), (14, 11)])
def test_every_part_of_a_proof_is_looked_at(sizes):
    x, y, found = draw(9, *sizes, 0.3)
    proof = prove_turn(x, y, found)
    assert turn_violation(x, y, proof) < 1e-12
    for name, spoiled in mutations(proof).items():
        assert turn_violation(x, y, spoiled) > 1e-6, name
    assert turn_violation(np.column_stack([x, x[:, 0]]), y, proof) == math.inf
    # Other sets: one point has moved.
    moved = x.copy()
    moved[0] += 0.5
    assert turn_violation(moved, y, proof) > 1e-6


@pytest.mark.parametrize("sizes", [(6, 6), (5, 8), (8, 5)])
def test_bounds_of_the_check_hold_whatever_the_duals(sizes):
    x, y, found = draw(10, *sizes, 0.1)
    proof = prove_turn(x, y, found, floor=0.05)
    rng = np.random.default_rng(0)
    closest = np.inf
    for k in range(0, proof.start.size, 3):
        for spread in (0.0, 0.3):
            duals = proof.duals + spread * rng.normal(size=proof.duals.shape)
            planar = _Planar(x, y, proof._replace(duals=duals))
            bound = planar.bound(k)
            ends = math.tau * np.array([proof.start[k], proof.start[k] + proof.width[k]]) / WHOLE
            sums = [
                least_sum(x, y, proof, angle, bool(proof.of_mirror[k])) for angle in np.linspace(*ends, 7)
            ]
            assert bound <= min(sums)
            if spread == 0.0:
                closest = min(closest, min(sums) - bound)
    # And the closest is close.
    assert closest < 1e-4
