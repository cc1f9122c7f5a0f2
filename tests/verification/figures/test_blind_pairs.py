"""The study of limits for false pairs that have a proof."""

import numpy as np

from tests.verification.support import run_cells
from verification.figures import blind_pairs

CELLS = {cell.name: cell for cell in blind_pairs.STUDY.cells}


def test_limits_are_compared_and_cells_above_them_counted(monkeypatch):
    monkeypatch.setattr(blind_pairs, "_BESIDE", 1.0)
    names = [
        next(name for name, cell in CELLS.items() if cell.parameters["group"] == group and cell.trials[0])
        for group in (blind_pairs.SMALL, blind_pairs.BROKEN)
    ]
    tables, sheet = run_cells(blind_pairs.STUDY, blind_pairs.FIGURES[0], names)
    assert len(tables[""]) == 2 * 2 * len(blind_pairs.ASKED)
    assert {row["cells"] for row in tables["groups"]} == {1}
    assert len(sheet.axes) == len(blind_pairs.ASKED)
    for row in tables[""]:
        if row["method"] == blind_pairs.BLIND and row["asked"] == 0.1:
            assert row["found"] > 0.5
            assert row["pairs"] >= 10


def test_relatives_and_noise_are_planted():
    place = next(c.parameters for c in CELLS.values() if c.parameters["kind"] == blind_pairs.RELATIVES)
    plain, noisy, related = (
        blind_pairs._draw({**place, "kind": kind}, np.random.default_rng(1))
        for kind in (blind_pairs.ONE_SIDE, blind_pairs.NOISIER, blind_pairs.RELATIVES)
    )
    rows = np.flatnonzero(plain.partner >= 0)

    def spread(sets):
        partners = sets.affine.apply(sets.y[sets.partner[rows]])
        return np.square(sets.x[rows] - partners).mean()

    assert 6.0 < spread(noisy) / spread(plain) < 11.0  # (1 + 16) / 2
    strangers = np.flatnonzero(related.partner < 0)[:18]
    mapped = related.affine.apply(related.y)
    nearest = np.square(related.x[strangers, None] - mapped).sum(axis=2).min(axis=1)
    assert np.median(nearest) < 4.0 * place["d"] * spread(related)
    assert (related.partner == plain.partner).all()
