"""The settings of the streamed solver: what it tries, and when it goes over to something else.

They decide how much is computed and how long it takes, never what is optimal: with any settings the
solution is optimal and proven (among several optima, another one may be found).
"""

from __future__ import annotations

from typing import NamedTuple

from lslmatch.geometry.tiles import TILE_COLS


class SolverSettings(NamedTuple):
    """What :func:`lslmatch.assignment.streamed.solve_streamed` goes by; n rows, m columns, d coordinates."""

    # When the matrix of costs is computed and solved as a whole.
    short_pairs: int = 1200**2
    """Number of pairs up to which the short way of :mod:`lslmatch.small_sets` is the quicker one, ..."""
    short_coordinates: int = 40 * 1000**2
    """... if they have at most so many coordinates, n * m * d."""
    least_easy_pairs: int = 500**2
    """Number of pairs from which on a set is taken for an easy one (:mod:`lslmatch.assignment.easy`), ..."""
    easy_pairs: int = 10_000**2
    """... up to so many pairs, ..."""
    easy_coordinates: int = 110_000
    """... if the larger set has at most so many coordinates: they stay in a near cache."""
    wide_pairs: int = 200**2
    """Number of pairs from which on the way of :mod:`lslmatch.assignment.wide_sets` is tried first, ..."""
    most_wide_pairs: int = 2000**2
    """... up to so many, ..."""
    wide_dimensions: int = 16
    """... from so many dimensions on, ..."""
    wide_coordinates: int = 10 * 1000**2
    """... if there are at least so many coordinates."""
    small_pairs: int = 400**2
    """Number of pairs n * m up to which the dense solver is quicker in any case (and compiles less)."""
    dense_pairs: int = 800**2
    """Number of pairs up to which the dense solver is quicker if there are many conflicts; 0: never dense."""
    dense_conflicts: float = 0.3
    """There are, for that, if more than this share of the rows must share their nearest column."""
    many_conflicts: float = 0.15
    """There are many, for other purposes, if more than this share must."""
    apart: float = 1.5
    """Sets are far apart if their means are, squared, by this multiple of the sum of their variances."""
    crowded_conflicts: float = 0.36
    """Far more are too many for shortest paths, and an auction comes first: more than this share, ..."""
    crowded_dimensions: int = 3
    """... in at most so many dimensions, ..."""
    crowded_per_dimension: float = 0.1
    """... and so much more for each dimension beyond them."""
    auction_after: float = 20
    """Work after which shortest paths are given up for an auction, in passes over all pairs."""
    auction_passes: int = 20
    """Work of one auction at most, in new lists for each row."""
    auction_free: float = 0.1
    """Share of the rows that may be free when augmenting row reduction ends after an auction."""
    most_passes: float = 40
    """Work after which paths are given up for the dense solver, after an auction or without one, ..."""
    last_resort: int = 25
    """... up to this multiple of `dense_pairs` (25: a matrix of 122 MiB)."""

    # Passes over all pairs.
    single_precision_dimensions: int = 1000
    """Greatest d for which products in single precision are accurate enough to screen pairs."""
    double: bool = True
    """Whether to go over to double precision where single may be too coarse for the column duals."""
    kept_pairs: int = 1 << 26
    """Number of pairs up to which squared distances that will be needed again are kept (256 MiB)."""
    kept_mutual: float = 0.9
    """They will be, for more than a few rows, if a lesser share of a few points are mutually nearest."""
    tile_columns: int = TILE_COLS
    """Columns of a tile at most, a power of two that is at least 32."""
    block_rows: int = 512
    """Rows that a worker takes at a time, at most."""
    block_coordinates: int = 1 << 32
    """Coordinates that a worker goes through at a time (half a second), so that Ctrl-C is heard."""
    pair_overhead: int = 16
    """Time that a pair takes beside its d coordinates, in coordinates."""

    # Column duals from the pairs of some rows, where costs are divided by weights.
    sampled_pairs: int = 2000**2
    """Number of pairs from which on they may be taken, ..."""
    sampled_mutual: float = 0.5
    """... and are, if a lesser share of a few points are mutually nearest by cost."""
    sampled: int = 8
    """One in so many rows is looked at."""

    # Leaving out regions of space that are too far away.
    region_pairs: int = 4000**2
    """Number of pairs from which on that is tried."""
    region_dimensions: int = 12
    """Greatest d for which it is tried."""
    region_mutual: float = 0.75
    """It is tried if more than this share of a few points are the nearest of their nearest partner."""
    region_near: float = 0.5
    """It is tried if at most this share of the regions is too near to be left out, for a few points."""

    # Shortlists of the rows, and augmenting row reduction within them.
    list_size: int = 32
    """Pairs in the list of a row, at most, ..."""
    least_list_size: int = 16
    """... and at least, unless that is less, ..."""
    rows_per_listed: int = 128
    """... and in between one for each so many rows."""
    short_list_size: int = 4
    """Pairs in its first list where a few will mostly do."""
    short_list_mutual: float = 0.5
    """A few will mostly do if more than this share of a few points are mutually nearest, or with a start."""
    sweeps: int = 32
    """Sweeps of augmenting row reduction at most; between them, exhausted lists are renewed."""
    few_free: float = 0.002
    """Share of the rows that are still free at which another sweep does not pay."""
    reduced_rows: int = 1 << 13
    """Free rows that are reduced in one call of the kernel, so that Ctrl-C is heard."""

    # Shortest augmenting paths.
    steps_per_call: int = 500_000
    """Rows scanned and columns reached in one call of the kernel, so that Ctrl-C is heard."""

    # Matching some of the pairs: the price below which they are.
    prices: int = 8
    """Prices that are tried at most before the last pairs are found one by one."""
    few_pairs: float = 0.005
    """Share of the pairs that are still missing which are found one by one at once."""

    def is_small(self, pairs: int, d: int) -> bool:
        """Say whether the short way is the quicker one, if anything is solved as a whole."""
        return pairs <= self.short_pairs and pairs * d <= self.short_coordinates and self.dense_pairs > 0

    def may_be_easy(self, pairs: int, coordinates: int) -> bool:
        """Say whether sets shall first be taken for easy, by their pairs and the larger set's coordinates."""
        return self.least_easy_pairs < pairs <= self.easy_pairs and coordinates <= self.easy_coordinates

    def is_wide(self, pairs: int, d: int) -> bool:
        """Say whether there are so many dimensions that bounds of distances are tried first."""
        if not self.wide_dimensions <= d <= self.single_precision_dimensions:
            return False
        return self.wide_pairs <= pairs <= self.most_wide_pairs and pairs * d >= self.wide_coordinates

    def for_shape(self, n: int, d: int) -> SolverSettings:
        """Choose the size of the lists for a number of rows, and of dimensions: in few, rows need more."""
        least = self.least_list_size if d > self.crowded_dimensions else self.least_list_size * 3 // 2
        size = max(n // self.rows_per_listed, least)
        return self._replace(list_size=min(size, self.list_size))

    def crowded_share(self, d: int) -> float:
        """Share of the rows which, if so many must share their nearest column, are too many."""
        return self.crowded_conflicts + self.crowded_per_dimension * max(d - self.crowded_dimensions, 0)


#: What is used where no settings are given. Looked up at every call, so that tests can replace it.
DEFAULT = SolverSettings()


def or_default(settings: SolverSettings | None) -> SolverSettings:
    """Return the given settings, or the default ones for None."""
    return DEFAULT if settings is None else settings
