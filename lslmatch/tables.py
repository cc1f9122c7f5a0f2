"""All that can be chosen by name: each table is put together here, and here only.

A row stands beside its function. What reads the tables: :func:`lslmatch.match` and what is built on it, the
messages about wrong names, the command line with its help, and the tests that all rows are held to.
"""

from __future__ import annotations

from collections.abc import Callable

from lslmatch._types import FloatArray
from lslmatch.alignment.fit import AlignmentRow
from lslmatch.alignment.registry import ALIGNERS
from lslmatch.columns.matching import COLUMNS, DIAGONAL, SIGNED_COLUMNS, match_columns
from lslmatch.columns.selection import AUTO, ISOTROPIC
from lslmatch.covariance.learned import ESTIMATE
from lslmatch.covariance.row import CovarianceRow
from lslmatch.known.regression import LINEAR
from lslmatch.maps import MATRIX_MAPS, ColumnMap
from lslmatch.objectives.table import OBJECTIVES
from lslmatch.request import Names, Request
from lslmatch.results import MatchResult
from lslmatch.similarity.matching import RIGID, ROTATION, SIMILARITY

__all__ = ["ALIGNMENTS", "COVARIANCES", "NAMES", "OBJECTIVES", "OF_MAPS"]

#: Rows of alignments that match as well stand before "auto", which chooses among them.
ALIGNMENTS: dict[str, AlignmentRow] = {
    row.name: row
    for row in (*ALIGNERS.values(), COLUMNS, SIGNED_COLUMNS, SIMILARITY, ROTATION, RIGID, LINEAR)
}
ALIGNMENTS["auto"] = ALIGNMENTS.pop("auto")
COVARIANCES: dict[str, CovarianceRow] = {row.name: row for row in (ISOTROPIC, DIAGONAL, ESTIMATE, AUTO)}
#: What matches under a map that was given, if that is not one scale and a shift.
OF_MAPS: dict[type, Callable[[FloatArray, FloatArray, Request], MatchResult]] = {
    family: match_columns for family in (ColumnMap, *MATRIX_MAPS)
}
NAMES = Names(OBJECTIVES, ALIGNMENTS, COVARIANCES)
