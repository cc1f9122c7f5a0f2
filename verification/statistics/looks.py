"""Tests that rest on a normal approximation, looked at several times: each look spends its part of the level.

Look k = 0, 1, 2, ... spends 1 / ((k + 1) (k + 2)) of the level of a claim. These parts add up to 1, however
many looks there are, so trials may be added as long as one likes.
"""

from __future__ import annotations

from collections.abc import Sequence

from verification.statistics.binomial import CLAIM_LEVEL
from verification.statistics.decisions import CellCount


def level_of_look(counts: Sequence[CellCount]) -> float:
    """Give the error level of the present look."""
    look = max((item.look for item in counts), default=0)
    return CLAIM_LEVEL / ((look + 1) * (look + 2))


def open_cells(counts: Sequence[CellCount], verdict: str) -> tuple[str, ...]:
    """Give the cells to be continued: all of them while the verdict is open."""
    return tuple(item.cell.name for item in counts) if verdict == "inconclusive" else ()
