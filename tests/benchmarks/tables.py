"""Tables in Markdown: every case for the one who runs the benchmarks, and one row a kind for the README."""

from tests.benchmarks.instances import KINDS, MATRICES, POINTS
from tests.benchmarks.peers import OURS, PEERS, PRODUCT, PRODUCT_IN_PLACE
from tests.benchmarks.plan import FACTOR
from tests.benchmarks.ratios import best_peer, product_multiple, ratio, summary


def case_table(seconds, baseline, surveys):
    """Give one row a case: both times, the ratio, the baseline's, and the peers that were left out."""
    rows = [["case", "lslmatch", "best peer", "its time", "ratio", "baseline", "change", "not repeated"]]
    for case, times in seconds.items():
        now, then = ratio(times), ratio(baseline[case]) if case in baseline else None
        rows.append(
            [
                case.name,
                _time(times[OURS]),
                best_peer(times),
                _time(times[best_peer(times)]),
                f"{now:.2f}",
                f"{then:.2f}" if then else "none",
                f"{100 * (now / then - 1):+.0f} %" if then else "",
                _left_out(times, surveys.get(case, {})),
            ]
        )
    return markdown(rows) + (
        f"\n\nNot repeated: peers that the survey found slower than {FACTOR:g} times the best one, "
        "with the time that it found, or stopped.\n"
    )


def _left_out(times, survey):
    left = [name for name in survey if name in PEERS and name not in times]
    return ", ".join(f"{n} ({'stopped' if survey[n] is None else _time(survey[n])})" for n in left)


def ratio_tables(seconds):
    """Give the ratios with one row a kind and one column a size, and the products."""
    parts = []
    for group, kinds, title in (
        ("match", POINTS, "point sets"),
        ("dense", MATRICES, "cost matrix"),
    ):
        cases = [case for case in seconds if case.group == group]
        sizes = sorted({case.n for case in cases})
        rows = [[title, *(["d"] if group == "match" else []), *(f"n = {n:,}" for n in sizes)]]
        for kind in kinds:
            for d in sorted({case.d for case in cases if case.kind == kind}):
                at = {case.n: ratio(seconds[case]) for case in cases if case.kind == kind and case.d == d}
                cells = [f"{at[n]:.1f}" if n in at else "" for n in sizes]
                rows.append([KINDS[kind], *([str(d)] if d else []), *cells])
        if cases:
            parts.append(markdown(rows))
    others = [case for case in seconds if case.group == "other"]
    if others:
        rows = [["other point sets", "objective", "d", "n", "m", "ratio"]]
        rows += [
            [KINDS[c.kind], c.objective, str(c.d), f"{c.n:,}", f"{c.m or c.n:,}", f"{ratio(seconds[c]):.1f}"]
            for c in others
        ]
        parts.append(markdown(rows))
    products = [case for case in seconds if PRODUCT in seconds[case]]
    if products:
        rows = [["match over one product of the sets", "d", "n", "product allocated", "into memory held"]]
        rows += [
            [
                KINDS[case.kind],
                str(case.d),
                f"{case.n:,}",
                f"{product_multiple(seconds[case]):.2f}",
                f"{product_multiple(seconds[case], PRODUCT_IN_PLACE):.2f}",
            ]
            for case in products
        ]
        parts.append(markdown(rows))
    return "\n\n".join(parts) + "\n"


def summary_lines(seconds):
    summed = summary(seconds)
    lines = [
        f"{label}: geometric mean {summed[group]['mean']:.2f}, worst {summed[group]['worst']:.2f} "
        f"over {summed[group]['cases']} instances"
        for group, label in (
            ("match", "match()"),
            ("dense", "linear_sum_assignment()"),
            ("other", "match() on other sets and objectives"),
        )
        if group in summed
    ]
    for product, label in ((PRODUCT, "allocated"), (PRODUCT_IN_PLACE, "into memory held")):
        if product in summed:
            lines.append(
                f"match() above the floor over one matrix product ({label}): mean "
                f"{summed[product]['mean']:.2f}, most {summed[product]['worst']:.2f}"
            )
    return "\n".join(lines)


def _time(seconds):
    return f"{1e3 * seconds:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def markdown(rows):
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)
