"""Pictures of a match, by matplotlib: the points before and after, what is doubtful, the scales searched.

Each function draws on the axes `ax`, on new ones if there are none, and returns them. Sets and doubtful pairs
differ in shape and width as well as in colour, so that a print in grey can be read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lslmatch._optional import load
from lslmatch._types import FloatArray, IntArray
from lslmatch._validation import check_matching, check_point_pair
from lslmatch.diagnosis.columns import has_units, in_common_units
from lslmatch.diagnosis.outcome import DOUBTFUL, Diagnosis
from lslmatch.geometry.plane import midpoints, principal_plane
from lslmatch.matching_path import MatchPath
from lslmatch.results import MatchResult

#: Okabe and Ito's colours, which colour-blind readers can tell apart.
FIRST, SECOND, DOUBT, INK = "#0072b2", "#e69f00", "#d55e00", "#333333"

#: From this number of points on, a picture holds pixels instead of shapes.
_MANY = 2_000


def points(x: Any, y: Any, result: MatchResult | None = None, *, ax: Any = None) -> Any:
    """Draw both sets as they came, in the first two principal components of x or of the pairs.

    Parameters
    ----------
    x, y : array_like of shapes (n, d) and (m, d)
        The two sets. With d = 2 their coordinates are drawn, and with d = 1 one set above the other.
    result : MatchResult, optional
        What :func:`match` returned for them: then the components are those of :func:`pairs`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    x, y = check_point_pair(x, y, *(() if result is None else (result.matrix_map, result.columns)))
    ax = _axes(ax)
    a, b = _places(x if result is None else midpoints(x, y, result), x, y)
    _scatter(ax, a, "o", FIRST, f"x: {len(x):,} points")
    _scatter(ax, b, "s", SECOND, f"y: {len(y):,} points", hollow=True)
    return _finish_plane(ax, x.shape[1], "as they came", "x" if result is None else "the pairs")


def pairs(
    x: Any,
    y: Any,
    result: MatchResult,
    diagnosis: Diagnosis | None = None,
    *,
    below: float = DOUBTFUL,
    ax: Any = None,
) -> Any:
    """Draw x and the mapped y with a line for each pair, in the first two principal components of the pairs.

    These are the directions in which the midpoints of the pairs spread most: those of x alone would also be
    the directions of its noise.

    Parameters
    ----------
    x, y : array_like of shapes (n, d) and (m, d)
        The sets that were matched.
    result : MatchResult
        What :func:`match` returned for them.
    diagnosis : Diagnosis, optional
        What :func:`diagnose` said of it: doubtful pairs get a thick line and a ring.
    below : float, default 0.9
        Pairs with a lower confidence are doubtful.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    x, y = check_point_pair(x, y, result.matrix_map, result.columns)
    partner = check_matching(result.permutation, "result.permutation", len(x), len(y), partial=True)
    ax = _axes(ax)
    if has_units(result):
        x, y, result = in_common_units(x, y, result)
    a, b = _places(midpoints(x, y, result), x, result.transform(y))
    matched = np.flatnonzero(partner >= 0)
    doubtful = np.zeros(len(x), np.bool_)
    if diagnosis is not None and diagnosis.confidence is not None:
        doubtful[diagnosis.doubtful(below)] = True
    sure, doubted = matched[~doubtful[matched]], matched[doubtful[matched]]
    _join(ax, a, b, sure, partner, INK, 0.7, f"{matched.size:,} pairs")
    _scatter(ax, a, "o", FIRST, "x")
    _scatter(ax, b, "s", SECOND, "y, mapped onto x", hollow=True)
    if doubted.size:
        _join(
            ax, a, b, doubted, partner, DOUBT, 2.2, f"{doubted.size:,} doubtful, confidence below {below:g}"
        )
        ax.scatter(*a[doubted].T, s=90, facecolors="none", edgecolors=INK, linewidths=1.2, zorder=5)
    alone = np.flatnonzero(partner < 0)
    if alone.size:
        ax.scatter(*a[alone].T, marker="x", s=45, c=INK, zorder=4, label=f"{alone.size:,} of x alone")
    alone = np.setdiff1d(np.arange(len(y)), partner)
    if alone.size:
        ax.scatter(*b[alone].T, marker="+", s=60, c=INK, zorder=4, label=f"{alone.size:,} of y alone")
    outside = _look_at(ax, np.concatenate([a[matched], b[partner[matched]]]), np.concatenate([a, b]))
    title = f"after matching, {outside:,} points far outside" if outside else "after matching"
    return _finish_plane(ax, x.shape[1], title, "the pairs")


def confidences(diagnosis: Diagnosis, *, below: float = DOUBTFUL, ax: Any = None) -> Any:
    """Draw the confidences of all pairs, the least confident first.

    Parameters
    ----------
    diagnosis : Diagnosis
        What :func:`diagnose` returned.
    below : float, default 0.9
        Pairs with a lower confidence are marked as doubtful.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    if diagnosis.confidence is None:
        raise ValueError("there are no confidences: the pairs are greedy, or too many for them")
    ax = _axes(ax)
    order = _ascending(diagnosis.confidence)
    _curve(ax, diagnosis.confidence[order], diagnosis.confidence[order] < below, below)
    ax.axhline(below, color=INK, linestyle="--", linewidth=0.8)
    ax.set(xlabel="pairs, the least confident first", ylabel="confidence", ylim=(-0.03, 1.03))
    ax.set_title(f"{100 * diagnosis.expected_right:.1f} % of the pairs are expected to be right")
    return ax


def margins(diagnosis: Diagnosis, *, below: float = DOUBTFUL, ax: Any = None) -> Any:
    """Draw the margins of all pairs, the smallest first: what forbidding a pair would cost.

    Parameters
    ----------
    diagnosis : Diagnosis
        What :func:`diagnose` returned.
    below : float, default 0.9
        Pairs with a lower confidence are marked as doubtful.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    if diagnosis.margin is None:
        raise ValueError("there are no margins: greedy pairs minimise nothing")
    ax = _axes(ax)
    order = _ascending(diagnosis.margin)
    doubtful = np.zeros(order.size, np.bool_)
    if diagnosis.confidence is not None:
        doubtful = diagnosis.confidence[order] < below
    _curve(ax, diagnosis.margin[order], doubtful, below)
    ax.set_yscale("symlog", linthresh=0.1)  # a margin may be 0
    ax.set(
        xlabel="pairs, the smallest margin first",
        ylabel="margin",
        ylim=(min(0.0, diagnosis.margin[order[0]]), None),
    )
    ax.set_title("what it costs to forbid a pair")
    return ax


def profile(result: MatchResult, *, ax: Any = None) -> Any:
    """Draw the profile likelihood over the window of scales that was searched.

    Parameters
    ----------
    result : MatchResult
        What :func:`match` returned, with alignment "profile" or "auto".
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    if result.profile is None:
        raise ValueError("there is no profile likelihood: match with alignment='profile' or 'auto'")
    ax = _axes(ax)
    scale, value = result.profile.scale, result.profile.value - result.profile.value.min()
    ax.plot(scale, value, ".-", color=FIRST, markersize=4, linewidth=1.2, label="above its least value")
    for end in (scale[0], scale[-1]):
        ax.axvline(end, color=INK, linestyle=":", linewidth=1)
    ax.axvline(result.scale, color=DOUBT, linestyle="--", linewidth=1.2)
    ax.plot([], [], color=INK, linestyle=":", linewidth=1, label="the window that was searched")
    ax.plot([], [], color=DOUBT, linestyle="--", linewidth=1.2, label=f"scale {result.scale:.5g}")
    ax.set(xlabel="scale", ylabel="profile likelihood, as a cost")
    ax.set_title("the scales that were searched")
    return _legend_below(ax)


def path(path: MatchPath, *, ax: Any = None) -> Any:
    """Draw what each further pair adds to the least cost: it rises where true pairs end.

    Parameters
    ----------
    path : MatchPath
        What :func:`match_path` returned.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes unless given.

    Returns
    -------
    matplotlib.axes.Axes
        Where it was drawn.
    """
    ax = _axes(ax)
    number = np.arange(1, path.increments.size + 1)
    ax.plot(number, path.increments, ".-", color=FIRST, markersize=4, linewidth=1, label="each further pair")
    if path.chosen is not None:
        ax.axvline(
            path.chosen, color=DOUBT, linestyle="--", linewidth=1.2, label=f"{path.chosen:,} pairs chosen"
        )
    ax.set(xlabel="number of pairs", ylabel=f"what the pair adds to the objective ({path.first.criterion})")
    ax.set_title("where pairs cease to be good")
    return _legend_below(ax)


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    return load("matplotlib.pyplot", "plot", "lslmatch.plot").subplots(layout="constrained")[1]


def _places(wide: FloatArray, *sets: FloatArray) -> list[FloatArray]:
    """Give the places of both sets in the plane where `wide` spreads; if d = 1, one set above the other."""
    plane = principal_plane(wide)
    places = [plane.places(points) for points in sets]
    if wide.shape[1] == 1:
        for height, points in enumerate(places):
            points[:, 1] = height
    return places


def _scatter(ax: Any, places: FloatArray, marker: str, colour: str, label: str, hollow: bool = False) -> None:
    size = float(np.clip(6000 / len(places), 3, 22))
    face = {"facecolors": "none", "edgecolors": colour} if hollow else {"c": colour, "linewidths": 0}
    wide = {"linewidths": 0.9} if hollow else {}
    many = len(places) > _MANY
    alpha = 0.6 if many else 1.0
    ax.scatter(
        *places.T, s=size, marker=marker, label=label, alpha=alpha, zorder=3, rasterized=many, **face, **wide
    )


def _join(
    ax: Any,
    a: FloatArray,
    b: FloatArray,
    rows: IntArray,
    partner: IntArray,
    colour: str,
    width: float,
    label: str,
) -> None:
    lines = load("matplotlib.collections", "plot", "lslmatch.plot").LineCollection(
        np.stack([a[rows], b[partner[rows]]], axis=1),
        colors=colour,
        linewidths=width,
        label=label,
        zorder=2 if width < 1 else 4,
        rasterized=rows.size > _MANY,
    )
    ax.add_collection(lines)


def _look_at(ax: Any, pairs: FloatArray, everything: FloatArray) -> int:
    """Show the pairs and what is near them, so that one wild point does not hide them; count the others."""
    if not len(pairs):
        return 0
    low, high = pairs.min(axis=0), pairs.max(axis=0)
    reach = (high - low).max()
    near = ((everything >= low - reach) & (everything <= high + reach)).all(axis=1)
    if near.all() or not reach > 0:
        return 0
    margin = 0.05 * reach
    ax.set_xlim(everything[near, 0].min() - margin, everything[near, 0].max() + margin)
    ax.set_ylim(everything[near, 1].min() - margin, everything[near, 1].max() + margin)
    return int(np.count_nonzero(~near))


def _finish_plane(ax: Any, d: int, title: str, wide: str) -> Any:
    if d == 1:
        ax.set(xlabel="value", yticks=[0, 1], yticklabels=["x", "y"])
    else:
        kind = "coordinate" if d == 2 else f"principal component of {wide}"
        ax.set(xlabel=f"first {kind}", ylabel=f"second {kind}")
        ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(title)
    return _legend_below(ax)


def _legend_below(ax: Any) -> Any:
    """Put the legend where it hides nothing."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize="small", frameon=False)
    return ax


def _ascending(values: FloatArray) -> IntArray:
    """Give the order from the least to the greatest, without NaN."""
    order = np.argsort(values, kind="stable")
    return order[~np.isnan(values[order])]


def _curve(ax: Any, values: FloatArray, doubtful: Any, below: float) -> None:
    place = np.arange(1, values.size + 1)
    many = values.size > _MANY
    ax.plot(place[~doubtful], values[~doubtful], "o", color=FIRST, markersize=3, rasterized=many)
    if doubtful.any():
        label = f"{int(doubtful.sum()):,} doubtful, confidence below {below:g}"
        ax.plot(place[doubtful], values[doubtful], "X", color=DOUBT, markersize=6, label=label)
        ax.legend(loc="lower right", fontsize="small", frameon=False)
    if values.size > 200:  # the few doubtful ones among many
        ax.set_xscale("log")
