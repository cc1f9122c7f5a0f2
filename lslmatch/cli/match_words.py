"""What ``lslmatch match`` says: what a person needs first, in words, then the proof."""

from __future__ import annotations

import argparse
import math
import re
from typing import NamedTuple

import numpy as np

from lslmatch import Diagnosis
from lslmatch._types import FloatArray, IntArray
from lslmatch.cli.match_reading import Inputs
from lslmatch.diagnosis.outcome import DOUBTFUL, repeated_words
from lslmatch.given import Given
from lslmatch.io.sources import is_standard
from lslmatch.maps import LinearMap
from lslmatch.results import MatchResult
from lslmatch.summary import count, percent

#: A matching is doubtful below this share of right pairs.
SURE = DOUBTFUL
#: How many pairs to look at are named.
_NAMED = 5
#: What to do next where no pairs are given.
_NO_PAIRS = (
    "--pairs all shows the best pairs all the same, and how sure they are; --columns leaves columns out that "
    "the two files do not share; --alignment similarity is for sets that are turned"
)


class Answer(NamedTuple):
    """All that was found out about two files."""

    inputs: Inputs
    result: MatchResult
    rows: IntArray
    """The points of x that have a partner."""
    distance: FloatArray
    violation: float | None
    """Of the certificate; None if it was not checked, or there is none."""
    diagnosis: Diagnosis | None
    seconds: dict[str, float]
    warnings: tuple[str, ...] = ()
    """What `match` warned of."""
    repeated: tuple[int, int] = (0, 0)
    """How many rows of x, and of y, are equal to another before them."""

    @property
    def is_doubtful(self) -> bool:
        """Whether many pairs are probably wrong, or `match` warned of something."""
        found = self.diagnosis
        if self.warnings:
            return True
        if found is None:
            return False
        if math.isnan(found.expected_right):
            return found.separation < found.noise_floor
        return found.expected_right < SURE

    @property
    def to_look_at(self) -> IntArray | None:
        """The points of x with a doubtful partner, the most doubtful first; None if that is not known."""
        if self.diagnosis is None or self.diagnosis.confidence is None:
            return None
        return self.diagnosis.doubtful()

    @property
    def gap(self) -> float | None:
        """What the certificate leaves open: no matching costs less than this one by more."""
        # Weak duality: every condition is met up to `violation`.
        n, m = len(self.inputs.x), len(self.inputs.y)
        points = max(n, m) if self.result.price is None else n + m
        return None if self.violation is None else 2 * points * self.violation


def say(answer: Answer, options: argparse.Namespace) -> list[tuple[str, str]]:
    """Give lines of a name and a text, what matters most first: about ten, without a word of statistics."""
    lines = [("answer", _answer(answer)), *(("warning", _as_options(text)) for text in answer.warnings)]
    if answer.rows.size:
        lines += _pairs(answer)
        lines += _units(answer)
        lines.append(("proof", _proof(answer)))
    else:
        lines.append(("try", _NO_PAIRS))
    notes = *answer.inputs.notes, *repeated_words(answer.repeated)
    lines += [("note", note) for note in notes]
    lines.append(("time", _time(answer.seconds)))
    if options.out is not None and not is_standard(options.out):
        lines.append(("written", f"{options.out}"))
    if options.report is not None:
        lines.append(("report", f"{options.report}"))
    return lines


def _pairs(answer: Answer) -> list[tuple[str, str]]:
    """Say who has a partner, which pairs to look at, and whether rows are alike."""
    n, m, k = len(answer.inputs.x), len(answer.inputs.y), int(answer.rows.size)
    if k == n == m:
        paired = f"all {n:,} rows"
    elif k == min(n, m):
        few, many = ("x", "y") if n < m else ("y", "x")
        paired = f"all {k:,} rows of {few}; {max(n, m) - k:,} rows of {many} have no partner"
    else:
        paired = f"{k:,} rows; {n - k:,} rows of x and {m - k:,} of y have no partner"
    lines = [("paired", paired)]
    common, agree = answer.result.names_in_common
    if common:
        lines.append(("names", f"{count(common, 'name')} in common, {agree:,} agree"))
    found = answer.diagnosis
    if found is not None:
        if found.known_again is not None:
            lines.append(("known", str(found.known_again)))
        lines.append(("look at", _look_at(answer)))
        # The verdict begins with the share that the answer gives.
        lines.append(("rows", found.verdict.rpartition("; ")[2]))
    return lines


def _units(answer: Answer) -> list[tuple[str, str]]:
    """Say what takes y into the units of x, in a line."""
    result, found, columns = answer.result, answer.diagnosis, answer.inputs.columns
    if isinstance(result.matrix_map, LinearMap):
        d_x, d_y = result.matrix_map.matrix.shape
        return [("units", f"x is about a linear map of y, from {d_y} columns to {d_x}, plus a shift")]
    if result.matrix_map is not None:
        return [("units", f"x is about y turned, then times {scale_of(result, found)}, plus a shift")]
    report, d = None if found is None else found.columns_report, result.shift.size
    if result.column_map is None:
        lines = [("units", f"x is about y times {scale_of(result, found)}, plus a shift")]
    else:
        factors = zip(_names(columns, d), result.column_map.scales, strict=True)
        said = tuple(f"{name} {scale:.4g}" for name, scale in factors)
        lines = [("units", f"x is about y times {abridged(said)}, plus a shift for each column")]
    if report is not None:
        useless = tuple(_names(columns, d)[k] for k in np.flatnonzero(report.says_nothing))
        if useless:
            lines.append(("columns", f"of no use for telling rows apart: {abridged(useless)}"))
    return lines


def _names(columns: tuple[str, ...] | None, d: int) -> tuple[str, ...]:
    return columns or tuple(f"column {k}" for k in range(d))


def _proof(answer: Answer) -> str:
    result = answer.result
    if result.row_dual is None:
        if result.confidence is not None:
            return "the limit for false pairs is proven; the pairs are no cheapest matching"
        return "none: the greedy matching need not be the cheapest"
    if answer.violation is None:
        return "not checked (--no-check)"
    under = "" if result.given is None else _limits(result.given)
    return f"cheapest matching{under}, proven; this is not evidence that pairs are right"


def _limits(given: Given) -> str:
    """Say what the proof is limited to."""
    limits = [f"besides {count(len(given.known), 'known pair')}"] if len(given.known) else []
    limits += ["within groups"] if given.x_group is not None else []
    limits += [f"without {count(len(given.forbidden), 'forbidden pair')}"] if len(given.forbidden) else []
    return f" {', '.join(limits)}"


def _time(seconds: dict[str, float]) -> str:
    compiling = seconds.get("compiling", 0.0)
    spent = sum(seconds.values()) - compiling
    once = f", and {compiling:.0f} s to compile, once after an installation" if compiling >= 0.5 else ""
    return f"{spent:.2g} s{once}" if spent < 10 else f"{spent:.0f} s{once}"


def _as_options(text: str) -> str:
    """Say an argument of a function as an option."""
    return re.sub(r"\b(alignment|covariance|pairs)='(\w+)'", r"--\1 \2", text).replace("'auto'", "auto")


def _answer(answer: Answer) -> str:
    pairs, found = count(answer.rows.size, "pair"), answer.diagnosis
    if not answer.rows.size:
        return "no pairs: no row seems to have a partner in the other file"
    if found is None:
        why = "--no-check" if answer.rows.size > 1 else "there is only one"
        return f"{pairs}; how many are right was not estimated ({why})"
    if answer.result.row_dual is None:
        if answer.result.confidence is not None:  # blind pairs
            right = float(answer.result.confidence[answer.rows].mean())
            return f"{pairs}, {_about(right)} right; the limit for false ones is proven, see below"
        return f"{pairs}; how many are right is not known of the greedy matching"
    if found.confidence is None:
        return (
            f"{pairs}; how many are right was not estimated: of more than 16 million "
            "pairs of points the margins alone are known"
        )
    low, high = found.expected_right_interval
    share = f"{_about(found.expected_right)} right (95 % interval {percent(low)} to {percent(high)})"
    if answer.warnings:
        return f"doubtful, see the warning: {pairs}, {share} if scale and shift are"
    return f"doubtful: {pairs}, of which only {share}" if answer.is_doubtful else f"{pairs}, {share}"


def _look_at(answer: Answer) -> str:
    doubtful = answer.to_look_at
    if doubtful is None:
        return "pairs with small margins: there are no confidences"
    if not doubtful.size:
        return f"no pair: all have a confidence of {SURE:.0%} or more"
    labels = answer.inputs.labels
    names = [str(i) if labels is None or labels.x is None else str(labels.x[i]) for i in doubtful[:_NAMED]]
    more = ", ..." if doubtful.size > _NAMED else ""
    return (
        f"{count(doubtful.size, 'pair')} with a confidence below {SURE:.0%}; rows of x, the most "
        f"doubtful first: {', '.join(names)}{more}"
    )


def scale_of(result: MatchResult, found: Diagnosis | None) -> str:
    """Give the scale, with its standard error if that is known."""
    if found is None:
        return f"{result.scale:.6g}"
    return f"{result.scale:.6g}{standard_error(found.scale_error)}"


def standard_error(error: float) -> str:
    """Give a standard error in brackets; nothing if it is not known."""
    return "" if math.isnan(error) else f" (standard error {error:.2g})"


def abridged(names: tuple[str, ...]) -> str:
    """List names, of more than six the first three and the last two."""
    return ", ".join(names) if len(names) <= 6 else ", ".join((*names[:3], "...", *names[-2:]))


def _about(share: float) -> str:
    text = percent(share)
    return f"about {text}" if text[0].isdigit() else text
