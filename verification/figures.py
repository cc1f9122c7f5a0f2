"""The command ``python -m verification figures``: run the trials, write tables, draw pictures."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from verification import command, experiments, style, trials
from verification.claim import PROFILES
from verification.figure import CellRows, Figure, Study, Tables
from verification.files import read_table, table_to_csv, write_whole
from verification.report import environment
from verification.run import run_resumably
from verification.samples import Samples
from verification.style import Sheet
from verification.trials import Batch, Pool


def main(arguments: Sequence[str]) -> int:
    """Draw the figures: 0 if all that were asked for are there, 1 if not, 2 for a bad call."""
    options = _parser().parse_args(arguments)
    every = experiments.load()
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
        pool = command.choose_pool(options)
    except LookupError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    chosen, skipped = _leave_out(chosen)
    started = time.perf_counter()
    with command.Bar(options.quiet) as bar, command.explained_stops(options) as stopped:
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
    facts["workers"] = command.place(pool)
    failed = False
    for figure in chosen:
        cells = samples[figure.study.id]
        errors = [(name, record) for name, record in cells.items() if record.errors]
        for name, record in errors:
            print(f"{figure.id}: {record.errors} trials of {name} failed: {record.error}", file=sys.stderr)
        failed = failed or bool(errors)
        if errors:
            continue
        with command.explained_stops(options) as stopped:
            write(figure, cells, facts, options.out)
        if stopped:
            return stopped[0]
        print(f"{figure.id}: {options.out / figure.id}.png")
    print(f"{time.perf_counter() - started:.0f} s on {command.place(pool)} workers")
    # A figure that was asked for by name and is not there is a failure.
    return 1 if failed or (skipped and options.only) else 0


def run_studies(
    studies: Sequence[Study],
    *,
    profile: str,
    seed: int,
    pool: Pool,
    checkpoint: Path,
    resume: bool,
    progress: Callable[[Batch, int, int], None] | None = None,
) -> dict[str, dict[str, Samples]]:
    """Run each study once, however many figures share it; give the samples by study and cell."""
    distinct = {study.id: study for study in studies}
    batches: list[Batch] = []
    for study in distinct.values():
        planned = study.planned(profile)
        for cell in study.cells:
            batches += trials.split(study, cell, planned.get(cell.name, 0), seed)
    finished = run_resumably(
        batches,
        profile=profile,
        seed=seed,
        pool=pool,
        checkpoint=checkpoint,
        resume=resume,
        read=Samples.from_json,
        progress=progress,
    )
    found: dict[str, dict[str, Samples]] = {name: {} for name in distinct}
    for batch in batches:
        found[batch.study].setdefault(batch.cell, Samples()).merge(finished[batch])
    return found


def write(figure: Figure, samples: dict[str, Samples], facts: dict[str, object], out: Path) -> None:
    """Write a figure's tables, what they depend on, and its pictures."""
    out.mkdir(parents=True, exist_ok=True)
    cells = {cell.name: cell for cell in figure.study.cells}
    tables = figure.tabulate([CellRows(cells[name], record.rows) for name, record in samples.items()])
    for name, rows in tables.items():
        write_whole(_table_path(figure, name, out), table_to_csv(rows))
    origin = {
        **facts,
        "figure": figure.id,
        "source": figure.source,
        "study": figure.study.id,
        "tables": list(tables),
        "trials": sum(record.trials for record in samples.values()),
        "seconds_of_trials": round(sum(record.seconds for record in samples.values()), 1),
    }
    write_whole(_origin(figure, out), json.dumps(origin, indent=1) + "\n")
    # From the files, so that a picture never shows what its table does not say.
    draw(figure, read_tables(figure, out), out)


def draw(figure: Figure, tables: Tables, out: Path) -> None:
    """Draw a figure from its tables alone, as SVG and PNG."""
    drawn = sheet(figure, tables)
    write_whole(out / f"{figure.id}.svg", style.svg(drawn, figure.id))
    write_whole(out / f"{figure.id}.png", style.png(drawn, figure.id))


def sheet(figure: Figure, tables: Tables) -> Sheet:
    """Give a figure drawn from its tables; a notebook shows it."""
    return style.draw_figure(lambda empty: figure.draw(empty, tables), figure.size)


def redraw(every: dict[str, Figure], only: Sequence[str] | None, out: Path) -> None:
    """Draw again, from their files in `out`, the figures that were asked for or all that are there."""
    chosen = (
        _choose(every, only) if only else [item for item in every.values() if _origin(item, out).is_file()]
    )
    if not chosen:
        raise LookupError(f"--redraw: no figure was written to {out}; run them first, or say --out")
    for figure in chosen:
        draw(figure, read_tables(figure, out), out)


def read_tables(figure: Figure, out: Path) -> Tables:
    """Read the tables that :func:`write` left in a folder."""
    origin = _origin(figure, out)
    if not origin.is_file():
        raise LookupError(f"--redraw: {origin} is not there; run the figure first")
    names = json.loads(origin.read_text(encoding="utf-8"))["tables"]
    return {name: read_table(_table_path(figure, name, out)) for name in names}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m verification figures",
        description="Repeat the experiments of the paper. Each figure is written as SVG and PNG, with its "
        "numbers as CSV and where they come from as JSON beside it.",
    )
    command.add_run_options(parser, Path("verification-report/figures"))
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


def _origin(figure: Figure, out: Path) -> Path:
    return out / f"{figure.id}.json"


def _table_path(figure: Figure, name: str, out: Path) -> Path:
    return out / (f"{figure.id}-{name}.csv" if name else f"{figure.id}.csv")
