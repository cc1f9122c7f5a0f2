"""What these tests share: which claims are light, ways to run claims and figures, made-up data."""

import json
import os

import numpy as np

from verification import claims, figures
from verification.claims.checking import run_claims
from verification.cli.main import main
from verification.engine.workers import Pool
from verification.figures import making
from verification.figures.definition import CellRows
from verification.style import draw_figure

#: Claims whose smoke profile is quick.
LIGHT = "lemma-1-lower", "lemma-2"


def run(names, tmp_path, pool=None, resume=False, progress=None, seed=7):
    """Run claims of the smoke profile, and give what must not depend on where they ran."""
    outcomes = run_claims(
        [claims.get(name) for name in names],
        profile="smoke",
        seed=seed,
        pool=pool or Pool(1),
        checkpoint=tmp_path / "checkpoint.jsonl",
        resume=resume,
        progress=progress,
    )
    return [numbers(outcome) for outcome in outcomes]


def run_studies(names, tmp_path, pool=None, resume=False, progress=None, seed=7):
    """Run studies of the smoke profile, and give what must not depend on where they ran."""
    found = making.run_studies(
        [figures.get_study(name) for name in names],
        profile="smoke",
        seed=seed,
        pool=pool or Pool(1),
        checkpoint=tmp_path / "checkpoint.jsonl",
        resume=resume,
        progress=progress,
    )
    return {
        (study, cell): [
            {name: value for name, value in row.items() if not name.startswith("seconds")}
            for row in samples.rows
        ]
        for study, cells in found.items()
        for cell, samples in cells.items()
    }


def numbers(outcome):
    """Everything about an outcome but the time that it took."""
    tallies = [item.tally.to_json() | {"seconds": 0} for item in outcome.counts]
    return outcome.claim.id, outcome.decision, outcome.controls, tallies


def verdicts(out):
    """The verdicts of a run by claim."""
    return {claim["id"]: claim for claim in json.loads((out / "verdicts.json").read_text())["claims"]}


def exit_code(out, *arguments):
    return main(["--profile", "smoke", "--quiet", "--out", str(out), *arguments])


def figures_exit_code(out, *arguments):
    return main(["figures", "--profile", "smoke", "--quiet", "--out", str(out), *arguments])


def run_cells(study, figure, names):
    """Run two trials of some cells, and give the tables and the picture."""
    cells = []
    for cell in study.cells:
        if cell.name in names:
            state = study.setup(cell.parameters, np.random.default_rng(0))
            rows = [row for seed in (1, 2) for row in study.trial(state, np.random.default_rng(seed))]
            cells.append(CellRows(cell, rows))
    tables = figure.tabulate(cells)
    return tables, draw_figure(lambda sheet: figure.draw(sheet, tables), figure.size)


def planted(n=20, d=6, scale=3.0, shift=40.0, noise=0.01):
    rng = np.random.default_rng(5)
    features = rng.standard_normal((n, d))
    first = scale * (features + noise * rng.standard_normal((n, d))) + shift
    return first, features + noise * rng.standard_normal((n, d))


def fill_disk(path):
    """Let the file that becomes `path` when it is finished find no room."""
    path.with_name(f".{path.name}.{os.getpid()}.tmp").symlink_to("/dev/full")
