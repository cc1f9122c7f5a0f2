"""What a call of `match` asks for: its options, checked once, in the form in which all steps take them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from lslmatch._frames import column_names, in_column_order
from lslmatch._types import FloatArray
from lslmatch._validation import (
    check_count,
    check_map,
    check_noise,
    check_option,
    check_pairs,
    check_point_pair,
)
from lslmatch.given import Given
from lslmatch.maps import AnyMap
from lslmatch.results import FalseShare, Labels


class Request(NamedTuple):
    """Checked options. Names are those of rows in the tables of :mod:`lslmatch.tables`."""

    objective: str = "lsl"
    alignment: str | AnyMap = "standardize"
    covariance: Any = "isotropic"
    """A name; or variances or a matrix, in the order of the columns of x, which their user checks."""
    pairs: int | None = None
    """How many pairs are wanted; None for all that there can be."""
    choice: str | FalseShare | None = None
    """How pairs are chosen out of the matching of all points; None if they are not."""
    noise: tuple[FloatArray, FloatArray] | None = None
    """Noise levels of x and of y, where the objective needs them."""
    workers: int = 1
    labels: Labels | None = None
    columns: tuple[str, ...] | None = None
    given: Given | None = None
    """Known pairs, groups and forbidden pairs; None if there are none."""

    @property
    def given_map(self) -> AnyMap | None:
        """The map, if one was given."""
        return None if isinstance(self.alignment, str) else self.alignment

    def by(self, objective: str, alignment: str | AnyMap | None = None) -> Request:
        """Ask for all pairs by an objective that needs no noise levels, or by the same one."""
        return self._replace(
            objective=objective,
            alignment=self.alignment if alignment is None else alignment,
            pairs=None,
            choice=None,
            noise=self.noise if objective == self.objective else None,
        )


class Names(NamedTuple):
    """The names that options may have, and the rows of the objectives."""

    objectives: Mapping[str, Any]
    alignments: Collection[str]
    covariances: Collection[str]


def take_request(
    x: Any,
    y: Any,
    names: Names,
    *,
    objective: Any,
    alignment: Any,
    covariance: Any,
    pairs: Any,
    noise: Any,
    workers: Any,
) -> tuple[FloatArray, FloatArray, Request]:
    """Check the arguments of `match`, and give the points as plain arrays and all else as a request."""
    labels, columns = Labels.of(x, y), column_names(x, "x")
    covariance = in_column_order(covariance, columns, "covariance")
    x, y = check_point_pair(x, y, alignment)
    (n, d), (m, other) = x.shape, y.shape
    check_option(objective, "objective", tuple(names.objectives))
    workers = check_count(workers, "workers", 1)
    rows = names.objectives
    noisy = [name for name in rows if rows[name].needs_noise]
    chosen_from = [name for name in rows if rows[name].is_chosen_from]
    minimised = [name for name in rows if rows[name].is_minimised]
    levels = check_noise(noise, objective, noisy, n, m, labels)
    wanted = check_pairs(pairs, objective, chosen_from, minimised, n, m)
    if isinstance(alignment, tuple):
        alignment = check_map(alignment, "alignment", d, other)
    else:
        check_option(alignment, "alignment", tuple(names.alignments))
    if isinstance(covariance, str):
        check_option(covariance, "covariance", tuple(names.covariances))
    choice = wanted if isinstance(wanted, (str, FalseShare)) else None
    number = wanted if isinstance(wanted, int) else None
    return x, y, Request(objective, alignment, covariance, number, choice, levels, workers, labels, columns)
