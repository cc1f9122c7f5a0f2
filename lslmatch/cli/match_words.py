"""What ``lslmatch match`` says: what a person needs first, in words, then the proof."""

from __future__ import annotations

import argparse
import math
import re
from typing import NamedTuple

import numpy as np

from lslmatch import Diagnosis
from lslmatch._types import FloatArray, IntArray
from lslmatch.cli.covariance import describe_covariance
from lslmatch.cli.match_reading import Inputs
from lslmatch.diagnosis.outcome import DOUBTFUL
from lslmatch.io.sources import is_standard
from lslmatch.results import MatchResult
from lslmatch.summary import column_table, count, percent

#: A matching is doubtful below this share of right pairs.
SURE = DOUBTFUL
#: How many pairs to look at are named.
_NAMED = 5
#: What a choice of pairs says of its own of how many are right.
_FALSE_SHARE = re.compile(r" \(expected share of false pairs [^)]*\)")


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
    """Give lines of a name and a text, what matters most first."""
    result, found = answer.result, answer.diagnosis
    lines = [("answer", _answer(answer)), *(("warning", _as_options(text)) for text in answer.warnings)]
    if found is not None:
        # It begins with the share that the answer gives.
        lines.append(("verdict", found.verdict.rpartition("; ")[2]))
        lines.append(("look at", _look_at(answer)))
    lines += [
        *_map(answer),
        ("x", _describe(options.x, answer.inputs.x, answer.inputs, 0)),
        ("y", _describe(options.y, answer.inputs.y, answer.inputs, 1)),
        *(("note", note) for note in answer.inputs.notes),
        *_decisions(result),
    ]
    if result.covariance is not None:
        pairs = len(answer.inputs.x) * len(answer.inputs.y)
        described = describe_covariance(options.covariance, result.covariance, pairs)
        why = [text for text in result.decisions if text.startswith("covariance: learned, ")]
        lines.append(("covariance", described + "".join(text[len("covariance: learned") :] for text in why)))
    if found is not None:
        lines += _trust(answer, found)
    lines += [
        ("objective", f"{result.objective:.10g} ({result.criterion})"),
        ("certificate", _certificate(answer)),
        ("seconds", ", ".join(f"{name} {seconds:.3f}" for name, seconds in answer.seconds.items())),
    ]
    if options.out is not None and not is_standard(options.out):
        lines.append(("written", f"{options.out}"))
    if options.report is not None:
        lines.append(("report", f"{options.report}"))
    return lines


def _as_options(text: str) -> str:
    """Say an argument of a function as an option."""
    return re.sub(r"\b(alignment|covariance|pairs)='(\w+)'", r"--\1 \2", text).replace("'auto'", "auto")


def _answer(answer: Answer) -> str:
    pairs, found = count(answer.rows.size, "pair"), answer.diagnosis
    if not answer.rows.size:
        return "no pairs: no point seems to have a partner"
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


def _map(answer: Answer) -> list[tuple[str, str]]:
    """Say the scale and the shift, or those of each column."""
    result, found = answer.result, answer.diagnosis
    report = None if found is None else found.columns_report
    if result.column_map is None and report is None:
        return [("scale", _scale(result, found)), ("shift", _shift(answer))]
    lines = [("columns", f"{result.shift.size}: x is about y times the scale plus the shift")]
    if result.column_map is None:
        lines = [("scale", _scale(result, found)), ("columns", f"{result.shift.size}, by one scale")]
    for name, scale, *rest in column_table(answer.inputs.columns, result.map, report).rows:
        if name == "...":
            lines.append(("", "..."))
        elif report is None:
            lines.append(("", f"{name}: scale {scale}, shift {rest[0]}"))
        else:
            text = f"{name}: scale {scale} ({rest[0]}), shift {rest[1]} ({rest[2]}), noise {rest[3]}"
            lines.append(("", f"{text}, {rest[4]}" if rest[4] else text))
    if report is not None:
        lines.append(("", "standard errors in brackets; noise as a share of what strangers differ by"))
    return lines


def _scale(result: MatchResult, found: Diagnosis | None) -> str:
    if found is None:
        return f"{result.scale:.6g}"
    return f"{result.scale:.6g}{_error(found.scale_error)}"


def _shift(answer: Answer) -> str:
    shift, columns = answer.result.shift, answer.inputs.columns
    error = None if answer.diagnosis is None else answer.diagnosis.shift_error
    error = None if error is None or np.isnan(error).all() else error
    texts = [
        (f"{columns[k]} " if columns is not None else "")
        + f"{shift[k]:.4g}"
        + ("" if error is None else f" ({error[k]:.2g})")
        for k in range(shift.size)
    ]
    if len(texts) > 6:
        texts[3:-2] = ["..."]
    said = (" " if columns is None and error is None else ", ").join(texts)
    return said + ("" if error is None else ", with standard errors")


def _error(error: float) -> str:
    return "" if math.isnan(error) else f" (standard error {error:.2g})"


def _describe(path: object, values: FloatArray, inputs: Inputs, side: int) -> str:
    points, dimensions = values.shape
    columns = "" if inputs.columns is None else f": {_abridged(inputs.columns)}"
    labels = None if inputs.labels is None else inputs.labels[side]
    named = "" if labels is None else f", rows named {labels[0]}, ..."
    source = "standard input" if str(path) == "-" else path
    return f"{points} points from {source}, {count(dimensions, 'column')}{columns}{named}"


def _abridged(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= 6 else ", ".join((*names[:3], "...", *names[-2:]))


def _decisions(result: MatchResult) -> list[tuple[str, str]]:
    """Give what was chosen automatically; a line begins with what it is about."""
    lines = []
    for decision in result.decisions:
        about, colon, text = decision.partition(": ")
        if about == "covariance" and result.covariance is not None:
            continue  # it is described in a line of its own
        if about == "pairs":
            text = _FALSE_SHARE.sub("", text)  # the answer says how many are right, and nothing says it twice
        lines.append((about, text) if colon and " " not in about else ("chosen", decision))
    return lines


def _trust(answer: Answer, found: Diagnosis) -> list[tuple[str, str]]:
    theorem = (
        f"Theorem 2 needs {found.threshold:.4g}"
        if math.isfinite(found.threshold)
        else "Theorem 2 does not apply"
    )
    low, high = found.noise_ratio_interval
    spread = (
        "may be equal for all points"
        if not low > 1.0
        else f"differs between points: variances by a factor of {low:.3g} at least"
        + (f", {high:.3g} at most" if math.isfinite(high) else "")
    )
    median = f"{np.median(found.noise[answer.rows]):.4g} median; "
    if found.columns_report is not None:  # a distance has no unit there
        median = ""
    lines = [
        ("noise", median + spread),
        ("separation", f"{found.separation:.4g} (noise floor {found.noise_floor:.4g}, {theorem})"),
    ]
    if found.margin is not None:
        margin = found.margin[answer.rows]
        lines.append(("margin", f"{margin.min():.4g} least, {np.median(margin):.4g} median"))
    return lines


def _certificate(answer: Answer) -> str:
    result = answer.result
    if result.row_dual is None:
        return "none" if result.confidence is None else "none: blind pairs are no cheapest matching"
    if answer.violation is None:
        return "not checked (--no-check)"
    found = result.covariance
    learned = found is not None and found.rounds > 0 and not found.is_isotropic
    under = " under this covariance" if learned else ""
    proven = f"optimal{under}, proven to within {answer.gap:.1e} (largest violation {answer.violation:.1e})"
    return f"{proven}; that the pairs are right it does not prove" if answer.is_doubtful else proven


def _about(share: float) -> str:
    text = percent(share)
    return f"about {text}" if text[0].isdigit() else text
