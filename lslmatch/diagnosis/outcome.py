"""What a diagnosis says: estimates, a verdict in words, and a margin and a confidence for each pair."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lslmatch._comparison import comparable
from lslmatch._optional import load
from lslmatch._types import FloatArray, IntArray
from lslmatch.diagnosis.columns import ColumnReport
from lslmatch.diagnosis.confidence import UNRELATED
from lslmatch.summary import Facts, Summary, Table, count, number

#: What a verdict says of the separation, after the expected share of right pairs.
GUARANTEED = "all rows can be told apart, by the theorem"
ABOVE_FLOOR = "even the most similar rows can be told apart"
BELOW_FLOOR = "some rows are too similar to tell apart"
#: What it says first where the sets look like unrelated ones.
NO_RELATION = "no clear sign that the sets are related"

#: A pair with a lower confidence than this is called doubtful.
DOUBTFUL = 0.9


class KnownAgain(NamedTuple):
    """What known pairs say of the others: each was left out in turn, and the rest was matched again."""

    found: int
    """How many of those that were left out were found again."""
    asked: int
    """How many were left out."""
    interval: tuple[float, float]
    """A 95 % interval for the share of right pairs among those that were not known (Clopper and Pearson)."""

    @property
    def share(self) -> float:
        """The share that was found again."""
        return self.found / self.asked

    def __str__(self) -> str:
        """Say it in a few words."""
        return f"{self.found:,} of {count(self.asked, 'known pair')} found again when left out"


@comparable
class Diagnosis(NamedTuple):
    """What a matching tells about its own reliability, all of it estimated from the matched pairs.

    The separation is a least distance of estimates: near the noise floor and below it, it errs to the low
    side. The noise ratio is a largest ratio of estimates, and errs to the high side. Where most pairs are
    wrong, they were chosen for being close: the noise is underestimated then, and the distortion and the
    confidence are overestimated.
    """

    verdict: str
    """The expected share of right pairs, then whether the most similar rows can be told apart: whether their
    separation is beyond what Theorem 2 asks for, above the noise floor, or below it."""
    separation: float
    """kappa(Z): the least distance of two features in units of their noise (Definition 1)."""
    noise_floor: float
    """The order of the separation that recovery needs even if the scale is known (section 5.2)."""
    threshold: float
    """The separation from which Theorem 2 guarantees recovery; inf where it says nothing."""
    noise: FloatArray
    """sigma of shape (n,), in the units of x; NaN for an ``x[i]`` without a partner."""
    noise_ratio: float
    """rho_sigma: the largest ratio of two noise variances."""
    relative_noise: float
    """alpha_sigma: the largest noise level over the root of the sum of their squares."""
    distortion: float
    """lambda: the spread of the features over that root."""
    margin: FloatArray | None
    """(n,): by how much the objective rises if the pair of ``x[i]`` is forbidden; None for "greedy"."""
    confidence: FloatArray | None
    """(n,): the probability that the pair of ``x[i]`` is right; None for "greedy" or too many pairs."""
    expected_right: float = math.nan
    """The share of pairs that is probably right; NaN without confidences."""
    expected_right_interval: tuple[float, float] = (math.nan, math.nan)
    """A 95 % interval for that share, as far as the model holds."""
    scale_error: float = math.nan
    """The standard error of the scale; NaN if none was estimated (scale 1, shift 0), or it is not known."""
    shift_error: FloatArray | None = None
    """(d,): the standard errors of the shift, NaN where that of the scale is."""
    noise_ratio_interval: tuple[float, float] = (1.0, math.inf)
    """A 95 % interval for the largest ratio of two noise variances; from 1 if all noise may be equal."""
    columns_report: ColumnReport | None = None
    """What is known of each column, where columns have units or variances of their own."""
    known_again: KnownAgain | None = None
    """What known pairs say of the others, if there are some."""
    repeated: tuple[int, int] = (0, 0)
    """How many rows of x, and of y, are equal to another before them: their partners are arbitrary."""

    def __repr__(self) -> str:
        """Give one line; :meth:`summary` says more."""
        pairs = count(int(np.sum(~np.isnan(self.noise))), "pair")
        doubt = "" if self.confidence is None else f"; {self.doubtful().size:,} doubtful"
        return f"<Diagnosis of {pairs}: {self.verdict}{doubt}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def doubtful(self, below: float = DOUBTFUL) -> IntArray:
        """Give the points of x whose pairs have a confidence below a limit, the least confident first.

        Parameters
        ----------
        below : float, default 0.9
            The limit.

        Returns
        -------
        ndarray of int
            Indices of x.
        """
        if self.confidence is None:
            raise ValueError("there are no confidences: the pairs are greedy, or too many for them")
        order = np.argsort(self.confidence, kind="stable")
        return order[self.confidence[order] < below]

    def columns(self) -> dict[str, FloatArray]:
        """Give what is known of each point of x, by name: its noise, and its pair's margin and confidence."""
        found = {"noise": self.noise, "margin": self.margin, "confidence": self.confidence}
        return {name: values for name, values in found.items() if values is not None}

    def to_frame(self) -> Any:
        """Give :meth:`columns` as a pandas DataFrame, a row for each point of x."""
        return load("pandas", "files", "to_frame").DataFrame(self.columns())

    def summary(self) -> Summary:
        """Say in a table how far a matching can be trusted.

        Returns
        -------
        Summary
            ``print`` shows it as text, and a notebook as a table.
        """
        facts = Facts(
            [
                ("Separation", number(self.separation)),
                ("Noise floor", number(self.noise_floor)),
                ("Theorem 2 needs", number(self.threshold) if np.isfinite(self.threshold) else "-"),
            ],
            [
                ("Noise, median", number(float(np.nanmedian(self.noise)))),
                ("Spread over noise", number(self.distortion)),
                ("Doubtful pairs", "-" if self.confidence is None else f"{self.doubtful().size:,}"),
            ],
        )
        parts: list[Facts | Table | str] = [f"Verdict: {self.verdict}", facts]
        if self.known_again is not None and not self.verdict.startswith(str(self.known_again)):
            parts.append(f"Known pairs: {self.known_again}")
        parts += repeated_words(self.repeated)
        if self.confidence is not None:
            parts.append(_confidence_table(self.confidence[~np.isnan(self.confidence)]))
        return Summary("How far the matching can be trusted", parts)


def repeated_words(repeated: tuple[int, int]) -> list[str]:
    """Say which sets have rows that repeat others, a sentence each."""
    return [
        f"{count(rows, 'row')} of {name} repeat{'s another' if rows == 1 else ' others'}: which of them is "
        "whose partner is arbitrary"
        for name, rows in zip("xy", repeated, strict=True)
        if rows
    ]


def _confidence_table(confidence: FloatArray) -> Table:
    limits = (0.0, 0.5, DOUBTFUL, 0.99, math.inf)
    names = (f"below {limits[1]}", f"to {DOUBTFUL}", f"to {limits[3]}", f"{limits[3]} and more")
    numbers, _ = np.histogram(confidence, limits)
    rows = [
        (name, f"{k:,}", f"{k / confidence.size:.1%}")
        for name, k in zip(names, numbers.tolist(), strict=True)
    ]
    return Table("Confidences of the pairs", ("confidence", "pairs", "share"), rows)


def verdict_of(
    separation: float, floor: float, threshold: float, expected: float, interval: tuple[float, float]
) -> str:
    """Say the expected share of right pairs, and where the separation stands."""
    place = ABOVE_FLOOR if separation >= floor else BELOW_FLOOR
    if separation >= threshold:
        place = GUARANTEED
    if math.isnan(expected):
        return place
    low, high = (100.0 * end for end in interval)
    share = f"about {100.0 * expected:.0f} % of the pairs right ({low:.0f} to {high:.0f} %); {place}"
    return share if expected >= UNRELATED else f"{NO_RELATION}; {share}"
