"""The command ``python -m verification prove``: make the proofs of the audit's steps anew, and check them."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Sequence

from verification.audit import STEPS
from verification.audit.proofs import making
from verification.audit.proofs.kernel import failures
from verification.audit.proofs.registry import PROOFS, STORED, WITNESSES
from verification.audit.proofs.witnesses import doubts
from verification.audit.step import Step


def main(arguments: Sequence[str]) -> int:
    """Prove or refute every step: 0 if all are decided, 1 if not, 2 for a bad call or a missing package."""
    options = _parser().parse_args(arguments)
    missing = [name for name in ("flint", "z3") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{', '.join(missing)} is not installed; the extra proofs has it", file=sys.stderr)
        return 2
    chosen = [step for step in STEPS if not options.only or step.id in options.only]
    unknown = set(options.only or ()) - {step.id for step in chosen}
    if unknown:
        print(f"--only: no step is called {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    started, trees, open_steps = time.perf_counter(), {}, []
    for step in chosen:
        said, made = _decide(step)
        print(f"{step.id:40} {said}", flush=True)
        if made:
            trees[step.id] = made
        if not said.startswith(("proved", "refuted")):
            open_steps.append(step.id)
    decided = len(chosen) - len(open_steps)
    print(f"{decided} of {len(chosen)} steps decided in {time.perf_counter() - started:.0f} s")
    if not options.only:
        STORED.write_text(json.dumps(trees, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        print(f"trees: {STORED}")
    return 1 if open_steps else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m verification prove",
        description="Make the proofs of the audit's steps anew, in ball arithmetic and with an SMT solver, "
        "check them, and store what the audit rechecks.",
    )
    parser.add_argument(
        "--only", action="append", metavar="ID", help="a step; repeatable; nothing is stored then"
    )
    return parser


def _decide(step: Step) -> tuple[str, dict[int, str]]:
    """Say what became of a step, and give the trees of its goals."""
    if step.id in WITNESSES:
        witness = WITNESSES[step.id]
        wrong = doubts(step.problem, witness)
        wrong += doubts(step.problem, witness, making.balls(), lambda value: making.ball(value, value))
        return ("refuted: witness certified twice" if not wrong else f"OPEN: {wrong[0]}"), {}
    if step.id not in PROOFS:
        return "OPEN: searched only", {}
    proof = PROOFS[step.id]
    made = making.make(proof)
    wrong = failures(step.problem, proof, made.trees)
    wrong += [f"the solver says {said} of goal {k}" for k, said in made.opinions.items() if said != "unsat"]
    if wrong:
        return f"OPEN: {wrong[0]}", made.trees
    leaves = sum(letter in "po" for tree in made.trees.values() for letter in tree)
    parts = [f"{len(made.opinions)} by algebra and solver"] if made.opinions else []
    parts += [f"{leaves} boxes"] if leaves else []
    return f"proved: {', '.join(parts) or 'a number'}", made.trees
