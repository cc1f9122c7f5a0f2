"""The command ``python -m verification figures``: run the trials, write tables, draw pictures."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from verification import figures
from verification.cli.options import add_run_options, choose_pool
from verification.cli.progress import Bar
from verification.cli.stops import explained_stops
from verification.engine.studies import PROFILES
from verification.figures.definition import Figure
from verification.figures.making import draw, origin_path, read_tables, run_studies, write
from verification.report.environment import environment


def main(arguments: Sequence[str]) -> int:
    """Draw the figures: 0 if all that were asked for are there, 1 if not, 2 for a bad call."""
    options = _parser().parse_args(arguments)
    every = figures.load()
    if options.list:
        width = max(map(len, every))
        for figure in every.values():
            print(f"{figure.id:{width}}  {figure.source}")
        return 0
    try:
        if options.redraw:
            redraw(every, options.only, options.out)
            return 0
        chosen = _choose(every, options.only, options.profile)
        pool = choose_pool(options)
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    chosen, skipped = _leave_out(chosen)
    started = time.perf_counter()
    with Bar(options.quiet) as bar, explained_stops(options) as stopped:
        samples = run_studies(
            [figure.study for figure in chosen],
            profile=options.profile,
            seed=options.seed,
            pool=pool,
            checkpoint=options.out / "checkpoint" / f"figures-{options.profile}-{options.seed}.jsonl",
            resume=options.resume,
            progress=bar.batch,
        )
    if stopped:
        return stopped[0]
    facts = environment(options.profile, options.seed, time.perf_counter() - started)
    facts["workers"] = str(pool)
    failed = False
    for figure in chosen:
        cells = samples[figure.study.id]
        errors = [(name, record) for name, record in cells.items() if record.errors or record.broken]
        for name, record in errors:
            lost = f"{record.errors} trials of {name} failed: {record.error}"
            print(f"{figure.id}: {record.broken or lost}", file=sys.stderr)
        failed = failed or bool(errors)
        if errors:
            continue
        with explained_stops(options) as stopped:
            write(figure, cells, facts, options.out)
        if stopped:
            return stopped[0]
        print(f"{figure.id}: {options.out / figure.id}.png")
    print(f"{time.perf_counter() - started:.0f} s on {pool} workers")
    # A figure that was asked for by name and is not there is a failure.
    return 1 if failed or (skipped and options.only) else 0


def redraw(every: dict[str, Figure], only: Sequence[str] | None, out: Path) -> None:
    """Draw again, from their files in `out`, the figures that were asked for or all that are there."""
    chosen = (
        _choose(every, only)
        if only
        else [item for item in every.values() if origin_path(item, out).is_file()]
    )
    if not chosen:
        raise LookupError(f"--redraw: no figure was written to {out}; run them first, or say --out")
    for figure in chosen:
        draw(figure, read_tables(figure, out), out)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m verification figures",
        description="Repeat the experiments of the paper. Each figure is written as SVG and PNG, with its "
        "numbers as CSV and where they come from as JSON beside it.",
    )
    add_run_options(parser, Path("verification-report/figures"))
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--profile", choices=PROFILES, default="quick", help="sizes and number of trials (default: quick)"
    )
    size.add_argument(
        "--full",
        action="store_const",
        const="full",
        dest="profile",
        help="the paper's sizes: the same as --profile full",
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="one figure; repeatable")
    parser.add_argument("--redraw", action="store_true", help="draw again from the CSV files, without trials")
    parser.add_argument("--list", action="store_true", help="list the figures and stop")
    return parser


def _choose(every: dict[str, Figure], only: Sequence[str] | None, profile: str | None = None) -> list[Figure]:
    """Give the figures of these names, or all of them; of a profile, unless it is None."""
    for word in only or ():
        if word not in every:
            raise LookupError(f"--only: no figure is called {word!r}; there are {', '.join(every)}")
        if profile and not every[word].study.planned(profile):
            raise LookupError(f"--only: {word} is not part of the {profile} profile")
    named = [every[name] for name in every if not only or name in only]
    return [figure for figure in named if profile is None or figure.study.planned(profile)]


def _leave_out(chosen: Sequence[Figure]) -> tuple[list[Figure], list[Figure]]:
    """Part the figures that this machine can run from those that it cannot, and say why."""
    reasons = {figure.id: figure.missing() for figure in chosen}
    for name, reason in reasons.items():
        if reason:
            print(f"{name}: left out, {reason}", file=sys.stderr)
    can = [figure for figure in chosen if not reasons[figure.id]]
    return can, [figure for figure in chosen if reasons[figure.id]]
