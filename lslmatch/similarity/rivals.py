"""Whether another map is as likely: sets that are symmetric come back to themselves when they are turned.

Lattices, regular polygons and mirror images do. The rivals of a map are that map after a rotation of the
second set which takes its points near to other points of it.
"""

from __future__ import annotations

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.similarity.axes import MOST_AXES, all_signs, principal_axes
from lslmatch.similarity.climbing import Climbed, climb
from lslmatch.similarity.judging import rank_rotations
from lslmatch.similarity.procrustes import Rules
from lslmatch.similarity.profiles import profile_costs, profile_start
from lslmatch.similarity.starting import Part, ranking_rows, spread_rotations
from lslmatch.similarity.units import Turn

#: Rotations closer to the map than this (by the Frobenius norm) are the map itself.
_APART = 0.6
#: Pairs of points that rank rivals, how many are climbed from, and rounds of a climb.
_RANKED, _CLIMBED, _ROUNDS = 1 << 13, 5, 15
#: Rivals are not climbed from if points are farther from their nearest partner by this log-ratio.
_HOPELESS = 1.5
#: A rival is as likely if its mean log-ratio is greater by less than this.
AS_LIKELY = 0.3
#: Random signs, where all would be too many.
_SIGNS = 256


def find_rival(part: Part, found: Climbed, rules: Rules, rng: np.random.Generator) -> Climbed | None:
    """Give a map that is as likely as the one that was found, and pairs up other points; None without one."""
    turn = found.turn
    rotations = np.concatenate([_turned(part, turn, rules, rng), _by_profiles(part, turn, rules)])
    kept = np.linalg.norm(rotations - turn.rotation, axis=(1, 2)) > _APART
    if not kept.any():
        return None
    rotations = np.concatenate([turn.rotation[None], rotations[kept]])
    rows = (ranking_rows(part, _RANKED) - turn.shift) / turn.scale
    order, scores = rank_rotations(rows, part.b_core, rotations)
    for k in order[order > 0][:_CLIMBED]:
        if scores[k] > scores[0] + _HOPELESS:
            break
        # About the middle of the points, which a symmetry leaves where it is.
        middle = np.median(part.b_core, axis=0)
        shift = turn.shift + turn.scale * ((turn.rotation - rotations[k]) @ middle)
        start = Turn(rotations[k], turn.scale, shift)
        rival = climb(part.a, part.b, start, rules, _ROUNDS)
        if rival is not None and is_rival(rival, found):
            return rival
    return None


def is_rival(rival: Climbed, found: Climbed) -> bool:
    """Say whether a map pairs up other points, and is as likely as the one that was found, or more."""
    same = float(np.mean(rival.partner == found.partner))
    return same < 0.5 and rival.value - found.value < AS_LIKELY


def _turned(part: Part, turn: Turn, rules: Rules, rng: np.random.Generator) -> FloatArray:
    """Give the map after reversals of the principal axes of b, and in few dimensions after all rotations."""
    d = part.a.shape[1]
    axes = principal_axes(part.b_core)
    signs = all_signs(d)[1:] if d <= MOST_AXES else rng.choice([1.0, -1.0], size=(_SIGNS, d))
    turns = np.matmul(axes[None] * signs[:, None, :], axes.T)
    if d in (2, 3):
        turns = np.concatenate([turns, spread_rotations(d, rules.mirror, rng)])
    if not rules.mirror:
        turns = turns[np.linalg.slogdet(turns)[0] > 0.0]
    rivals: FloatArray = np.matmul(turn.rotation, turns)
    return rivals


def _by_profiles(part: Part, turn: Turn, rules: Rules) -> FloatArray:
    """Give the map after the rotation that takes points of b to others with the same profile."""
    some = part.b_core[:: -(-len(part.b_core) // 600)]
    costs = profile_costs(some, some, some)
    costs[np.diag_indices(len(costs))] = costs.max()
    return (turn.rotation @ profile_start(some, some, costs, rules).rotation)[None]
