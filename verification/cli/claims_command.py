"""The command ``python -m verification``: run the claims and the proof audit, and write the verdicts."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from verification import claims
from verification.audit import outcomes as audit_outcomes
from verification.claims import own
from verification.claims.checking import measure_scaling, run_claims
from verification.claims.definition import Claim
from verification.claims.outcomes import Outcome
from verification.cli.options import add_run_options, choose_pool, positive
from verification.cli.progress import Bar
from verification.cli.stops import PROGRAM_ERROR, explained_stops
from verification.engine.studies import PROFILES
from verification.engine.workers import Pool
from verification.report import page
from verification.statistics.binomial import SUITE_ERROR

_MARKS = {
    "supported": "supported",
    "refuted": "REFUTED",
    "inconclusive": "inconclusive",
    "vacuous": "vacuous",
    "broken": "BROKEN",
}


def main(arguments: Sequence[str]) -> int:
    """Run claims and audit, and give the exit code.

    0 if every claim is supported (or vacuous) and every control refuted; 1 if something is wrong; 2 for a
    call that cannot be run; 3 if something is still undecided after the largest number of trials; 4 if the
    code of a claim ended in an error, which says nothing about the statement.
    """
    options = _parser().parse_args(arguments)
    missing = [file for file in options.files if not Path(file).is_file()]
    if missing:
        print(f"{missing[0]}: no such file; a claim of one's own is a file in Python", file=sys.stderr)
        return 2
    source = _Source(options.files)
    if options.list:
        _print_list(source)
        return 0
    try:
        chosen, chosen_steps = _choose(source, options.only, options.profile)
        pool = choose_pool(options)
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    undrawn: dict[str, str] = {}
    with explained_stops(options) as stopped:
        record = _run(source, chosen, chosen_steps, pool, options)
        _print_table(record)
        if options.report or not options.files:
            undrawn = page.write(record, options.out)
            for name, why in undrawn.items():
                print(f"{name}: its picture cannot be drawn: {why}")
            print(f"\nreport: {options.out / 'report.html'}")
    if stopped:
        return stopped[0]
    code = {"RED": 1, "BROKEN": PROGRAM_ERROR, "UNDECIDED": 3, "green": 0}[record.result]
    return PROGRAM_ERROR if undrawn and code != 1 else code


class _Source:
    """Where claims come from: the suite, with the steps of its proofs, or files of the user's own."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = tuple(files)
        self.every, self.broken = own.load(files) if files else (claims.load(), claims.broken())
        self.find = own.finder(files) if files else claims.get
        self.steps: Sequence[str] = () if files else audit_outcomes.step_ids()


def _run(
    source: _Source, chosen: Sequence[Claim], steps: Sequence[str], pool: Pool, options: argparse.Namespace
) -> page.Record:
    """Run the trials and the audit, and measure how the trials speed up with workers."""
    started = time.perf_counter()
    with Bar(options.quiet) as bar:
        outcomes = run_claims(
            chosen,
            profile=options.profile,
            seed=options.seed,
            pool=pool,
            checkpoint=options.out / "checkpoint" / f"{options.profile}-{options.seed}.jsonl",
            resume=options.resume,
            patience=options.patience,
            progress=bar.batch,
            find=source.find,
            sources=source.files,
        )
    audit: Sequence[audit_outcomes.AuditOutcome] = ()
    if steps:
        with Bar(options.quiet) as bar:
            bar.expect(len(steps), "proof audit")
            audit = audit_outcomes.run_steps(steps, options.profile, options.seed, bar.step)
    scaling, every = {}, source.every
    if options.profile != "smoke" and pool.workers > 1 and not options.scheduler and "theorem-1" in every:
        scaling = measure_scaling(every["theorem-1"], options.profile, options.seed, pool.workers)
    seconds = time.perf_counter() - started
    rest = [claim for name, claim in every.items() if claim not in chosen]
    left_out = [claim.id for claim in rest if not claim.cells_of(options.profile)]
    return page.Record(
        outcomes,
        audit,
        options.profile,
        options.seed,
        seconds,
        str(pool),
        scaling,
        () if options.only else left_out,
        len(rest) if options.only else 0,
        {} if options.only else source.broken,
        tuple(Path(file).name for file in source.files),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m verification",
        description="Check every statement of the paper by simulation, and its proofs by a search "
        "for counterexamples.",
        epilog="python -m verification figures draws the figures of the paper, and python -m verification "
        "prove makes the proofs of the audit anew; both have a --help of their own.",
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="run the claims of these files in place of the suite"
    )
    add_run_options(parser, Path("verification-report"))
    parser.add_argument(
        "--report",
        action="store_true",
        help="write a report of these files, too; the suite always has one",
    )
    parser.add_argument(
        "--profile", choices=PROFILES, default="quick", help="how many trials (default: quick)"
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="ID",
        help="a claim, or the beginning of several such as lemma-1; repeatable",
    )
    parser.add_argument(
        "--patience",
        type=positive,
        default=1,
        metavar="N",
        help="undecided claims may have N times the largest number of trials; "
        "legitimate with --resume, too (default: 1)",
    )
    parser.add_argument("--list", action="store_true", help="list the claims and stop")
    return parser


def _choose(source: _Source, only: Sequence[str] | None, profile: str) -> tuple[list[Claim], list[str]]:
    """Give the claims and audit steps that were asked for: all, by id, or by the beginning of their ids."""
    every, steps = source.every, source.steps
    if not only:
        return [claim for claim in every.values() if claim.cells_of(profile)], list(steps)
    names: list[str] = []
    for word in only:
        ids = [*every, *steps]
        found = [name for name in ids if name == word] or [
            name for name in ids if name.startswith(f"{word}-")
        ]
        if word == "audit":
            found = list(steps)
        if not found:
            unread = "".join(f"; {file}.py cannot be read: {why}" for file, why in source.broken.items())
            raise LookupError(f"--only: no claim is called {word!r}; --list shows them all{unread}")
        names += found
    chosen = [every[name] for name in every if name in names]
    missing = [claim.id for claim in chosen if not claim.cells_of(profile)]
    if missing:
        raise LookupError(f"--only: {', '.join(missing)} is not part of the {profile} profile")
    return chosen, [name for name in steps if name in names]


def _print_list(source: _Source) -> None:
    width = max(map(len, (*source.every, *source.steps, *source.broken)), default=0)
    for claim in source.every.values():
        print(f"{claim.id:{width}}  {claim.kind:11}  {claim.source}")
    for name in source.steps:
        print(f"{name:{width}}  {'audit':11}  proof step")
    for name, error in source.broken.items():
        print(f"{name + '.py':{width}}  {'BROKEN':11}  {error}")


def _print_table(record: page.Record) -> None:
    if record.outcomes:
        print(
            f"{'claim':30} {'verdict':13} {'trials':>9} {'limit':>9} {'allowed':>9} {'slack':>6} "
            f"{'controls':>9} {'trials/s':>9}"
        )
    for outcome in record.outcomes:
        decision = outcome.decision
        refuted = sum(not control.survived for control in outcome.controls)
        print(
            f"{outcome.claim.id:30} {_MARKS[decision.verdict]:13} {decision.trials:9,} "
            f"{_short(decision.upper_limit):>9} "
            f"{_short(decision.allowed):>9} {_short(decision.slack):>6} "
            f"{f'{refuted}/{len(outcome.controls)}':>9} "
            f"{_short(outcome.trials_per_second):>9}"
        )
        _print_trouble(outcome)
    for name, error in record.unread.items():
        print(f"{name + '.py':30} BROKEN        cannot be read: {error}")
    if record.left_out:
        print(f"\nleft out of the {record.profile} profile: {', '.join(record.left_out)}")
    if record.audit:
        counts = Counter(item.step.verdict for item in record.audit)
        said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        print(f"\nproof audit, {len(record.audit)} step{'s' * (len(record.audit) > 1)}: {said}")
        for item in record.audit:
            if item.step.verdict != "proved" or item.is_red:
                mark = "NEW FAILURE" if item.is_red else "known" if item.known else item.step.verdict
                print(f"  {item.step.id:32} {mark:12} {item.known or item.step.explanation}")
                for name in item.survivors:
                    print(f"    control survived: {name}")
            if item.is_repaired:
                print(f"  {item.step.id:32} is listed as a known failure, but no counterexample was found")
    if record.scaling:
        one, many = (record.scaling[count] for count in sorted(record.scaling))
        print(
            f"\nscaling: {one:,.0f} trials/s with 1 worker, {many:,.0f} with {max(record.scaling)} "
            f"({many / one:.2f} times)"
        )
    print(
        f"{record.seconds:.0f} s on {record.workers} workers; false-fail rate of the whole suite at "
        f"most {SUITE_ERROR:g}, undecided claims and controls included"
    )
    print(f"result: {record.result}")


def _print_trouble(outcome: Outcome) -> None:
    if outcome.decision.verdict in ("refuted", "inconclusive", "broken"):
        print(f"    {outcome.decision.detail}")
    for control in outcome.controls:
        if control.verdict == "inconclusive":
            print(f"    CONTROL UNDECIDED: {control.name}")
        elif control.survived:
            print(f"    CONTROL SURVIVED ({control.verdict}): {control.name}")


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
