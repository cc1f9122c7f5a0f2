"""The report's pictures, as self-contained SVG."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from verification.claims.outcomes import Outcome
from verification.engine.studies import CLAIM_ROLE
from verification.engine.tally import MULTIPLES
from verification.report.typesetting import greek
from verification.style import COLOURS, Sheet, draw_figure, svg


class Picture(NamedTuple):
    """A picture of a claim, in a form for a page and in one that stands alone."""

    inline: str
    """An SVG element without a legend."""
    legend: list[tuple[str, str]]
    """Colour and label of each curve, for the page to set in its own type."""
    alone: str
    """An SVG element with its legend."""


def draw(outcome: Outcome) -> Picture:
    """Draw a claim for the report."""
    inline, legend = _draw(outcome, with_legend=False)
    return Picture(svg(inline, outcome.claim.id), legend, svg(sheet(outcome), outcome.claim.id))


def sheet(outcome: Outcome) -> Sheet:
    """Draw a claim with its legend; a notebook shows it."""
    return _draw(outcome, with_legend=True)[0]


def _draw(outcome: Outcome, with_legend: bool) -> tuple[Sheet, list[tuple[str, str]]]:
    legend: list[tuple[str, str]] = []

    def draw_on(figure: Any) -> None:
        axes = figure.subplots()
        _PICTURES[outcome.claim.picture](axes, outcome)
        axes.set_xlabel(greek(outcome.claim.axes[0]))
        axes.set_ylabel(greek(outcome.claim.axes[1]))
        handles: Any
        handles, labels = axes.get_legend_handles_labels()
        legend.extend(
            (handle[0].get_color() if isinstance(handle, tuple) else handle.get_color(), label)
            for handle, label in zip(handles, labels, strict=True)
        )
        if with_legend and legend:
            figure.legend(handles, labels, loc="outside lower center", ncols=1 + (len(legend) > 3))

    return draw_figure(draw_on, (7.2, 4.4) if with_legend else (6.4, 3.4)), legend


def _survival(axes: Any, outcome: Outcome) -> None:
    """Draw the share of trials above each multiple of the bound; the dot is what the statement allows."""
    shown = [item for item in outcome.counts if item.cell.role == CLAIM_ROLE and item.tally.trials]
    smallest = 1.0
    for colour, (cell, tally, _) in zip(_cycle(len(shown)), shown, strict=True):
        rate = tally.columns[outcome.claim.column].above / tally.trials
        seen = rate > 0
        axes.plot(MULTIPLES[seen], rate[seen], color=colour, label=greek(cell.name))
        axes.plot([1], [cell.allowed], "o", color=colour, markersize=4.5)
        smallest = min(smallest, cell.allowed or 1.0, 1 / tally.trials)
    axes.axvline(1, color="#333333", linewidth=0.8, linestyle="--")
    axes.set(xscale="log", yscale="log", xlim=(0.05, 2), ylim=(smallest / 2, 1.3))
    axes.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2], ["0.05", "0.1", "0.2", "0.5", "1", "2"])


def _points(axes: Any, outcome: Outcome) -> None:
    """Draw means with three standard errors, and the fitted line."""
    curve = outcome.decision.curve
    x, y = np.array(curve["x"]), np.array(curve["y"])
    axes.errorbar(x, y, yerr=3 * np.array(curve["error"]), fmt="o", color=COLOURS[0], markersize=4, capsize=2)
    ends = np.array([x.min(), x.max()])
    line = np.exp(curve["intercept"]) * ends ** curve["slope"]
    axes.plot(ends, line, color=COLOURS[1], label=f"fitted slope {curve['slope']:.3f}")
    axes.set(xscale="log", yscale="log")


def _means(axes: Any, outcome: Outcome) -> None:
    """Draw observed over expected, with the interval that the test uses."""
    reach = outcome.decision.curve["reach"]
    rows = outcome.decision.cells
    for k, row in enumerate(rows):
        axes.errorbar(
            k, row["mean"], yerr=reach * row["standard_error"], fmt="o", color=COLOURS[0], capsize=3
        )
    axes.axhline(1, color="#333333", linewidth=0.8, linestyle="--")
    axes.set_xticks(range(len(rows)), [_wrapped(row["name"]) for row in rows], fontsize=7.5)
    axes.set_xlim(-0.5, len(rows) - 0.5)


def _bars(axes: Any, outcome: Outcome) -> None:
    """Draw each cell's observed rate, its upper limit and what is allowed."""
    rows = [row for row in outcome.decision.cells if not row["vacuous"]]
    for k, row in enumerate(rows):
        rate, upper = row["violations"] / row["trials"], row["upper_limit"]
        axes.plot([k, k], [rate, upper], color=COLOURS[0], linewidth=5, solid_capstyle="butt")
        axes.plot(k, rate, "o", color=COLOURS[0], markersize=5)
        axes.plot([k - 0.3, k + 0.3], [row["allowed"]] * 2, color=COLOURS[1], linewidth=2)
    axes.plot([], [], color=COLOURS[0], linewidth=5, label="observed rate to its upper limit")
    axes.plot([], [], color=COLOURS[1], linewidth=2, label="allowed")
    axes.set_xticks(range(len(rows)), [_wrapped(row["name"]) for row in rows], fontsize=7)
    axes.set(xlim=(-0.5, len(rows) - 0.5), ylim=(-0.02, 1.05))


def _thresholds(axes: Any, outcome: Outcome) -> None:
    """Draw the success curve of each noise ratio, and its threshold with the interval."""
    groups = outcome.decision.curve["groups"]
    for k, (colour, group) in enumerate(zip(_cycle(len(groups)), groups, strict=True)):
        key = (group["family"], group["noise_ratio"])
        rows = [
            row
            for row in outcome.decision.cells
            if (row["parameters"]["family"], row["parameters"]["noise_ratio"]) == key
        ]
        rows.sort(key=lambda row: row["parameters"]["separation"])
        label = f"{group['family']}, noise ratio {group['noise_ratio']:.3g}: {group['threshold']:.2f}"
        x = [row["parameters"]["separation"] for row in rows]
        axes.plot(x, [row["mean"] for row in rows], "o-", color=colour, markersize=3.5, label=label)
        height = 0.5 + 0.025 * (k - (len(groups) - 1) / 2)  # near one half
        axes.plot(group["interval"], [height] * 2, color=colour, linewidth=3)
    axes.set_xscale("log")
    ticks = sorted({row["parameters"]["separation"] for row in outcome.decision.cells})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(ylim=(-0.02, 1.02), yticks=[0, 0.25, 0.5, 0.75, 1])


_PICTURES: dict[str, Callable[[Any, Outcome], None]] = {
    "survival": _survival,
    "points": _points,
    "means": _means,
    "bars": _bars,
    "thresholds": _thresholds,
}


def _cycle(count: int) -> list[str]:
    return [COLOURS[k % len(COLOURS)] for k in range(count)]


def _wrapped(name: str) -> str:
    """Break a cell's name so that neighbours do not overlap."""
    return greek(name).replace(" ", "\n")
