"""What distributes, and what it sends: ``python -m tests.benchmarks.distribution``.

A cluster is played by this process: it computes every task itself, by its own clock of processor time, and
counts the bytes of what would be sent. So the shares are those of the work, whatever else the machine does. A
real cluster of worker processes is in ``tests/test_distributed.py``.
"""

import argparse
import contextlib
import json
import os
import pickle
import sys
import time
from pathlib import Path

import numpy as np

import lslmatch
from lslmatch._cluster import lending
from tests.benchmarks import isolated, record

#: Points, dimensions, noise beside features of variance 1, type; and what is said of them.
ROWS = (
    (20_000, 10, 0.05, "f8", "above the floor, few dimensions"),
    (40_000, 96, 0.3, "f4", "above the floor"),
    (9000, 96, 0.8, "f4", "above the floor, more noise"),
    (9000, 10, 9.0, "f8", "no signal"),
)
CORES = (1, 2, 8, 64, 512)
#: Cores of a machine, each of which gets shared things once, and bytes that a network brings it in a second.
OF_MACHINE, BANDWIDTH = 8, 1.25e9


class Counting:
    """Computes tasks here, and adds up their seconds and bytes."""

    shares, least_pairs = 16, 0

    def __init__(self):
        self.seconds, self.shared_bytes, self.own_bytes, self.longest = 0.0, 0, 0, 0.0
        self._seen = set()
        self._kept = []

    def map(self, function, shared, shares):
        for value in shared:
            if id(value) not in self._seen:
                self._seen.add(id(value))
                self._kept.append(value)
                self.shared_bytes += len(pickle.dumps(value, protocol=5))
        found = []
        for share in shares:
            start = time.process_time()
            found.append(function(*shared, *share))
            seconds = time.process_time() - start
            self.seconds += seconds
            self.own_bytes += len(pickle.dumps((share, found[-1]), protocol=5))
        return found


def planted(n, d, noise, dtype):
    """Draw two sets that differ by noise and by a map."""
    rng = np.random.default_rng([n, d])
    features, order = rng.normal(size=(n, d)), rng.permutation(n)
    x, y = np.empty((n, d), dtype), np.empty((n, d), dtype)
    x[:] = features + noise * rng.normal(size=(n, d))
    y[order] = (features + noise * rng.normal(size=(n, d)) - 1.0) / 2.0
    return x, y, order


def measure_row(n, d, noise, dtype, name):
    """Measure match and certificate with and without the played cluster, by processor time."""
    x, y, order = planted(n, d, noise, dtype)
    small = planted(3000, d, noise, dtype)[:2]
    lslmatch.check_certificate(*small, lslmatch.match(*small))  # compiles
    counting, checked = Counting(), Counting()
    start = time.process_time()
    with lending(counting):
        result = lslmatch.match(x, y)
    middle = time.process_time()
    with lending(checked):
        violation = lslmatch.check_certificate(x, y, result)
    end = time.process_time()
    return {
        "n": n, "d": d, "name": name, "right": float((result.permutation == order).mean()),
        "match": middle - start, "match_tasks": counting.seconds,
        "certificate": end - middle, "certificate_tasks": checked.seconds, "violation": violation,
        "shared_bytes": counting.shared_bytes + checked.shared_bytes,
        "own_bytes": counting.own_bytes + checked.own_bytes,
        "peak": isolated.peak_bytes(),
    }  # fmt: skip


def table(rows):
    """Lay out what was measured, and the model: seconds of the caller, and of tasks over the cores."""
    lines = [
        "| points | d | | match, s | in tasks | certificate, s | in tasks | sent to each machine, MB | "
        + " | ".join(f"{cores} cores" for cores in CORES)
        + " |",
        "|" + "---|" * (8 + len(CORES)),
    ]
    for row in rows:
        times = [seconds_with(row, cores) for cores in CORES]
        cells = [
            f"{row['n']:,}", row["d"], row["name"], f"{row['match']:.2g}",
            f"{row['match_tasks'] / row['match']:.0%}", f"{row['certificate']:.2g}",
            f"{row['certificate_tasks'] / row['certificate']:.0%}", f"{row['shared_bytes'] / 1e6:.0f}",
            *(f"{times[0] / value:.1f}x" for value in times),
        ]  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def seconds_with(row, cores):
    """Model: the caller's own seconds, those of tasks over the cores, and what its network has to carry."""
    tasks = row["match_tasks"] + row["certificate_tasks"]
    own = row["match"] + row["certificate"] - tasks
    machines = -(-cores // OF_MACHINE) if cores > OF_MACHINE else 0
    return (
        own + tasks / cores + (machines * row["shared_bytes"] + bool(machines) * row["own_bytes"]) / BANDWIDTH
    )


def main(arguments=None):
    """Measure and print the table, or print it again from what was measured."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.distribution", description=__doc__)
    parser.add_argument("--table", action="store_true", help="measure nothing: print the stored run's table")
    path = Path(__file__).resolve().parent / "results" / "distribution.json"
    parser.add_argument("--file", type=Path, default=path, help="where the measurements are kept")
    options = parser.parse_args(arguments)
    if not options.table:
        load, rows = os.getloadavg()[0], []
        for row in ROWS:
            outcome = isolated.call("tests.benchmarks.distribution:measure_row", *row, seconds=1800.0)
            if outcome.failure:
                raise RuntimeError(f"{row}: ran out of {outcome.failure}")
            rows.append(outcome.value)
            print(rows[-1], file=sys.stderr, flush=True)
            kept = record.circumstances(load) | {"rows": rows}
            options.file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    with contextlib.suppress(BrokenPipeError):
        print(table(json.loads(options.file.read_text(encoding="utf-8"))["rows"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
