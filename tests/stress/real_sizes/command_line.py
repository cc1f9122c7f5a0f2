"""Exactness at real sizes: ``python -m tests.stress.real_sizes --count 100000``.

Nasty point sets of sizes on both sides of every switch of the solver are matched as they are, and each answer
is proven by its duals in extended precision. Run ``python -m lslmatch compile`` before, or the first inputs
wait for the compiler.
"""

import argparse
import contextlib
import signal
from collections import Counter

from tqdm import tqdm

from tests.stress.real_sizes.cases import SWITCHES
from tests.stress.real_sizes.kinds import KINDS
from tests.stress.real_sizes.session import outcomes
from tests.stress.real_sizes.trying import REFUSED, case_of, try_case, try_index


def main(argv=None, attempt=try_index):
    """Try inputs; the exit code is 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress.real_sizes", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many inputs of the seed (default: 1000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, help="only those of the inputs that are of this kind")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which an input hangs")
    parser.add_argument("--replay", metavar="SEED:INDEX", type=_replay, help="try only this input")
    options = parser.parse_args(argv)
    if options.replay is not None:
        return replay(*options.replay)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    tried = []
    run = outcomes(
        options.seed,
        options.count,
        kind=options.kind,
        workers=options.workers,
        limit=options.limit,
        seconds=options.seconds,
        attempt=attempt,
    )
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(run):
        for outcome in tqdm(run, total=None if options.kind else options.count, disable=None):
            tried.append(outcome)
    report(options.seed, tried)
    return 1 if any(outcome.is_finding for outcome in tried) else 0


def _replay(text):
    seed, _, index = text.partition(":")
    return int(seed), int(index)


def replay(seed, index):
    """Try one input in this process, and say what became of it."""
    case = case_of(seed, index)
    print(case, flush=True)
    what, words = try_case(case, with_scipy=True)
    print(f"{what}: {words}")
    return 0 if what in ("proven", "refused") else 1


def report(seed, tried):
    """Print the inputs by kind and size, what was refused and why, and the findings."""
    print(f"{len(tried)} inputs in {sum(outcome.seconds for outcome in tried):.0f} s of the processes")
    print(f"{'inputs/findings':<24}" + "".join(f"{size:>11}" for size in [*SWITCHES, "refused"]))
    kinds = [(name, outcome) for outcome in tried for name in outcome.kind.split(" + ")]
    counts = Counter((name, outcome.size) for name, outcome in kinds)
    findings = Counter((name, outcome.size) for name, outcome in kinds if outcome.is_finding)
    refused = Counter(name for name, outcome in kinds if outcome.what == REFUSED)
    for name in KINDS:
        cells = [f"{counts[name, size]}/{findings[name, size]}" for size in SWITCHES]
        print(f"{name:<24}" + "".join(f"{cell:>11}" for cell in [*cells, refused[name]]))
    _print_refusals([outcome for outcome in tried if outcome.what == REFUSED])
    _print_findings(seed, [outcome for outcome in tried if outcome.is_finding])


def _print_refusals(refused):
    for words, count in Counter(outcome.words for outcome in refused).most_common(10):
        print(f"refused {count} times: {words}")


def _print_findings(seed, found):
    """Print what was wrong with each kind, how often, and the smallest input; two kinds count for both."""
    groups = {}
    for outcome in found:
        for kind in outcome.kind.split(" + "):
            groups.setdefault((outcome.what, kind), []).append(outcome)
    for (what, kind), group in sorted(groups.items()):
        least = min(group, key=lambda outcome: outcome.pairs)
        print(f"FINDING: {what}, {kind}, {len(group)} times; again: --replay {seed}:{least.index}")
        print(f"    {least.case}: {least.words}")
    print(f"{len(found)} findings")
