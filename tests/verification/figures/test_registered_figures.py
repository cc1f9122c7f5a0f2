"""What all figures must have: ids, seeds and cells of their own."""

import sys
from pathlib import Path

import pytest

from verification import figures


def test_figure_ids_are_unique(tmp_path, monkeypatch):
    copy = Path(figures.__path__[0]) / "slices.py"
    (tmp_path / "twice.py").write_bytes(copy.read_bytes())
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(tmp_path)])
    figures.load.cache_clear()
    try:
        with pytest.raises(ValueError, match="'slices' came twice"):
            figures.load()
    finally:
        sys.modules.pop("verification.figures.twice", None)
        figures.load.cache_clear()


def test_studies_do_not_share_a_seed_with_a_claim():
    from verification import claims

    assert not {figure.study.id for figure in figures.load().values()} & set(claims.load())


def test_the_cells_of_a_study_have_names_of_their_own():
    for figure in figures.load().values():
        names = [cell.name for cell in figure.study.cells]
        assert len(names) == len(set(names))
