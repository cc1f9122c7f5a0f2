"""A look at all angles proves the turn, goes on from a better one, doubts an ambiguous one, or says why."""

import numpy as np
import pytest

from lslmatch import AlignmentWarning, Similarity, check_certificate, match
from lslmatch.similarity import looking
from lslmatch.similarity.finding import Turned, find_similarity
from lslmatch.similarity.looking import look_everywhere
from tests.similarity.test_turned import draw
from tests.support.reference import SMALL

N = 8 if SMALL else 40


def sets(seed, noise=0.002, m=N, **options):
    x, y, partner, given = draw(seed, N, 2, noise, m, **options)
    return x, y, partner, given


def wrongly(found, y, angle):
    """Turn a map by some more, about the middle of what it maps."""
    cosine, sine = np.cos(angle), np.sin(angle)
    more = np.array([[cosine, -sine], [sine, cosine]])
    middle = found.apply(np.median(y, axis=0)[None])[0]
    return Similarity(found.scale, more @ found.rotation, middle + more @ (found.shift - middle))


@pytest.mark.parametrize("m", [N, N + 3])
def test_a_match_in_the_plane_has_a_proof(m):
    x, y, partner, given = sets(1, m=m)
    result = match(x, y, alignment="similarity")
    np.testing.assert_array_equal(result.permutation, partner)
    assert result.everywhere.is_closed
    assert result.everywhere.margin > 0.2 * N
    np.testing.assert_allclose(result.everywhere.map.rotation, given.rotation, atol=0.02)
    assert "all angles: none has a smaller sum" in result.decisions[1]
    assert check_certificate(x, y, result, everywhere=True) < 1e-9


def test_a_better_turn_is_gone_on_from():
    x, y, partner, given = sets(2)
    wrong = Turned(wrongly(given, y, 1.0), "alignment: wrong", "wrong", False)
    found, proof, words = look_everywhere(x, y, wrong, True, None, 1)
    np.testing.assert_allclose(found.map.rotation, given.rotation, atol=0.02)
    assert "all angles" in found.decision or found.confirmed
    assert proof is not None
    assert "none has" in words[0]


def test_a_turn_that_the_search_does_not_take_up_is_named(monkeypatch):
    x, y, _, given = sets(3)
    wrong = Turned(wrongly(given, y, 1.0), "alignment: wrong", "wrong", False)
    monkeypatch.setattr(looking, "find_similarity", lambda *arguments, **options: wrong)
    found, proof, words = look_everywhere(x, y, wrong, True, None, 1)
    assert found is wrong
    assert "have a smaller sum of logarithms" in words[0]
    assert proof.is_closed


def test_another_turn_that_is_as_good_is_a_doubt():
    half = np.random.default_rng(4).normal(size=(N // 2, 2))
    x = np.vstack([half, -half])
    sure = Turned(Similarity(1.0, np.eye(2), np.zeros(2)), "alignment: sure", "", True)
    found, _, _ = look_everywhere(x, x[::-1].copy(), sure, True, None, 1)
    assert "ambiguous" in found.doubt
    assert not found.confirmed
    # Points on a line are paired the same by both turns.
    line = np.column_stack([np.arange(N) ** 1.3, np.zeros(N)])
    found, proof, _ = look_everywhere(line, line[::-1].copy(), sure, True, None, 1)
    assert proof.margin <= 0.0
    assert found.doubt == ""


def test_where_no_proof_is_made_the_decisions_say_so(monkeypatch):
    x, y, _, given = sets(5)
    found = Turned(given, "alignment: given", "", True)
    assert look_everywhere(x[:2], y[:2], found, True, None, 1)[1:] == (None, ())
    solid = np.column_stack([x, x[:, 0]])
    assert look_everywhere(solid, solid, found, True, None, 1)[1:] == (None, ())
    far = x.copy()
    far[0] = 1e200
    assert look_everywhere(far, y, found, True, None, 1)[1] is None
    monkeypatch.setattr(looking, "_MOST_ARCS", 3)
    monkeypatch.setattr(looking, "_LEAST_ARCS", 2)
    _, proof, words = look_everywhere(x, y, found, True, None, 1)
    assert proof is None
    assert words == ("all angles: not settled by 3 arcs; prove_everywhere goes on",)
    monkeypatch.setattr(looking, "_PAIRS", 0)
    _, proof, words = look_everywhere(x, y, found, True, None, 1)
    assert proof is None
    assert "not looked at" in words[0]


def test_a_search_may_begin_with_a_map():
    for n, m in ((N, N + 2), (N + 2, N)):
        x, y, _, given = draw(6, min(n, m), 2, 0.002, max(n, m))
        if n > m:
            x, y, given = y, x, given.inverse()
        found = find_similarity(x, y, first=given)
        np.testing.assert_allclose(found.map.rotation, given.rotation, atol=0.05)


def test_a_rotation_is_proven_among_rotations():
    x, y, _, _ = sets(7, mirror=False)
    result = match(x, y, alignment="rotation")
    assert not result.everywhere.mirrors
    assert check_certificate(x, y, result, everywhere=True) < 1e-9
    with pytest.warns(AlignmentWarning):
        mirrored = match(x, y * [1.0, -1.0], alignment="rotation")
    assert not mirrored.everywhere.mirrored
