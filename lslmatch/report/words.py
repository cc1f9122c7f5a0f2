"""What was found, in sentences for somebody who does not know the method."""

from __future__ import annotations

import math

from lslmatch._types import FloatArray
from lslmatch.diagnosis.outcome import DOUBTFUL, Diagnosis
from lslmatch.report.listing import Listing
from lslmatch.results import MatchResult
from lslmatch.summary import abridged, column_table, count, number, percent


def found(x: FloatArray, y: FloatArray, result: MatchResult, names: tuple[str, str]) -> str:
    """Say how many pairs there are, and who has no partner."""
    pairs = int((result.permutation >= 0).sum())
    text = (
        f"{count(len(x), 'point')} of {names[0]} and {count(len(y), 'point')} of {names[1]} were matched: "
        f"{count(pairs, 'pair')}."
    )
    alone = [
        f"{left:,} of {name}"
        for left, name in ((len(x) - pairs, names[0]), (len(y) - pairs, names[1]))
        if left
    ]
    return text + (f" Without a partner: {' and '.join(alone)}." if alone else "")


def trust(diagnosis: Diagnosis | None) -> str:
    """Say how many pairs are probably right, and how many to look at."""
    if diagnosis is None:
        return "How far the pairs can be trusted was not estimated."
    if diagnosis.confidence is None:
        return f"There are no confidences of single pairs. Verdict: {diagnosis.verdict}."
    doubtful = diagnosis.doubtful().size
    low, high = map(percent, diagnosis.expected_right_interval)
    about = percent(diagnosis.expected_right)
    about = f"About {about}" if about[0].isdigit() else about.capitalize()
    share = f"{about} of the pairs are right ({low} to {high}), if the model holds"
    known = diagnosis.known_again
    if known is not None and diagnosis.verdict.startswith(str(known)):
        share = f"{str(known).capitalize()}: {about.lower()} of the others are right ({low} to {high})"
    verb = "is" if doubtful == 1 else "are"
    limit = f"a confidence below {DOUBTFUL:g}"
    if not doubtful:
        return f"{share}. No pair has {limit}."
    return f"{share}. {count(doubtful, 'pair')} with {limit} {verb} doubtful: look there first."


def proof(result: MatchResult, violation: float | None, size: int) -> str:
    """Say what the certificate proves, and what not."""
    if result.row_dual is None and result.confidence is not None:
        return "There is no certificate: these pairs were made blindly. Proven is a limit for false ones."
    if result.row_dual is None or violation is None:
        return "There is no certificate: greedy pairs minimise nothing."
    if math.isnan(violation):
        return "The certificate was not checked."
    gap = 2 * size * max(violation, 0.0)
    within = "" if gap == 0 else f" by more than {gap:.1e}"
    under = ""
    if result.covariance is not None and not result.covariance.is_isotropic:
        under = ", under this covariance of the noise"
    every = "as many pairs" if result.chosen_from is None else "all points, out of which pairs were chosen,"
    return (
        "Proven by dual variables, checked over all pairs "
        f"(largest violation {max(violation, 0.0):.1e}): "
        f"no other matching of {every} costs less{within}, at this scale and shift{under}{_limits(result)}. "
        "That proves the optimum, not that the pairs are true."
    )


def _limits(result: MatchResult) -> str:
    """Say what the proof is limited to."""
    if result.given is None:
        return ""
    known, is_grouped, banned = (
        len(result.given.known),
        result.given.x_group is not None,
        len(result.given.forbidden),
    )
    said = f", besides {count(known, 'known pair')}" if known else ""
    said += ", within groups" if is_grouped else ""
    return said + (f", without {count(banned, 'forbidden pair')}" if banned else "")


def listed(result: MatchResult, listing: Listing) -> str:
    """Say which pairs the page lists."""
    pairs = int((result.permutation >= 0).sum())
    if not listing.sampled:
        return f"All {count(pairs, 'pair')} are listed." if pairs != 1 else "The pair is listed."
    kept = listing.rows.size - listing.sampled
    left = f" (the least confident of {listing.doubtful:,})" if listing.doubtful > kept else ""
    return (
        f"Of {pairs:,} pairs this page lists {listing.rows.size:,}: {kept:,} doubtful ones{left}, and "
        f"{listing.sampled:,} of the others, drawn at random."
    )


def facts(result: MatchResult, diagnosis: Diagnosis | None) -> list[tuple[str, str]]:
    """List scale, shift and what was estimated or chosen."""
    scale = number(result.scale) if result.column_map is None else "one for each column"
    if diagnosis is not None and not math.isnan(diagnosis.scale_error):
        scale += f", standard error {diagnosis.scale_error:.2g}"
    rows = [
        ("scale", scale),
        *_map_facts(result, diagnosis),
        ("objective", f"{number(result.objective)} ({result.criterion})"),
        ("noise", "isotropic" if result.covariance is None else result.covariance.origin),
    ]
    if diagnosis is not None:
        rows.append(("verdict", diagnosis.verdict))
        rows.append(
            ("separation", f"{number(diagnosis.separation)}, noise floor {number(diagnosis.noise_floor)}")
        )
    rows += [("chosen", line) for line in result.decisions]
    return rows


def _map_facts(result: MatchResult, diagnosis: Diagnosis | None) -> list[tuple[str, str]]:
    """List the shift, or the scale and the shift of each column."""
    report = None if diagnosis is None else diagnosis.columns_report
    if result.column_map is None and report is None:
        return [("shift", abridged(result.shift))]
    facts = []
    for name, scale, *rest in column_table(result.columns, result.map, report).rows:
        if report is None:
            facts.append((f"column {name}", f"scale {scale}, shift {rest[0]}"))
        else:
            text = f"scale {scale} (standard error {rest[0]}), shift {rest[1]} ({rest[2]}), noise {rest[3]}"
            facts.append((f"column {name}", f"{text}: {rest[4]}" if rest[4] else text))
    return facts
