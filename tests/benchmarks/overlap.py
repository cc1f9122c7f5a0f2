"""Could searches for shortest paths run at the same time? ``python -m tests.benchmarks.overlap``.

Searches that have no row in common do not disturb each other. Here every search tells which rows it has
changed, and it is counted how much time groups of them would take, on as many cores as a group has searches:
those that meet an earlier one of their group are done again, alone, so that the result is that of one core.
"""

import math

import numpy as np

import lslmatch
from lslmatch.assignment import augmentation, streamed
from lslmatch.assignment.screening import column_factors
from tests.benchmarks.instances import Case, draw
from tests.benchmarks.tables import markdown

_CASES = (
    Case("nosignal", 10_000, 3),
    Case("nosignal", 10_000, 20),
    Case("below", 10_000, 20),
    Case("near", 20_000, 20),
)


def main():
    """Print a row for each case."""
    head = ["points", "d", "kind", "searches", "rows in one", "disjoint from the next", "2 cores", "4 cores"]
    rows = [head]
    for case in _CASES:
        sets = changed_rows(*draw(case)[:2])
        sizes = np.array([rows.size for rows in sets])
        alone = [not np.intersect1d(a, b).size for a, b in zip(sets[:-1], sets[1:], strict=True)]
        share = float((sizes[:-1] * alone).sum() / sizes[:-1].sum())
        speeds = [f"{speed_up(sets, cores):.2f}" for cores in (2, 4)]
        size = f"{sizes.mean() / case.n:.2f} n"
        rows.append([f"{case.n:,}", case.d, case.kind, len(sets), size, f"{share:.1%} of the work", *speeds])
    print(markdown([[str(entry) for entry in row] for row in rows]))


def changed_rows(x, y):
    """Match two sets, and give for each search the rows whose duals it has changed."""
    sets = []

    def augment(screen, lists, state, free_rows, *_):
        limits = augmentation._Limits(1, free_rows.size, math.inf, False)
        factors = column_factors(screen, state.col_dual)
        work = augmentation._make_workspace(screen, factors, state)
        done, before = 0, state.row_dual.copy()
        while done < free_rows.size:
            now = augmentation._augment_rows(
                screen, factors, lists, state, work, free_rows.copy(), done, limits
            )
            if now > done:
                sets.append(np.flatnonzero(state.row_dual != before))
                done, before = now, state.row_dual.copy()
        return True

    plain, streamed.augment_all = streamed.augment_all, augment
    try:
        lslmatch.match(x, y)
    finally:
        streamed.augment_all = plain
    return sets


def speed_up(sets, cores):
    """Say how much faster searches would be in groups, as a quotient of the rows that are scanned."""
    time = 0
    for first in range(0, len(sets), cores):
        group, seen = sets[first : first + cores], set()
        time += max(rows.size for rows in group)
        for rows in group:
            time += rows.size * bool(seen & set(rows.tolist()))
            seen |= set(rows.tolist())
    return sum(rows.size for rows in sets) / time


if __name__ == "__main__":
    main()
