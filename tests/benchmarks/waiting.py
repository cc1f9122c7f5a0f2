"""What a user waits for, beside what was and what is wanted: ``python -m tests.benchmarks.waiting``.

Every row is measured anew, on a quiet machine in about ten minutes. A *ratio* is the time of the best
pipeline of other packages over that of the library; the *limit* says how far it is from what it cannot be
faster than.
"""

import argparse
import functools
import itertools
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import lslmatch
from tests.benchmarks import startup
from tests.benchmarks.instances import POINTS, Case, draw
from tests.benchmarks.peers import OURS, _standardise, installed_peers, prepare
from tests.benchmarks.ratios import geometric_mean
from tests.benchmarks.tables import markdown

#: Seconds over which calls take turns, and the fewest turns.
_SECONDS, _TURNS = 1.5, 3
#: Seconds after which the threads of a BLAS have gone to sleep: OpenBLAS's do after a tenth of a second.
_SPINNING = 0.5
#: Seconds of a turn in which a quick call is repeated.
_BATCH = 0.002


class Row(NamedTuple):
    """What is waited for: as it was when this was asked for, as it is now, as it is wanted."""

    what: str
    before: str
    now: str
    wanted: str
    limit: str = ""


def main(arguments=None):
    """Measure the rows whose group was asked for, and print them as they come."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.waiting", description=__doc__.split("\n")[0]
    )
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; all unless given")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="also write the table there")
    options = parser.parse_args(arguments)
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    rows = [list(Row._fields)]
    warnings.simplefilter("ignore", lslmatch.AlignmentWarning)
    for group in options.groups or GROUPS:
        for row in GROUPS[group]():
            print(f"{row.what}: {row.now}", flush=True)
            rows.append(list(row))
    table = markdown(rows)
    print(table)
    if options.keep:
        options.keep.write_text(table + "\n", encoding="utf-8")


def least_times(batch=0.0, **calls):
    """Let calls take turns, and give the least seconds of each.

    With a `batch`, those that take less are repeated for so many seconds in each turn, as a loop over many
    problems would. Without, a call is always the first after those of the others: caches hold nothing of it.
    """
    repeats = dict.fromkeys(calls, 1)
    for name, call in calls.items():
        call()
        if batch:
            repeats[name] = max(int(batch / max(_seconds(call), 1e-9)), 1)
    least = dict.fromkeys(calls, np.inf)
    end = time.perf_counter() + _SECONDS * len(calls)
    for turn in itertools.count():
        if turn >= _TURNS and time.perf_counter() > end:
            return least
        for name, call in calls.items():
            times = range(repeats[name])
            start = time.perf_counter()
            for _ in times:
                call()
            least[name] = min(least[name], (time.perf_counter() - start) / len(times))


def ratio(case, batch=0.0, **more):
    """Time the library, the peers and what else is given on a case: the ratio, and all times."""
    data = draw(case)
    calls = {name: prepare(name, data, case.objective) for name in [OURS, *installed_peers(case)]}
    times = least_times(batch, **calls, **{name: make(*data) for name, make in more.items()})
    return min(times[peer] for peer in installed_peers(case)) / times[OURS], times


def single_product(x, y, *_):
    """Give a call for one matrix product in single precision, into memory that is there."""
    x, y, out = x.astype(np.float32), y.astype(np.float32), np.ones((len(x), len(y)), np.float32)
    return lambda: np.matmul(x, y.T, out=out)


def by_two_workers(x, y, *_):
    """Give a call of the library with as many threads as the peers' matrix products take here."""
    return functools.partial(lslmatch.match, x, y, workers=2)


def by_differences(x, y, *_):
    """Give a call for SciPy's distances and solver, which check little and so are quick for a few points."""

    def run():
        squares = cdist(_standardise(x), _standardise(y), "sqeuclidean")
        return linear_sum_assignment(np.log(squares, out=squares))[1]

    return run


# ------------------------------------------------------------------------------------------ the groups


def first_matches():
    imported = startup.fresh("import_seconds", "numba")
    for n, before, wanted in ((100, "6 to 9 s", "3 s"), (1000, "20 to 29 s", "8 s")):
        with tempfile.TemporaryDirectory() as empty:
            seconds = startup.fresh("first_match_seconds", n, NUMBA_CACHE_DIR=empty)
        limit = f"import numba {imported:.2f} s"
        yield Row(f"first match after an installation, n = {n:,}", before, f"{seconds:.1f} s", wanted, limit)


def small_sets():
    for n in (10, 30, 100, 200):
        case = Case("near", n, 10)
        found, times = ratio(case, _BATCH, cdist=by_differences)
        cold, cold_times = ratio(case, cdist=by_differences)
        limit = (
            f"{1e6 * times[OURS]:.1f} µs; {times['cdist'] / times[OURS]:.2f} over SciPy's cdist and solver; "
            f"single calls between those of others {1e6 * cold_times[OURS]:.0f} µs, {cold:.2f}, "
            f"{cold_times['cdist'] / cold_times[OURS]:.2f}"
        )
        yield Row(f"n = {n}, d = 10, in a loop: ratio", "1.3 to 1.5", f"{found:.2f}", "3", limit)
    for n in (10, 30, 100, 300):
        sets = [draw(Case("near", n, 10), number) for number in range(1, max(20_000 // n, 40) + 1)]
        xs, ys = zip(*sets, strict=True)
        loops = {peer: _in_turn([prepare(peer, data) for data in sets]) for peer in installed_peers()}
        loops["cdist"] = _in_turn([by_differences(*data) for data in sets])
        ours = {
            name: functools.partial(lslmatch.match_many, xs, ys, workers=workers)
            for name, workers in (("one", 1), ("two", 2))
        }
        times = least_times(**ours, **loops)
        found = min(times[peer] for peer in installed_peers()) / times["one"]
        limit = (
            f"{1e6 * times['one'] / len(sets):.1f} µs each; "
            f"{times['cdist'] / times['one']:.1f} over a loop of SciPy's cdist and solver, "
            f"{times['cdist'] / times['two']:.1f} with workers=2"
        )
        what = f"match_many, {len(sets):,} sets of n = {n}: over a loop of the best peer"
        yield Row(what, "none", f"{found:.1f}", "10", limit)


def objectives():
    ratios = []
    for name in ("lss", "lsns"):
        for kind in POINTS:
            found, times = ratio(Case(kind, 3000, 15, 0, name), product=single_product)
            ratios.append(found)
            limit = f"{times[OURS] / times['product']:.1f} single products"
            before = {"near": "1.05", "below": "4.2"}.get(kind, "") if name == "lss" else ""
            yield Row(f"{name}, {kind}, n = 3,000, d = 15: ratio", before, f"{found:.2f}", "3", limit)
    yield Row("lss and lsns: geometric mean", "", f"{geometric_mean(ratios):.2f}", "5")


def near_the_floor():
    for n, before in ((1000, "1.3"), (2000, "2.0"), (5000, "2.5")):
        case = Case("near", n, 100)
        found, times = ratio(case, product=single_product)
        # Threads of a BLAS wait for the next product, at full speed, and would take the second processor.
        time.sleep(_SPINNING)
        both = least_times(two=by_two_workers(*draw(case)))["two"]
        more = f"{found * times[OURS] / both:.2f} with workers=2, as the peers' products have"
        limit = f"{times[OURS] / times['product']:.1f} single products; {more}"
        yield Row(f"d = 100 near the floor, n = {n:,}: ratio", before, f"{found:.2f}", "2.5", limit)


def certificates():
    for n, d, before in ((20_000, 10, "17"), (5000, 100, "5")):
        x, y = draw(Case("above", n, d))
        result = lslmatch.match(x, y)
        times = least_times(
            match=functools.partial(lslmatch.match, x, y),
            check=functools.partial(lslmatch.check_certificate, x, y, result),
        )
        quotient = f"{times['check'] / times['match']:.2f}"
        yield Row(f"certificate over match, {n:,} x {d} above", before, quotient, "1")


def million():
    x, y = draw(Case("above", 10**6, 10))
    start = time.perf_counter()
    result = lslmatch.match(x, y)
    middle = time.perf_counter()
    lslmatch.check_certificate(x, y, result)
    now = f"{middle - start:.0f} s and {time.perf_counter() - middle:.0f} s"
    yield Row("a million points, d = 10: match and certificate", "34 s and hours", now, "2 minutes")


def second_core():
    for n, d in ((10_000, 3), (10_000, 20)):
        x, y = draw(Case("nosignal", n, d))
        one, two = (
            min(_seconds(functools.partial(lslmatch.match, x, y, workers=workers)) for _ in range(2))
            for workers in (1, 2)
        )
        found = f"{one / two:.2f}"
        yield Row(f"workers = 2, no signal, n = {n:,}, d = {d}", "0.9 to 1.1", found, "1.5", "2")


def alignments():
    for kind, n in itertools.product(("above", "near", "below"), (1000, 3000)):
        x, y = draw(Case(kind, n, 10))
        times = least_times(
            **{name: functools.partial(lslmatch.match, x, y, alignment=name) for name in _ALIGNMENTS}
        )
        for name, before, wanted in (("profile", "2.9", "2"), ("auto", "3.8 to 5.4", "3")):
            quotient = f"{times[name] / times['standardize']:.1f}"
            limit = f"{1e3 * times[name]:.1f} ms; plain {1e3 * times['standardize']:.2g} ms"
            yield Row(f"{name} over one plain match, {kind}, n = {n:,}", before, quotient, wanted, limit)


_ALIGNMENTS = ("standardize", "profile", "auto")


def far_apart():
    for n, m, d in _APART:
        rng = np.random.default_rng([n, m, d])
        x, y = rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 100.0
        seconds = _seconds(functools.partial(lslmatch.match, x, y, alignment="identity"))
        before = "35 s" if (n, m, d) == _APART[0] else ""
        yield Row(f"far apart, {n:,} and {m:,} points, d = {d}", before, f"{seconds:.2g} s", "1 s")
    for n, before in ((4000, "15 s"), (4100, "")):
        rng = np.random.default_rng([n, 2])
        x, y = rng.standard_normal((n, 2)), rng.standard_normal((n, 2)) + (3.0, 0.0)
        seconds = _seconds(functools.partial(lslmatch.match, x, y, alignment="identity"))
        yield Row(f"apart without a plane between, {n:,} points, d = 2", before, f"{seconds:.2g} s", "1 s")


_APART = (
    (3900, 3900, 1),
    (4100, 4100, 1),
    (10_000, 10_000, 1),
    (2000, 2500, 1),
    (1500, 1500, 2),
    (1500, 1500, 3),
    (4100, 4100, 2),
    (10_000, 10_000, 3),
    (4000, 4100, 2),
    (3000, 6000, 3),
)


def _in_turn(calls):
    return lambda: [call() for call in calls]


def _seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


GROUPS = {
    "first": first_matches,
    "small": small_sets,
    "objectives": objectives,
    "near": near_the_floor,
    "certificate": certificates,
    "million": million,
    "cores": second_core,
    "alignments": alignments,
    "apart": far_apart,
}


if __name__ == "__main__":
    main()
