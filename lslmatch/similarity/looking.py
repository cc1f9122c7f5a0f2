"""In the plane, where that takes under a second: a look at all angles proves the turn, or finds a better."""

from __future__ import annotations

import math

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.alignment.fit import fit_at
from lslmatch.maps import Affine, Similarity
from lslmatch.plane.proving import prove_turn
from lslmatch.similarity.finding import Turned, find_similarity
from lslmatch.similarity.rivals import AS_LIKELY
from lslmatch.summary import number, turn_words
from lslmatch.turn_proof import TurnProof

#: Pairs of points that may be looked at, in all arcs; arcs at most, and the fewest worth a beginning.
_PAIRS, _MOST_ARCS, _LEAST_ARCS = 40_000_000, 2000, 150


def look_everywhere(
    x: FloatArray, y: FloatArray, found: Turned, mirror: bool, scale: float | None, workers: int
) -> tuple[Turned, TurnProof | None, tuple[str, ...]]:
    """Prove that no other turn is as good as the one that was found, or go on from the one that is better.

    Gives the turn, the proof if there is one, and what is to be said of it.
    """
    if x.shape[1] != 2 or min(len(x), len(y)) < 3:
        return found, None, ()
    most = min(_MOST_ARCS, _PAIRS // max(len(x), len(y)) ** 2)
    if most < _LEAST_ARCS:
        return found, None, ("all angles: not looked at, with so many points; prove_everywhere does",)
    proof = _prove(x, y, found, most, mirror)
    if proof is not None and _is_other(proof.map, found.map, proof):
        found = find_similarity(x, y, mirror, scale, workers, first=proof.map)
        proof = _prove(x, y, found, most, mirror)
    if proof is None:
        return found, None, (f"all angles: not settled by {most:,} arcs; prove_everywhere goes on",)
    if _is_other(proof.map, found.map, proof):
        word = f"all angles: {turn_words(proof.map.rotation)} have a smaller sum of logarithms at this scale"
        return found, proof, (word,)
    if not found.doubt:
        found = _doubted(x, y, found, proof, workers)
    return found, proof, (_words(proof, min(len(x), len(y))),)


def _prove(x: FloatArray, y: FloatArray, found: Turned, most: int, mirror: bool) -> TurnProof | None:
    try:
        proof = prove_turn(x, y, found.map, most_arcs=most, mirrors=mirror)
    except ValueError:  # far out of range: the matching itself says so
        return None
    return proof if proof.is_closed else None


def _is_other(one: Similarity, other: Similarity, proof: TurnProof) -> bool:
    """Say whether two turns are apart."""
    if one.is_mirrored != other.is_mirrored:
        return True
    cosine = float(np.sum(one.rotation * other.rotation)) / 2.0
    return math.acos(min(1.0, max(-1.0, cosine))) >= proof.apart


def _doubted(x: FloatArray, y: FloatArray, found: Turned, proof: TurnProof, workers: int) -> Turned:
    """Doubt a map if another turn has nearly as small a sum and pairs up other points."""
    n = min(len(x), len(y))
    if not proof.other_value - proof.value < AS_LIKELY * n:  # so it is where none was seen
        return found
    nothing = Affine(1.0, np.zeros(2))
    pairs = []
    for one in (proof.map, proof.other_map):
        partner = np.full(len(x), -1)
        assignment = fit_at(x, one.apply(y), nothing, workers).assignment
        partner[assignment.row_ind] = assignment.col_ind
        pairs.append(partner)
    if np.sum((pairs[0] == pairs[1]) & (pairs[0] >= 0)) >= 0.5 * n:
        return found
    words = turn_words(proof.other_map.rotation)
    doubt = f"the map is ambiguous: {turn_words(found.map.rotation)} and {words} are as likely"
    return found._replace(
        decision=f"alignment: {turn_words(found.map.rotation)}, but {doubt}", doubt=doubt, confirmed=False
    )


def _words(proof: TurnProof, n: int) -> str:
    apart = f"{math.degrees(proof.apart):.1f} degrees or more{' or mirrored' * proof.mirrors}"
    return (
        "all angles: none has a smaller sum of logarithms, proven at this scale and centre with the floor "
        f"{number(proof.floor)}; turned otherwise by {apart} it is greater by at least "
        f"{number(proof.margin / n)} for each pair"
    )
