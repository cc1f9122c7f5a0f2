"""What ``lslmatch match --verbose`` says besides: the map, what was chosen, noise and certificate."""

from __future__ import annotations

import argparse
import math
import re

import numpy as np

from lslmatch import Diagnosis
from lslmatch._types import FloatArray
from lslmatch.cli.covariance import describe_covariance
from lslmatch.cli.match_reading import Inputs
from lslmatch.cli.match_words import Answer, abridged, scale_of
from lslmatch.results import MatchResult
from lslmatch.summary import column_table, count

#: What a choice of pairs says of its own of how many are right.
_FALSE_SHARE = re.compile(r" \(expected share of false pairs [^)]*\)")


def say_details(answer: Answer, options: argparse.Namespace) -> list[tuple[str, str]]:
    """Give further lines of a name and a text."""
    result, found = answer.result, answer.diagnosis
    lines = _map(answer) if answer.rows.size else []
    lines += [
        ("x", _describe(options.x, answer.inputs.x, answer.inputs, 0)),
        ("y", _describe(options.y, answer.inputs.y, answer.inputs, 1)),
        *_decisions(result),
    ]
    if result.covariance is not None:
        pairs = len(answer.inputs.x) * len(answer.inputs.y)
        described = describe_covariance(options.covariance, result.covariance, pairs)
        why = [text for text in result.decisions if text.startswith("covariance: learned, ")]
        lines.append(("covariance", described + "".join(text[len("covariance: learned") :] for text in why)))
    if found is not None:
        lines += _trust(answer, found)
    if answer.rows.size:
        lines += [
            ("objective", f"{result.objective:.10g} ({result.criterion})"),
            ("certificate", _certificate(answer)),
        ]
    seconds = ", ".join(f"{name} {seconds:.3f}" for name, seconds in answer.seconds.items())
    return [*lines, ("seconds", seconds)]


def _map(answer: Answer) -> list[tuple[str, str]]:
    """Say the scale and the shift, or those of each column."""
    result, found = answer.result, answer.diagnosis
    report = None if found is None else found.columns_report
    if result.column_map is None and report is None:
        return [("scale", scale_of(result, found)), ("shift", _shift(answer))]
    lines = [("columns", f"{result.shift.size}: x is about y times the scale plus the shift")]
    if result.column_map is None:
        lines = [("scale", scale_of(result, found)), ("columns", f"{result.shift.size}, by one scale")]
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


def _describe(path: object, values: FloatArray, inputs: Inputs, side: int) -> str:
    points, dimensions = values.shape
    columns = "" if inputs.columns is None else f": {abridged(inputs.columns)}"
    labels = None if inputs.labels is None else inputs.labels[side]
    named = "" if labels is None else f", rows named {labels[0]}, ..."
    source = "standard input" if str(path) == "-" else path
    return f"{points} points from {source}, {count(dimensions, 'column')}{columns}{named}"


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
    return f"cheapest{under} to within {answer.gap:.1e} (largest violation {answer.violation:.1e})"
