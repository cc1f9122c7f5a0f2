"""The examples of the pages "add a claim" and "add a figure" run as they stand there."""

import re
import sys
from pathlib import Path

from tests.verification.support import exit_code, figures_exit_code, verdicts
from verification import claims, figures

HOWTO = Path(__file__).parents[3] / "docs" / "howto"


def example(page, folder):
    """Give the code of a page's example, and the name of its module."""
    text = (HOWTO / page).read_text(encoding="utf-8")
    source = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    return source, re.search(rf"`verification/{folder}/(\w+)\.py`", text)[1]


def test_the_example_of_the_page_is_a_claim_that_runs(tmp_path, monkeypatch):
    source, name = example("claim.md", "claims")
    (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(claims, "__path__", [*claims.__path__, str(tmp_path)])
    claims.load.cache_clear()
    try:
        assert exit_code(tmp_path / "out", "--only", "largest-noise") == 0
        assert verdicts(tmp_path / "out")["largest-noise"]["verdict"] == "supported"
    finally:
        sys.modules.pop(f"verification.claims.{name}", None)
        claims.load.cache_clear()


def test_the_example_of_the_page_is_a_figure_that_runs(tmp_path, monkeypatch):
    source, name = example("figure.md", "figures")
    (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(figures, "__path__", [*figures.__path__, str(tmp_path)])
    figures.load.cache_clear()
    try:
        assert figures_exit_code(tmp_path / "out", "--only", "shift-error") == 0
        assert (tmp_path / "out" / "shift-error.png").is_file()
    finally:
        sys.modules.pop(f"verification.figures.{name}", None)
        figures.load.cache_clear()
