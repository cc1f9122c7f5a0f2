"""What the script of a page works with: the listed pairs as columns of numbers and words, in JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from lslmatch._types import FloatArray
from lslmatch.diagnosis.columns import has_units, in_common_units, units_of
from lslmatch.diagnosis.outcome import DOUBTFUL, Diagnosis
from lslmatch.geometry.distances import pair_distances
from lslmatch.geometry.plane import midpoints, principal_plane
from lslmatch.report.listing import Listing
from lslmatch.results import Labels, MatchResult

#: Coordinates shown of a pair, at most: those that differ most.
MOST_COORDINATES = 40
#: Numbers in a page, at most: the coordinates of the least confident pairs first.
_MOST_NUMBERS = 100_000
#: So many points without a partner are drawn, of each set.
_MOST_ALONE = 2_000


def page_data(
    x: FloatArray,
    y: FloatArray,
    result: MatchResult,
    diagnosis: Diagnosis | None,
    listing: Listing,
    columns: tuple[str, ...] | None,
) -> dict[str, Any]:
    """Gather what is drawn, listed and shown of the pairs."""
    rows, partner = listing.rows, result.permutation[listing.rows]
    labels = result.labels or Labels(None, None)
    found: dict[str, Any] = {
        "x": rows.tolist(),
        "y": partner.tolist(),
        "xLabel": _words(labels.x, rows),
        "yLabel": _words(labels.y, partner),
        "distance": _digits(pair_distances(x, y, result.map, rows, partner, units_of(result))),
        "below": DOUBTFUL,
    }
    for name in ("confidence", "margin"):
        values = None if diagnosis is None else getattr(diagnosis, name)
        found[name] = None if values is None else _digits(values[rows])
    return found | _places(x, y, result, rows) | _coordinates(x, y, result, diagnosis, listing, columns)


def as_script(data: Any) -> str:
    """Give JSON that cannot end the script element in which it stands, whatever words are in it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _places(x: FloatArray, y: FloatArray, result: MatchResult, rows: Any) -> dict[str, Any]:
    """Give the places of the points in the plane of the pairs, and how y lay before it was mapped."""
    if has_units(result):
        x, y, result = in_common_units(x, y, result)
    plane = principal_plane(midpoints(x, y, result))._replace(centre=x.mean(axis=0))
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = plane.places(x), plane.places(result.transform(y))
        # A place of the mapped y is scale * (its place before) + offset.
        offset = (plane.axes @ result.shift) + (result.scale - 1.0) * (plane.axes @ plane.centre)
    if x.shape[1] == 1:
        b[:, 1] = np.ptp(x) or 1.0
        offset[1] = (1.0 - result.scale) * b[0, 1]
    alone_x = np.flatnonzero(result.permutation < 0)[:_MOST_ALONE]
    alone_y = np.setdiff1d(np.arange(len(y)), result.permutation)[:_MOST_ALONE]
    return {
        "xPlace": _digits(a[rows].ravel()),
        "yPlace": _digits(b[result.permutation[rows]].ravel()),
        "xAlone": _digits(a[alone_x].ravel()),
        "yAlone": _digits(b[alone_y].ravel()),
        "xAloneLabel": _words(None if result.labels is None else result.labels.x, alone_x)
        or alone_x.tolist(),
        "yAloneLabel": _words(None if result.labels is None else result.labels.y, alone_y)
        or alone_y.tolist(),
        "scale": result.scale,
        "offset": _digits(offset),
        "dimension": x.shape[1],
    }


def _coordinates(
    x: FloatArray,
    y: FloatArray,
    result: MatchResult,
    diagnosis: Diagnosis | None,
    listing: Listing,
    columns: tuple[str, ...] | None,
) -> dict[str, Any]:
    """Give both rows of as many pairs as there is room for, in the units of x."""
    shown = min(x.shape[1], MOST_COORDINATES)
    order = np.arange(listing.rows.size)
    if diagnosis is not None and diagnosis.confidence is not None:
        order = np.argsort(diagnosis.confidence[listing.rows], kind="stable")
    order = np.sort(order[: _MOST_NUMBERS // (3 * shown)])
    details = {}
    for k in order.tolist():
        i = listing.rows[k]
        first, second = x[i], result.transform(y[result.permutation[i]][None])[0]
        # The difference apart: of values with a large common offset, rounded ones differ by nothing.
        difference = first - second
        which = np.sort(np.argsort(-np.abs(difference), kind="stable")[:shown])
        detail = [_digits(first[which], 6), _digits(second[which], 6), _digits(difference[which])]
        details[str(k)] = detail if shown == x.shape[1] else [*detail, which.tolist()]
    return {"columns": None if columns is None else list(columns), "details": details}


def _words(labels: Any, rows: Any) -> list[str] | None:
    """Give labels as text that every encoding has."""
    if labels is None:
        return None
    return [
        str(label).encode("utf-8", "backslashreplace").decode() for label in np.asarray(labels)[rows].tolist()
    ]


def _digits(values: FloatArray, digits: int = 5) -> list[float | None]:
    """Give numbers of a few digits, and null for what JSON has no number for."""
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values.tolist()]
