"""Who meets whom: which contestants are timed on which case, and how often.

Once, when the baseline is renewed, every peer is tried on every case: the survey. On small cases one process
tries all of them. Otherwise each has a process of its own, which is stopped after `LEAST_LIMIT` seconds,
or when it is as late as that behind the best peer so far. After
that a peer that the survey found slower than `FACTOR` times the best peer of the case is not timed again: the
ratio is taken to the best, and it could only change that by becoming `FACTOR` times faster. Where even the
best peer took `LONG` seconds, the survey's own times make the new baseline.
"""

import json
import math
import os
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks import isolated
from tests.benchmarks.instances import Case, smoke_catalogue
from tests.benchmarks.peers import OURS, PRODUCT, PRODUCT_IN_PLACE, installed_peers

FACTOR = 3.0
LEAST_LIMIT = 20.0
LONG = 5.0
#: For the first peer, and for the library itself.
GREATEST_LIMIT = 60.0
#: Pairs of points up to which a case is small.
SMALL = 2000 * 5000

#: The timing run is told its plan by a file whose path is in this variable.
VARIABLE = "LSLMATCH_BENCHMARK_PLAN"


class Entry(NamedTuple):
    """One test of the timing run."""

    case: Case
    repeat: int
    contestant: str
    rounds: int


def survey(case):
    """Try the library and every installed peer once; None stands for a peer that was stopped."""
    if case.n * (case.m or case.n) <= SMALL:
        outcome = isolated.call("tests.benchmarks.trial:try_all", case, seconds=GREATEST_LIMIT)
        if outcome.value:
            return outcome.value
    seconds = {}
    for contestant in [OURS, *installed_peers(case)]:
        peers = [seconds[name] for name in seconds if name != OURS and seconds[name] is not None]
        limit = LEAST_LIMIT + (min(peers) if min(peers) > LONG else 0.0) if peers else GREATEST_LIMIT
        # What the process needs besides: imports, drawing, and the first call that warms up.
        outcome = isolated.call("tests.benchmarks.trial:try_once", case, contestant, seconds=limit + 20.0)
        seconds[contestant] = outcome.value and outcome.value[0]
    return seconds


def contenders(seconds):
    """Of the surveyed peers, those that may turn out the best."""
    peers = {name: s for name, s in seconds.items() if name != OURS and s is not None}
    return [name for name, s in peers.items() if s <= FACTOR * min(peers.values())]


def long_times(surveys):
    """Of surveyed cases, those that are long enough to be timed once, and their times."""
    found = {}
    for case, seconds in surveys.items():
        times = {name: s for name, s in seconds.items() if s is not None}
        peers = contenders(seconds)
        if peers and OURS in times and min(times[name] for name in peers) >= LONG:
            found[case] = times
    return found


def make_plan(surveys):
    """Lay out the tests for surveyed cases: repeats of a case take turns, contestants within each."""
    entries = []
    for case, seconds in surveys.items():
        peers = contenders(seconds)
        if not peers or seconds[OURS] is None:
            continue
        entrants = [OURS, *peers]
        best = min(seconds[peer] for peer in peers)
        repeats = min(max(math.ceil(15.0 / best), 1), 3)
        estimates = {name: seconds[name] for name in entrants}
        if has_product(case):
            entrants += [PRODUCT, PRODUCT_IN_PLACE]
            estimates |= dict.fromkeys((PRODUCT, PRODUCT_IN_PLACE), 0.1)
        entries += [
            Entry(case, repeat, name, min(max(int(0.3 / estimates[name]), 1), 20))
            for repeat in range(repeats)
            for name in entrants
        ]
    return entries


def has_product(case):
    """Whether the case is one whose time is also compared with the bare matrix product."""
    return case.kind == "above" and case.n >= 5000 and case.group == "match"


def smoke_plan():
    return [
        Entry(case, repeat, name, 2)
        for case in smoke_catalogue()
        for repeat in range(2)
        for name in [
            OURS,
            *installed_peers(case),
            *([PRODUCT, PRODUCT_IN_PLACE] if case.kind == "above" else []),
        ]
    ]


def write_plan(entries, path):
    Path(path).write_text(json.dumps(entries), encoding="utf-8")


def current_plan():
    """Read the plan of this run; without one, as in the ordinary tests, it is the smoke plan."""
    if VARIABLE not in os.environ:
        return smoke_plan()
    stored = json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8"))
    return [Entry(Case(*case), *rest) for case, *rest in stored]
