"""A kind of noise, as a row of the table of covariances."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lslmatch._types import FloatArray
from lslmatch.request import Request
from lslmatch.results import MatchResult


class Matched(NamedTuple):
    """A matching, and the one with isotropic noise that competes with it."""

    result: MatchResult
    beside: MatchResult | None = None
    """The matching of all points by LSL with isotropic noise, where that was made and is an alternative."""
    diagonal: MatchResult | None = None
    """That with a variance for each column, where pairs are chosen and it predicts all pairs better."""


class CovarianceRow(NamedTuple):
    """A covariance that has a name."""

    name: str
    help: str
    """What the command line says of it."""
    match: Callable[[FloatArray, FloatArray, Request], Matched]
    """From two checked sets and a request to a matching."""
