"""From a figure's definition to its files: run the trials, write the tables, draw the pictures from them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from verification import figures, style
from verification.engine.files import write_whole
from verification.engine.runs import Progress, run_resumably
from verification.engine.samples import Samples
from verification.engine.studies import Study
from verification.engine.tables import read_table, table_to_csv
from verification.engine.trials import Batch, split
from verification.engine.workers import Pool
from verification.figures.definition import CellRows, Figure, Tables
from verification.style import Sheet


def run_studies(
    studies: Sequence[Study],
    *,
    profile: str,
    seed: int,
    pool: Pool,
    checkpoint: Path,
    resume: bool,
    progress: Progress | None = None,
) -> dict[str, dict[str, Samples]]:
    """Run each study once, however many figures share it; give the samples by study and cell."""
    distinct = {study.id: study for study in studies}
    batches: list[Batch] = []
    for study in distinct.values():
        planned = study.planned(profile)
        for cell in study.cells:
            batches += split(study, cell, planned.get(cell.name, 0), seed)
    finished = run_resumably(
        batches,
        figures.get_study,
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
    write_whole(origin_path(figure, out), json.dumps(origin, indent=1) + "\n")
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


def read_tables(figure: Figure, out: Path) -> Tables:
    """Read the tables that :func:`write` left in a folder."""
    origin = origin_path(figure, out)
    if not origin.is_file():
        raise LookupError(f"--redraw: {origin} is not there; run the figure first")
    names = json.loads(origin.read_text(encoding="utf-8"))["tables"]
    return {name: read_table(_table_path(figure, name, out)) for name in names}


def origin_path(figure: Figure, out: Path) -> Path:
    """Give the file that says where a figure's numbers come from."""
    return out / f"{figure.id}.json"


def _table_path(figure: Figure, name: str, out: Path) -> Path:
    return out / (f"{figure.id}-{name}.csv" if name else f"{figure.id}.csv")
