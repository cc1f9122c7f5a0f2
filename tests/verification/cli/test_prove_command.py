"""``python -m verification prove``."""

import pytest

from verification.audit.proofs.registry import STORED
from verification.cli.main import main


def test_a_step_is_proved_and_another_refuted_and_nothing_is_stored(capsys):
    pytest.importorskip("flint")
    pytest.importorskip("z3")
    before = STORED.read_text()
    assert main(["prove", "--only", "thm-2-fifty-two", "--only", "thm-2-combination"]) == 0
    printed = capsys.readouterr().out
    assert "proved: 5 boxes" in printed
    assert "refuted: witness certified twice" in printed
    assert "2 of 2 steps decided" in printed
    assert STORED.read_text() == before


def test_an_unknown_step_is_refused(capsys):
    pytest.importorskip("flint")
    pytest.importorskip("z3")
    assert main(["prove", "--only", "thm-9"]) == 2
    assert "thm-9" in capsys.readouterr().err


def test_without_the_extra_it_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["prove"]) == 2
    assert "the extra proofs" in capsys.readouterr().err
