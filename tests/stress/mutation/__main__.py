"""Change the library in one place at a time, and see whether the tests of the changed function notice.

    NUMBA_DISABLE_JIT=1 python -m tests.stress.mutation --module lslmatch.costs tests/test_costs.py

Kernels must not be compiled, so that each change is one of Python code. The tests are collected once. A first
pass notes which of them call which functions of the modules, and how long they take. Then each mutant is put
in place in a process of its own, which runs the tests that call the mutated function, the quickest first and
as many as fit into a budget of the processor's time, until one fails. A mutant on which they take ten times
as long as without it hangs, and counts as noticed. Changes that make no difference are listed in
equivalent.csv, with reasons; they are not tried, and counted apart.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.stress.mutation.equivalent import place_of, reasons
from tests.stress.mutation.trying import Trial, Trying
from verification.engine.tables import table_to_csv
from verification.sabotage.changes import mutants


def main(arguments: list[str] | None = None) -> int:
    """Try the mutants: 0 if the share noticed is at least what was asked for."""
    options = _parser().parse_args(arguments)
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        print("kernels must not be compiled: set NUMBA_DISABLE_JIT=1", file=sys.stderr)
        return 2
    trials = [
        Trial(module, mutant)
        for module in options.module
        for mutant in mutants(inspect.getsource(importlib.import_module(module)), _path(module))
    ]
    total = len(trials)
    if options.sample and options.sample < total:
        chosen = np.random.default_rng(options.seed).permutation(total)[: options.sample]
        trials = [trials[k] for k in sorted(chosen)]
    drawn = len(trials)
    trials = [trial for trial in trials if place_of(*trial) not in reasons()]
    trying = Trying(trials, options.budget)
    code = pytest.main(
        ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", *options.tests], plugins=[trying]
    )
    if code not in (0, 1) or not trying.is_done:
        print("the tests could not be run without a mutant", file=sys.stderr)
        return 2
    return _report(trying, drawn, total, options)


def _report(trying: Trying, drawn: int, total: int, options: argparse.Namespace) -> int:
    rows = trying.rows()
    if options.out:
        options.out.write_text(table_to_csv(rows), encoding="utf-8")
    for module in (*options.module, ""):
        some = [row for row in rows if module in ("", row["module"])]
        noticed = sum(row["noticed"] != "no" for row in some)
        if some:
            low, high = proportion_confint(noticed, len(some), method="wilson")
            print(
                f"{module or 'all':40} {noticed} of {len(some)} noticed: {noticed / len(some):.3f} "
                f"[{low:.3f}, {high:.3f}]"
            )
    for row in rows:
        if row["noticed"] == "no":
            print(
                f"  {row['module']}:{row['line']} {row['function']}: {row['change']} ({row['tests']} tests)"
            )
    share = sum(row["noticed"] != "no" for row in rows) / max(len(rows), 1)
    same = drawn - len(rows)
    print(f"{drawn} of {total} mutants drawn, {same} of them make no difference; seed {options.seed}")
    return 0 if share >= options.at_least else 1


def _path(module: str) -> str:
    return str(importlib.import_module(module).__file__)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.stress.mutation", description=__doc__)
    parser.add_argument("tests", nargs="+", help="tests to run: files or folders")
    parser.add_argument("--module", action="append", required=True, help="a module to change; repeatable")
    parser.add_argument("--sample", type=int, metavar="N", help="try N mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=18, help="of the sample (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=15.0, metavar="S", help="of tests for a mutant")
    parser.add_argument("--at-least", type=float, default=0.9, metavar="SHARE", help="to be noticed")
    parser.add_argument("--out", type=Path, metavar="FILE", help="a table of all mutants")
    return parser


if __name__ == "__main__":
    sys.exit(main())
