"""What the routes go by: where a route is tried, what it tries, and when it gives up.

Settings decide how much is computed and how long it takes, never what is optimal: with any settings the
solution is optimal and proven (among several optima, another one may be found). Values with which nothing
would come to an end are refused.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from lslmatch.geometry.tiles import LANES, TILE_COLS

#: Settings that are numbers of things to take at a time: without any, nothing would get done.
_PORTIONS = (
    "block_rows",
    "block_coordinates",
    "sampled",
    "list_size",
    "least_list_size",
    "rows_per_listed",
    "short_list_size",
    "reduced_rows",
    "steps_per_call",
)


@dataclasses.dataclass(frozen=True, eq=False)
class SolverSettings:
    """The settings of all routes, route by route, for n rows, m columns, n * m pairs and d coordinates.

    Two of them are equal only if they are the same object: plans are remembered for each.
    """

    routes: tuple[str, ...] | None = None
    """The routes to try, in this order, whether they pay or not; None: those that pay.

    A problem of costs for which none of them is made takes its usual routes.
    """

    # Route "small": one kernel with the matrix of all costs.
    most_small_pairs: int = 1200**2
    """The small route is taken for at most this number of pairs."""
    most_small_coordinates: int = 40 * 1000**2
    """The small route is taken for at most this number of coordinates, n * m * d."""

    # Route "bounded": one kernel for sets in which nearly every point has a nearest partner of its own.
    least_bounded_pairs: int = 500**2
    """In few dimensions, the bounded route is tried for more than this number of pairs."""
    most_bounded_pairs: int = 10_000**2
    """In few dimensions, the bounded route is tried for at most this number of pairs."""
    most_bounded_coordinates: int = 110_000
    """In few dimensions, the larger set must have at most this many coordinates, as in a near cache."""
    wide_dimensions: int = 16
    """Dimensions are many from this number on."""
    wide_coordinates: int = 10 * 1000**2
    """In many, the bounded route is tried for at least this number of coordinates, n * m * d."""
    wide_pairs: int = 200**2
    """In many, the bounded route is tried for at least this number of pairs."""
    most_wide_pairs: int = 2000**2
    """In many, the bounded route is tried for at most this number of pairs."""

    # Routes with the matrix of all costs: "matrix", "clashes" and "resort".
    matrix_pairs: int = 400**2
    """The matrix is quicker in any case, and compiles less, for at most this number of pairs."""
    dense_pairs: int = 800**2
    """The matrix is quicker where many nearest partners clash, for at most this number of pairs; 0: never."""
    dense_conflicts: float = 0.3
    """Nearest partners clash that often if more than this share of the rows would have to share one."""
    last_resort: int = 25
    """Paths may be given up for the matrix up to this multiple of `dense_pairs` (25: 122 MiB)."""

    # Route "far": sets that are far apart.
    far_means: float = 1.5
    """Sets are far apart if their means are, squared, by this multiple of the sum of their variances."""

    # Passes over all pairs, for the route "nearest" and all that follow it.
    single_precision_dimensions: int = 1000
    """Pairs are screened by products in single precision up to this number of dimensions."""
    double: bool = True
    """Pairs are screened in double precision where single may be too coarse for the column duals."""
    kept_pairs: int = 1 << 26
    """Squared distances that are needed again are kept up to this number of pairs (256 MiB)."""
    kept_mutual: float = 0.9
    """Squared distances are needed again if less than this share of a few points are mutually nearest."""
    tile_columns: int = TILE_COLS
    """A tile has at most this number of columns, a power of two that is at least 32."""
    block_rows: int = 512
    """A worker takes at most this number of rows at a time."""
    block_coordinates: int = 1 << 32
    """A worker takes at most this number of coordinates at a time (half a second): then Ctrl-C is heard."""
    pair_overhead: int = 16
    """A pair takes the time of this number of coordinates beside its own."""

    # Leaving out regions of space that are too far away.
    region_pairs: int = 4000**2
    """Far regions are left out from this number of pairs on."""
    region_dimensions: int = 12
    """Far regions are left out up to this number of dimensions."""
    region_mutual: float = 0.75
    """Far regions are left out if more than this share of a few points are mutually nearest."""
    region_near: float = 0.5
    """Far regions are left out if at most this share of all regions is near, for a few points."""

    # Column duals from the pairs of some rows, where costs are divided by weights.
    sampled_pairs: int = 2000**2
    """Some rows give the first column duals from this number of pairs on."""
    sampled_mutual: float = 0.5
    """Some rows give the first column duals if less than this share of a few points are mutually nearest."""
    sampled: int = 8
    """One row in this many is looked at."""

    # Route "paths": shortlists, augmenting row reduction within them, and shortest paths.
    many_conflicts: float = 0.15
    """Column duals start at the columns' least costs if more than this share of the rows clash."""
    list_size: int = 32
    """A shortlist has at most this number of pairs."""
    least_list_size: int = 16
    """A shortlist has at least this number of pairs, unless that is more."""
    rows_per_listed: int = 128
    """In between, a shortlist has one pair for each this many rows."""
    short_list_size: int = 4
    """A first shortlist has this number of pairs where a few will mostly do."""
    short_list_mutual: float = 0.5
    """A few pairs mostly do if more than this share of a few points are mutually nearest, or with a start."""
    sweeps: int = 32
    """Augmenting row reduction goes over the free rows this many times at most, with new lists in between."""
    few_free: float = 0.002
    """Augmenting row reduction ends when at most this share of the rows is free."""
    reduced_rows: int = 1 << 13
    """One call of its kernel takes this number of rows: then Ctrl-C is heard."""
    steps_per_call: int = 500_000
    """One call of the paths' kernel scans this number of rows and columns: then Ctrl-C is heard."""
    most_passes: float = 40
    """Paths are given up for the matrix after the work of this many passes over all pairs."""

    # Routes "crowded" and "auction": an auction finds column duals.
    crowded_conflicts: float = 0.36
    """In few dimensions, an auction comes before any paths if more than this share of the rows clash."""
    crowded_dimensions: int = 3
    """Dimensions are few up to this number."""
    crowded_per_dimension: float = 0.1
    """For each dimension beyond, the share that leads to an auction is greater by this."""
    auction_after: float = 20
    """Paths are given up for an auction after the work of this many passes over all pairs."""
    auction_passes: int = 20
    """An auction with one step takes at most the work of this many new lists for each row."""
    auction_free: float = 0.1
    """After an auction, row reduction ends when at most this share of the rows is free."""

    # Route "prices": a given number of pairs, by the price of the last one.
    prices: int = 8
    """At most this number of prices is tried before the last pairs are found one by one."""
    few_pairs: float = 0.005
    """Pairs are found one by one when at most this share of them is missing."""

    def __post_init__(self) -> None:
        """Refuse values with which nothing would come to an end."""
        for name in _FRACTIONS:
            if math.isnan(getattr(self, name)):
                raise ValueError(f"{name} must be a number; got nan")
        for name in _PORTIONS:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; got {getattr(self, name)}")
        if self.tile_columns < LANES or self.tile_columns & (self.tile_columns - 1):
            raise ValueError(f"tile_columns must be a power of two from {LANES} on; got {self.tile_columns}")

    def _replace(self, **changes: Any) -> SolverSettings:
        """Return these settings with other values for some, as named tuples do."""
        return dataclasses.replace(self, **changes)

    def is_small(self, pairs: int, d: int) -> bool:
        """Say whether the small route is the quicker one, if anything is solved as a whole."""
        return (
            pairs <= self.most_small_pairs
            and pairs * d <= self.most_small_coordinates
            and self.dense_pairs > 0
        )

    def is_bounded(self, n: int, m: int, d: int) -> bool:
        """Say whether the bounded route pays, for sets of n and of m >= n points."""
        pairs = n * m
        if self.wide_dimensions <= d <= self.single_precision_dimensions:
            is_wide = self.wide_pairs <= pairs <= self.most_wide_pairs
            if is_wide and pairs * d >= self.wide_coordinates:
                return True
        is_near = m * d <= self.most_bounded_coordinates
        return is_near and self.least_bounded_pairs < pairs <= self.most_bounded_pairs

    def for_shape(self, n: int, d: int) -> SolverSettings:
        """Choose the size of the lists for a number of rows, and of dimensions: in few, rows need more."""
        least = self.least_list_size if d > self.crowded_dimensions else self.least_list_size * 3 // 2
        size = max(n // self.rows_per_listed, least)
        return self._replace(list_size=min(size, self.list_size))

    def crowded_share(self, d: int) -> float:
        """Give the share of rows without a nearest column of their own above which an auction pays."""
        return self.crowded_conflicts + self.crowded_per_dimension * max(d - self.crowded_dimensions, 0)


_FRACTIONS = tuple(field.name for field in dataclasses.fields(SolverSettings) if field.type == "float")
#: What is used where no settings are given. Looked up at every call, so that tests can replace it.
DEFAULT = SolverSettings()


def or_default(settings: SolverSettings | None) -> SolverSettings:
    """Return the given settings, or the default ones for None."""
    return DEFAULT if settings is None else settings
