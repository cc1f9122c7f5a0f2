"""How time grows with the number of points, for the library and for the peers up to where they stop."""

import csv
from typing import NamedTuple

import numpy as np

from tests.benchmarks import isolated
from tests.benchmarks.instances import Case

SIZES = (1000, 2000, 5000, 10_000, 20_000, 50_000)
DIMENSION = 20
GROWTH_KINDS = ("above", "nosignal")


class Point(NamedTuple):
    """One measurement: seconds and peak memory, or why there are none ("time" or "memory")."""

    kind: str
    contestant: str
    n: int
    seconds: float | None
    peak_bytes: int | None
    failure: str | None


def measure(contestants, sizes, limit, report):
    """Time each contestant at growing sizes, each in its own process, until it fails.

    `limit` is in seconds, for one process; `report` is called with each point as it comes.
    """
    points = []
    for kind in GROWTH_KINDS:
        for contestant in contestants:
            for n in sizes:
                case = Case(kind, n, DIMENSION)
                outcome = isolated.call("tests.benchmarks.trial:try_once", case, contestant, seconds=limit)
                seconds, peak = outcome.value or (None, None)
                points.append(Point(kind, contestant, n, seconds, peak, outcome.failure))
                report(points[-1])
                if outcome.failure:
                    break
    return points


def exponent(points):
    """Fit the p of seconds = c n**p by least squares in logarithms; None for fewer than two points."""
    measured = [(point.n, point.seconds) for point in points if point.seconds is not None]
    if len(measured) < 2:
        return None
    n, seconds = np.log(np.array(measured)).T
    return float(np.polyfit(n, seconds, 1)[0])


def series(points):
    """Group points by kind and contestant, in the order in which they came."""
    grouped = {}
    for point in points:
        grouped.setdefault((point.kind, point.contestant), []).append(point)
    return grouped


def write_points(path, points):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(Point._fields)
        writer.writerows(points)
