"""Two hours of matching in one process: every answer must be right, and memory must stay flat.

``python -m tests.stress.endurance --minutes 120`` draws sets of changing size and kind, and matches them by
every objective and alignment. It writes a line a minute to a CSV file and at the end judges the slope of the
memory in use. Ctrl-C ends the run early, with a verdict on what there is. ``--keep 1`` is the negative
control: it keeps one kilobyte a match, which has to be found.

The exit code is 0 if memory is flat, 1 if it grows, 2 if the run was too short to tell.
"""

import argparse
import contextlib
import csv
import ctypes
import gc
import resource
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.stats

import lslmatch
from lslmatch import model

#: Growth that is called flat, in megabytes an hour.
ALLOWANCE = 1.0
#: The first share of a run is left out: kernels are loaded and pools of memory filled.
WARM_UP = 0.1
#: Lines of one block are averaged, since neighbours resemble each other; the slope is that of the means.
BLOCKS = 10
CONFIDENCE = 0.99
#: A match takes less than this; a longer one was paused from outside, and the rest is not counted.
_LONGEST_SECONDS = 10.0
#: Relative to the greatest dual.
_VIOLATION = 1e-10

_COLUMNS = ("minutes", "cpu_minutes", "matches", "checked", "resident_mb", "kept_mb", "peak_mb", "violation")
_OBJECTIVES = ("lsl", "lsl", "lss", "lsns", "greedy")
_ALIGNMENTS = ("standardize", "profile", "auto", "identity", "given")


class Verdict(NamedTuple):
    """The growth of memory in megabytes an hour, with the ends of its confidence interval."""

    word: str  # "flat", "grows" or "too short to tell"
    slope: float
    low: float
    high: float


def judge(minutes, megabytes):
    """Say whether memory grows: flat if the whole interval is below the allowance, growth if it is above."""
    minutes, megabytes = np.asarray(minutes, float), np.asarray(megabytes, float)
    settled = minutes > WARM_UP * minutes.max(initial=0.0)
    if settled.sum() < 2 * BLOCKS:
        return Verdict("too short to tell", np.nan, -np.inf, np.inf)
    hours, memory = (
        [block.mean() for block in np.array_split(part[settled], BLOCKS)]
        for part in (minutes / 60, megabytes)
    )
    fit = scipy.stats.linregress(hours, memory)
    reach = scipy.stats.t.ppf((1 + CONFIDENCE) / 2, BLOCKS - 2) * fit.stderr
    low, high = fit.slope - reach, fit.slope + reach
    word = "flat" if high < ALLOWANCE else "grows" if low > ALLOWANCE else "too short to tell"
    return Verdict(word, fit.slope, low, high)


def read_lines(path):
    """Read the lines of a CSV file, each as a dict of numbers."""
    with path.open(newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def conclude(path):
    """Print the verdict on a CSV file and return it."""
    rows = read_lines(path)
    column = {name: [row[name] for row in rows] for name in _COLUMNS}
    verdict = judge(column["minutes"], column["kept_mb"])
    resident = judge(column["minutes"], column["resident_mb"])
    if rows:
        first, last = next(row for row in rows if row["minutes"] > WARM_UP * rows[-1]["minutes"]), rows[-1]
        print(f"{last['minutes']:.1f} minutes ({last['cpu_minutes']:.1f} of processor time),", end=" ")
        print(f"{last['matches']:.0f} matches, {last['checked']:.0f} checked,", end=" ")
        print(f"largest relative violation {max(column['violation']):.1e}")
        print(f"MB in use: {first['kept_mb']:.1f} after the warm-up, {last['kept_mb']:.1f} at the end")
    for name, (_, slope, low, high) in (("in use", verdict), ("resident", resident)):
        print(f"MB/h {name}: {slope:+.3f}, {CONFIDENCE:.0%} interval [{low:+.3f}, {high:+.3f}]")
    print(f"memory: {verdict.word} (allowance {ALLOWANCE:g} MB/h)")
    return verdict


# ---------------------------------------------------------------------------------------- the run


class Instance(NamedTuple):
    x: np.ndarray
    y: np.ndarray
    noise: tuple  # of x and of y
    affine: lslmatch.Affine


def draw(rng, largest, transformed):
    """Draw two sets: noisy copies of each other or unrelated, of the same size or not, either one larger."""
    n, d = int(np.exp(rng.uniform(np.log(10), np.log(largest + 1)))), int(np.exp(rng.uniform(0, np.log(61))))
    scale, shift = (float(np.exp(rng.normal())), rng.normal(size=d)) if transformed else (1.0, np.zeros(d))
    levels = 10.0 ** rng.uniform(-3, 0, n) if rng.random() < 0.5 else np.full(n, 10.0 ** rng.uniform(-3, 1))
    truth = model.Configuration(rng.normal(size=(n, d)), levels, scale, shift, rng.permutation(n))
    x, y = truth.sample(rng)
    y_levels = np.empty(n)
    y_levels[truth.permutation] = levels / scale
    if rng.random() < 0.25:
        y = truth._replace(features=rng.normal(size=(n, d))).sample(rng)[1]
    kept = rng.permutation(n)[: rng.integers(max(n // 2, 2), n + 1)] if rng.random() < 0.5 else np.arange(n)
    if rng.random() < 0.25:
        return Instance(x, y[kept], (levels, y_levels[kept]), lslmatch.Affine(scale, shift))
    return Instance(x[kept], y, (levels[kept], y_levels), lslmatch.Affine(scale, shift))


def match_once(rng, largest):
    """Match one random instance; return it with its result."""
    objective, alignment = str(rng.choice(_OBJECTIVES)), str(rng.choice(_ALIGNMENTS))
    # "auto" may have to try sets of quite different scales without an alignment, which takes long on a line.
    largest = min(largest, 500) if alignment == "auto" else largest
    instance = draw(rng, largest, alignment != "identity")
    result = lslmatch.match(
        instance.x,
        instance.y,
        objective=objective,
        alignment=instance.affine if alignment == "given" else alignment,
        noise=instance.noise if objective == "lsns" else None,
        workers=int(rng.integers(1, 3)),
    )
    return instance, result


def check(instance, result):
    """Return the violation of the certificate relative to the duals, refusing a wrong answer."""
    if result.row_dual is None:
        matched = result.permutation[result.permutation >= 0]
        assert np.unique(matched).size == matched.size == min(len(instance.x), len(instance.y))
        return 0.0
    unit = max(np.abs(result.row_dual).max(), np.abs(result.col_dual).max(), 1.0)
    violation = lslmatch.check_certificate(instance.x, instance.y, result) / unit
    assert violation <= _VIOLATION, f"the certificate is violated by {violation}"
    return violation


def try_the_rest(rng, instance, result):
    """Call what else there is: the diagnosis, the solver for matrices, and an error."""
    workers = int(rng.integers(1, 3))
    margins = "exact" if len(instance.x) <= 200 else "bound"
    diagnosis = lslmatch.diagnose(instance.x, instance.y, result, margins=margins, workers=workers)
    assert diagnosis.verdict
    cost = rng.normal(size=np.minimum(rng.integers(1, 300, 2), 2 * len(instance.x)))
    ours, theirs = lslmatch.linear_sum_assignment(cost), scipy.optimize.linear_sum_assignment(cost)
    assert abs(cost[ours].sum() - cost[theirs].sum()) <= 1e-9
    try:
        lslmatch.match(instance.x, np.full_like(instance.y, np.nan))
    except ValueError:
        return
    raise AssertionError("NaN was accepted")


def run(minutes, path, *, seed=0, largest=3000, keep=0.0):
    """Match for so many minutes, or until interrupted, and write lines to a CSV file."""
    rng = np.random.default_rng(seed)
    interval = min(60.0, minutes)  # seconds: a line a minute, and sixty at least
    kept, seconds, due, matches, checked, violation = [], 0.0, interval, 0, 0, 0.0
    with path.open("w", newline="") as file, contextlib.suppress(KeyboardInterrupt):
        lines = csv.writer(file)
        lines.writerow(_COLUMNS)
        while seconds < minutes * 60:
            start = time.perf_counter()
            instance, result = match_once(rng, largest)
            matches += 1
            if matches % 10 == 0:
                violation = max(violation, check(instance, result))
                checked += 1
            if matches % 25 == 0:
                try_the_rest(rng, instance, result)
            if keep:
                kept.append(np.ones(int(keep * 128)))
            del instance, result
            seconds += min(time.perf_counter() - start, _LONGEST_SECONDS)
            if seconds >= due:
                cpu = time.process_time() / 60
                row = (seconds / 60, cpu, matches, checked, *memory(), violation)
                lines.writerow([f"{value:.6g}" for value in row])
                file.flush()
                due, violation = seconds + interval, 0.0


def memory():
    """Return the megabytes that are resident, that are left when free memory is given back, and the peak."""
    before = _resident()
    gc.collect()
    # Freed memory that the allocator still holds comes and goes by tens of megabytes and would hide a leak.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return before, _resident(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.stress.endurance", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--minutes", type=float, default=120.0, help="how long to match, pauses not counted")
    parser.add_argument("--csv", type=Path, default=Path("endurance.csv"), help="where the lines go")
    parser.add_argument("--largest", type=int, default=3000, help="points of the largest set")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=float, default=0.0, help="kilobytes to leak a match, as a control")
    parser.add_argument("--judge", action="store_true", help="only judge the CSV file of an earlier run")
    options = parser.parse_args(arguments)
    if not options.judge:
        for number in (signal.SIGINT, signal.SIGTERM):  # in the background the first would be ignored
            signal.signal(number, signal.default_int_handler)
        run(options.minutes, options.csv, seed=options.seed, largest=options.largest, keep=options.keep)
    return {"flat": 0, "grows": 1}.get(conclude(options.csv).word, 2)


if __name__ == "__main__":
    sys.exit(main())
