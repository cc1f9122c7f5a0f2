"""What very large matchings would take, from measured constants: ``python -m tests.benchmarks.scale``.

Each stage is measured in core-seconds at a few sizes. Two models are fitted to some
of the sizes and compared with the others: the expected power of n with one constant, and a power of n that is
fitted as well. Both are then carried to sizes that nobody measured; their disagreement is part of the answer.
"""

import argparse
import ctypes
import json
import math
import os
import re
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial import KDTree

import lslmatch
from tests.benchmarks import isolated, record
from tests.benchmarks.instances import Case, draw

DIMENSION = 10
#: Sizes by kind of data: those that are fitted on, and those that are not.
FITTED = {"above": (8000, 16_000, 32_000, 64_000), "nosignal": (2000, 4000, 8000, 10_000, 14_000)}
CHECKED = {"above": (12_000, 48_000, 100_000, 10**6), "nosignal": (6000, 12_000, 16_000, 24_000)}
TARGETS = (10**6, 10**8)
#: Below this number of points distances are kept, so that memory follows another law.
STREAMED = 8193
#: The certificate looks at every pair: it is measured up to this number of points only.
CERTIFIED = 32_000
#: Money for one core for one hour: an assumption to be replaced by one's own.
PRICE = 0.05


class Stage(NamedTuple):
    """A part of the work, the data it was measured on, and the power of n that its design lets expect."""

    name: str
    kind: str
    power: float


STAGES = {
    "pass": Stage("`match`, above the noise floor", "above", 1.5),
    "solve": Stage("`match`, no signal at all", "nosignal", 2.0),
    "certificate": Stage("`check_certificate`", "above", 2.0),
    "tree": Stage("nearest partners by a k-d tree (SciPy)", "above", 1.0),
}


class Law(NamedTuple):
    """seconds = constant * n ** power."""

    constant: float
    power: float

    def __call__(self, n):
        return self.constant * n**self.power


# -------------------------------------------------------------------------------- measuring


def measure_kind(kind, sizes):
    """Measure one kind of data at growing sizes: core-seconds of each stage, and the memory of `match`."""
    points = []
    for n in sizes:
        x, y = draw(Case(kind, n, DIMENSION))
        if not points:
            lslmatch.match(x, y)  # loads what was compiled
        before = _reset_peak()
        seconds, result = _core_seconds(lambda x=x, y=y: lslmatch.match(x, y))
        memory = None if before is None else _status("VmHWM") - before
        point = {"kind": kind, "n": n, "bytes": memory}
        points.append(point | _stages(kind, x, y, result, seconds))
    return points


def _stages(kind, x, y, result, seconds):
    if kind == "nosignal":
        return {"solve": seconds}
    aligned = result.scale * y + result.shift
    found = {"pass": seconds, "tree": _core_seconds(lambda: KDTree(aligned).query(x))[0]}
    if len(x) <= CERTIFIED:
        found["certificate"] = _core_seconds(lambda: lslmatch.check_certificate(x, y, result))[0]
    return found


def _core_seconds(call):
    """Time a call, twice where that is cheap, by processor time: other processes disturb that less."""
    least = math.inf
    for _ in range(2):
        start = time.process_time()
        value = call()
        least = min(least, time.process_time() - start)
        if least > 1.0:
            break
    return least, value


def _reset_peak():
    """Forget the process's peak memory and give what it holds; None where the system is not Linux."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back, so that it is counted when used again
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return _status("VmRSS")
    except (AttributeError, OSError):
        return None


def _status(field):
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.search(rf"{field}:\s+(\d+)", text).group(1))


def measure(limit):
    """Measure every stage at every size, one process for each kind of data."""
    points = []
    for kind in FITTED:
        sizes = sorted(FITTED[kind] + CHECKED[kind])
        outcome = isolated.call("tests.benchmarks.scale:measure_kind", kind, sizes, seconds=limit)
        if outcome.failure:
            raise RuntimeError(f"{kind}: ran out of {outcome.failure}")
        points += outcome.value
    return points


# -------------------------------------------------------------------------------- the model


def fit(n, seconds, power=None):
    """Fit a law by least squares in logarithms, with a given power or a free one."""
    n, seconds = np.log(np.asarray(n, float)), np.log(np.asarray(seconds, float))
    if power is None:
        power = float(np.polyfit(n, seconds, 1)[0])
    return Law(float(np.exp((seconds - power * n).mean())), power)


def laws(points, stage):
    """Give the law of the expected power and that of the fitted power, from the sizes that are fitted on."""
    fitted = FITTED[STAGES[stage].kind]
    n, seconds = zip(*((p["n"], p[stage]) for p in points if stage in p and p["n"] in fitted), strict=True)
    return fit(n, seconds, STAGES[stage].power), fit(n, seconds)


def bytes_per_point(points, kind):
    """Give the memory that `match` adds for each point where it keeps no distances; None if unknown."""
    found = [
        p["bytes"] / p["n"]
        for p in points
        if p["kind"] == kind and p["n"] in FITTED[kind] and p["n"] >= STREAMED and p["bytes"] is not None
    ]
    return float(np.mean(found)) if found else None


# -------------------------------------------------------------------------------- tables


def tables(points, price=PRICE):
    """Lay out the laws, the checks on sizes that were not fitted on, and the projections, in Markdown."""
    parts = [_law_table(points), _check_table(points), _memory_table(points)]
    return "\n".join([*parts, _projection_table(points, price)])


def _law_table(points):
    lines = ["| stage | expected power of n | constant, ns | fitted power of n |", "|---|---|---|---|"]
    for key, stage in STAGES.items():
        expected, free = laws(points, key)
        lines.append(
            f"| {stage.name} | {expected.power:g} | {_short(1e9 * expected.constant)} | {free.power:.2f} |"
        )
    return "\n".join(lines) + "\n"


def _check_table(points):
    lines = ["| stage | n | measured, s | expected power | fitted power |", "|---|---|---|---|---|"]
    for key, stage in STAGES.items():
        for point in points:
            if key in point and point["n"] in CHECKED[stage.kind]:
                told = " | ".join(_off(law(point["n"]) / point[key]) for law in laws(points, key))
                lines.append(f"| {stage.name} | {point['n']:,} | {point[key]:.3g} | {told} |")
    return "\n".join(lines) + "\n"


def _memory_table(points):
    lines = ["| memory | bytes for each point | n | off |", "|---|---|---|---|"]
    for stage in (STAGES["pass"], STAGES["solve"]):
        told = bytes_per_point(points, stage.kind)
        for point in points:
            checked = point["kind"] == stage.kind and point["n"] in CHECKED[stage.kind]
            seen = point["bytes"] if checked else None
            if told is not None and seen is not None and point["n"] >= STREAMED:
                ratio = told * point["n"] / seen
                lines.append(f"| {stage.name} | {told:,.0f} | {point['n']:,} | {_off(ratio)} |")
    return "\n".join(lines) + "\n"


def _off(ratio):
    return f"{100 * (ratio - 1):+.0f} %"


def _projection_table(points, price):
    lines = ["| stage | n | core-hours | money | memory |", "|---|---|---|---|---|"]
    for key, stage in STAGES.items():
        memory = bytes_per_point(points, stage.kind) if key in ("pass", "solve") else None
        for n in TARGETS:
            hours = sorted(law(n) / 3600 for law in laws(points, key))
            room = "" if memory is None else f"{_short(memory * n / 1e9)} GB"
            money = _span([price * value for value in hours])
            lines.append(f"| {stage.name} | {n:,} | {_span(hours)} | {money} | {room} |")
    return "\n".join(lines) + "\n"


def _span(values):
    low, high = map(_short, values)
    return low if low == high else f"{low} to {high}"


def _short(value):
    """Write a number with two digits, and what is next to nothing as that."""
    if value < 0.01:
        return "< 0.01"
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


# -------------------------------------------------------------------------------- the command


def main(arguments=None):
    """Measure and print the tables, or print them again from what was measured."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.scale", description=__doc__)
    parser.add_argument("--table", action="store_true", help="measure nothing: print the stored run's tables")
    parser.add_argument(
        "--price", type=float, default=PRICE, help="money for a core-hour (default: %(default)s)"
    )
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for one kind of data")
    path = Path(__file__).resolve().parent / "results" / "scale.json"
    parser.add_argument("--file", type=Path, default=path, help="where the measurements are kept")
    options = parser.parse_args(arguments)
    if not options.table:
        load = os.getloadavg()[0]
        points = measure(options.limit)
        kept = record.circumstances(load) | {"points": points}
        options.file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(tables(json.loads(options.file.read_text(encoding="utf-8"))["points"], options.price))
    return 0


if __name__ == "__main__":
    sys.exit(main())
