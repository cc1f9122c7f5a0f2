"""Where a search begins: maps in the order in which they pay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lslmatch._types import FloatArray, IntArray
from lslmatch.similarity.axes import (
    MOST_AXES,
    all_signs,
    best_signs,
    principal_axes,
    signed_rotations,
)
from lslmatch.similarity.judging import rank_rotations
from lslmatch.similarity.procrustes import Rules
from lslmatch.similarity.profiles import profile_costs, profile_start, soft_start
from lslmatch.similarity.relaxing import relaxed_plans
from lslmatch.similarity.units import Turn

#: Pairs of points up to which rotations are ranked, by so many rows as that gives, and the fewest rows.
_RANKED, _LEAST_ROWS = 1 << 17, 32
#: Ranked rotations that are climbed from: few dimensions, more.
_FEW, _MORE = 4, 10
#: Rotations that are drawn in the plane (angles, and as many mirrored) and in space.
_ANGLES, _IN_SPACE = 360, 6000
#: Pairs of points that rank these.
_SPREAD = 1 << 14
#: Sizes up to which a relaxation runs, and how often.
_RELAXED, _OFTEN = 1000, 400
#: Random signs in more dimensions, each improved one by one.
_SIGN_STARTS = 48


class Part(NamedTuple):
    """What a search looks at: some points of the smaller set, and all of the larger one."""

    a: FloatArray  # (k, d)
    b: FloatArray  # (m, d)
    a_core: FloatArray  # (n, d): of all points, those far out drawn in
    b_core: FloatArray
    rows: IntArray  # (k,): which points `a` are


def starts(part: Part, rules: Rules, rng: np.random.Generator) -> Iterator[tuple[str, Turn]]:
    """Give maps to climb from, with a word for where they come from."""
    d = part.a.shape[1]
    yield "as they are", Turn(np.eye(d), _scale(rules), np.zeros(d))
    yield from _ranked(part, rules, _by_axes(part, rules, rng), "principal axes")
    if d in (2, 3):
        yield from _ranked(
            part, rules, spread_rotations(d, rules.mirror, rng), "rotations of all kinds", _SPREAD
        )
    costs = profile_costs(part.a_core[part.rows], part.b_core, part.a_core)
    yield "profiles", profile_start(part.a, part.b, costs, rules)
    if max(len(part.a), len(part.b)) <= _RELAXED:
        runs = 6 if len(part.a) <= _OFTEN else 3
        for plan in relaxed_plans(part.a_core[part.rows], part.b_core, costs, runs):
            yield "Gromov-Wasserstein", soft_start(part.a, part.b, plan, rules)


def chance_starts(d: int, rules: Rules, rng: np.random.Generator, count: int) -> list[Turn]:
    """Draw maps that have nothing to do with the sets."""
    return [Turn(random_rotation(d, rules.mirror, rng), _scale(rules), np.zeros(d)) for _ in range(count)]


def random_rotation(d: int, mirror: bool, rng: np.random.Generator) -> FloatArray:
    """Draw an orthogonal matrix uniformly, or one that does not mirror."""
    rotation, upper = np.linalg.qr(rng.normal(size=(d, d)))
    rotation = rotation * np.sign(np.diag(upper))
    if not mirror and np.linalg.slogdet(rotation)[0] < 0.0:
        rotation[:, 0] *= -1.0
    found: FloatArray = rotation
    return found


def spread_rotations(d: int, mirror: bool, rng: np.random.Generator) -> FloatArray:
    """Give rotations that leave none far away: all angles in the plane, and many of space."""
    if d == 2:
        angles = 2.0 * np.pi * np.arange(_ANGLES) / _ANGLES
        turns = np.array([[[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]] for t in angles])
        return np.concatenate([turns, turns * [1.0, -1.0]]) if mirror else turns
    rotations, upper = np.linalg.qr(rng.normal(size=(_IN_SPACE, d, d)))
    rotations *= np.sign(np.einsum("kii->ki", upper))[:, None, :]
    if not mirror:
        rotations[:, :, 0] *= np.linalg.slogdet(rotations)[0][:, None]
    found: FloatArray = rotations
    return found


def ranking_rows(part: Part, entries: int = _RANKED) -> FloatArray:
    """Give the points that rotations are ranked by: so many that there are about so many pairs of points."""
    count = max(_LEAST_ROWS, entries // len(part.b))
    return part.a_core[part.rows][:count]


def _scale(rules: Rules) -> float:
    return 1.0 if rules.scale is None else rules.scale


def _by_axes(part: Part, rules: Rules, rng: np.random.Generator) -> FloatArray:
    a_axes, b_axes = principal_axes(part.a_core), principal_axes(part.b_core)
    d = len(a_axes)
    if d <= MOST_AXES:
        signs = all_signs(d)
    else:
        signs = best_signs(ranking_rows(part) @ a_axes, part.b_core @ b_axes, rng, _SIGN_STARTS)
    rotations = signed_rotations(a_axes, b_axes, signs)
    return rotations if rules.mirror else rotations[np.linalg.slogdet(rotations)[0] > 0.0]


def _ranked(
    part: Part, rules: Rules, rotations: FloatArray, word: str, entries: int = _RANKED
) -> Iterator[tuple[str, Turn]]:
    d = part.a.shape[1]
    order = rank_rotations(ranking_rows(part, entries), _scale(rules) * part.b_core, rotations)[0]
    for k in order[: _FEW if d <= 5 else _MORE]:
        yield word, Turn(rotations[k], _scale(rules), np.zeros(d))
