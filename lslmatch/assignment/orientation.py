"""Solvers want the smaller set as rows: problems are turned for them here, and solutions turned back."""

from __future__ import annotations

import numpy as np

from lslmatch._types import IntArray
from lslmatch.costs import CostRule
from lslmatch.geometry.coordinates import Geometry


def smaller_as_rows(geometry: Geometry, rule: CostRule) -> tuple[Geometry, CostRule]:
    """Return two sets and their cost rule, exchanged if the first set is the larger one."""
    n, m = geometry.shape
    return (geometry, rule) if n <= m else (geometry.transposed(), rule.transposed())


def partners(n: int, rows: IntArray, cols: IntArray) -> IntArray:
    """Give each of n rows its column, and -1 to those without one."""
    permutation = np.full(n, -1, np.intp)
    permutation[rows] = cols
    return permutation


def sides_as_given(col_of_row: IntArray, transposed: bool) -> tuple[IntArray, IntArray]:
    """Return the matched rows, ascending, and their columns, of the sides as they were given.

    `col_of_row` has a column for each row of the problem that was solved, which is `transposed` or not.
    """
    if not transposed:
        return np.arange(col_of_row.size), col_of_row
    order = np.argsort(col_of_row)
    return col_of_row[order], order
