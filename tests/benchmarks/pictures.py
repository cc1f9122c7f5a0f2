"""The pictures: growth with n, and the history of the ratios. Legible in grey, labelled in words."""

import contextlib

from tests.benchmarks.growth import DIMENSION, exponent, series
from tests.benchmarks.instances import KINDS
from tests.benchmarks.peers import OURS

#: Colours that colour-blind readers tell apart and whose greys differ; markers and dashes say it again.
_STYLES = {
    "lslmatch": {"color": "#000000", "marker": "o", "linestyle": "-", "linewidth": 2.4},
    "scipy": {"color": "#0072b2", "marker": "s", "linestyle": "--"},
    "lapx": {"color": "#d55e00", "marker": "^", "linestyle": "-."},
    "lapjv": {"color": "#999999", "marker": "D", "linestyle": ":"},
}
_FAILURES = {"memory": "out of memory", "time": "over the time limit"}


def draw_growth(points, folder):
    """Draw seconds against n, one panel a kind; the legend says how each series grows and why it ends."""
    with _figure(folder, "growth", panels=2) as panels:
        kinds = list(dict.fromkeys(point.kind for point in points))
        for panel, kind in zip(panels, kinds, strict=True):
            for (of, name), run in series(points).items():
                if of == kind:
                    _draw_series(panel, name, run)
            panel.set(xscale="log", yscale="log", xlabel="points in each set, n")
            panel.set_title(f"{KINDS[kind]}, d = {DIMENSION}".capitalize())
            _label_sizes(panel, sorted({point.n for point in points}))
            _legend_below(panel, columns=1)
        panels[0].set_ylabel("seconds for one matching")


def _draw_series(panel, name, run):
    measured = [point for point in run if point.seconds is not None]
    if not measured:
        return
    power = exponent(run)
    label = name if name == OURS else f"{name} pipeline"
    if power is not None:
        label += f": grows as n to the {power:.1f}"
    if run[-1].failure:
        label += f"; {_FAILURES[run[-1].failure]} at {run[-1].n:,} points"
    n, seconds = [point.n for point in measured], [point.seconds for point in measured]
    panel.plot(n, seconds, label=label, zorder=3 if name == OURS else 2, **_STYLES[name])


def _label_sizes(panel, sizes):
    panel.set_xticks(sizes, [f"{n:,}" for n in sizes])
    panel.set_xticks([], minor=True)
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.yaxis.set_minor_formatter(lambda value, _: "")
    panel.grid(True, which="major", color="#dddddd")


def draw_history(lines, folder):
    """Draw the mean ratios and the start-up times of all runs over the full catalogue, in their order.

    As long as there are none, of the quick runs.
    """
    runs = [line for line in lines if line["selection"] == "full"]
    runs = runs or [line for line in lines if line["startup"]]
    with _figure(folder, "history", panels=2) as panels:
        order = range(len(runs))
        ratios, starts = panels
        for group, label, style in (("match", "match()", "-"), ("dense", "linear_sum_assignment()", "--")):
            found = [(k, runs[k]["summary"][group]) for k in order if group in runs[k]["summary"]]
            at = [k for k, _ in found]
            for value, words, marker in (("mean", "geometric mean", "o"), ("worst", "worst case", "v")):
                color = "#000000" if group == "match" else "#d55e00"
                heights = [group_summary[value] for _, group_summary in found]
                width = 2.0 if value == "mean" else 1.0
                ratios.plot(
                    at, heights, style, marker=marker, color=color, linewidth=width, label=f"{label}, {words}"
                )
        ratios.axhline(1.0, color="#777777", linewidth=1, linestyle=":")
        ratios.set(yscale="log", ylabel="best peer's time over ours (higher is better)")
        ratios.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ratios.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if str(value)[0] in "25" else "")
        ratios.set_title("Speed beside the best other pipeline")
        for what, marker, style in (
            ("compilation", "o", "-"),
            ("first small match, cold", "s", "--"),
            ("first small match, warm", "^", ":"),
            ("import lslmatch", "D", "-."),
        ):
            seconds = [run["startup"][what] for run in runs]
            starts.plot(order, seconds, style, marker=marker, color="#000000", label=what)
        starts.set(yscale="log", ylabel="seconds (lower is better)")
        starts.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        starts.set_title("Time to the first answer")
        for panel in panels:
            panel.set_xticks(order, [f"{run['date'][:10]}\n{run['revision']}" for run in runs], fontsize=8)
            panel.grid(True, axis="y", color="#dddddd")
            panel.margins(x=0.1, y=0.15)
            _legend_below(panel)


def _legend_below(panel, columns=2):
    """Put the legend where it hides no line."""
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=columns, fontsize=9, frameon=False)


@contextlib.contextmanager
def _figure(folder, name, panels):
    """Open a row of panels and save it as ``name.svg`` and ``name.png``."""
    import matplotlib

    # Fixed names inside the SVG: the same data give the same file.
    settings = {"svg.hashsalt": name, "svg.fonttype": "path", "font.size": 10, "axes.axisbelow": True}
    with matplotlib.rc_context(settings):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5.6 * panels, 4.6), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure.subplots(1, panels, squeeze=False)[0]
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, metadata in (("svg", {"Date": None}), ("png", {})):
            figure.savefig(folder / f"{name}.{suffix}", dpi=150, bbox_inches="tight", metadata=metadata)
