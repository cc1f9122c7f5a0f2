"""Matching of turned sets: the similarity is found first; all else is as under a map that is given."""

from __future__ import annotations

import functools
import warnings

from lslmatch._types import FloatArray
from lslmatch.alignment.doubt import AlignmentWarning
from lslmatch.alignment.fit import AlignmentRow
from lslmatch.columns.matching import match_columns
from lslmatch.request import Request
from lslmatch.results import MatchResult
from lslmatch.similarity.finding import find_similarity
from lslmatch.similarity.looking import look_everywhere


def match_turned(
    x: FloatArray, y: FloatArray, request: Request, mirror: bool = True, scale: float | None = None
) -> MatchResult:
    """Match two checked sets of which one is turned, and mirrored if that may be; a given scale is held."""
    found = find_similarity(x, y, mirror, scale, request.workers)
    found, proof, word = look_everywhere(x, y, found, mirror, scale, request.workers)
    if found.doubt:
        warnings.warn(f"{found.doubt}. See result.decisions", AlignmentWarning, stacklevel=4)
    result = match_columns(x, y, request._replace(alignment=found.map))
    decisions = (found.decision, *word, *result.decisions)
    return result._replace(decisions=decisions, everywhere=proof)


SIMILARITY = AlignmentRow(
    "similarity", "turned or mirrored, with one scale and a shift", match=functools.partial(match_turned)
)
ROTATION = AlignmentRow(
    "rotation",
    "turned, not mirrored, with one scale and a shift",
    match=functools.partial(match_turned, mirror=False),
)
RIGID = AlignmentRow(
    "rigid",
    "turned, not mirrored, and shifted: the scale is 1",
    match=functools.partial(match_turned, mirror=False, scale=1.0),
)
