"""A claim whose own code fails is no evidence: an exit code of its own, the other claims, and the report."""

import dataclasses
import json
import textwrap

import pytest

from tests.verification.support import exit_code, verdicts
from verification import claims, cli
from verification.claims.definition import Condition
from verification.claims.sampling import Sampling
from verification.cli import claims_command
from verification.cli.main import main
from verification.report import pictures


def _nan(state, rng):
    return {"delta / tail": float("nan")}


def _typo(state, rng):
    return {"delta / tail": rng.standard_norml()}


def _divides(counts, column):
    return 1 / 0


BROKEN = {
    "a NaN": ({"trial": _nan}, "must not return NaN"),
    "a typo in its trial": ({"trial": _typo}, "standard_norml"),
    "an error in its setup": (
        {"setup": lambda parameters, rng: parameters["nothing"]},
        "KeyError: 'nothing'",
    ),
    "an error in its decision": ({"decide": _divides}, "ZeroDivisionError"),
    "a column that no trial returns": ({"column": "nothing"}, "no trial returned a column 'nothing'"),
    "a cell outside of its conditions": (
        {"conditions": (Condition("n ≥ 9", lambda parameters: parameters["n"] >= 9),)},
        "must meet n ≥ 9",
    ),
}


@pytest.mark.parametrize(("change", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_claim_leaves_the_others_and_the_report(change, said, tmp_path, monkeypatch, capsys):
    broken = dataclasses.replace(claims.get("lemma-2"), **change)
    monkeypatch.setitem(claims.load(), "lemma-2", broken)
    assert exit_code(tmp_path, "--only", "lemma-2", "--only", "s_i") == 4
    found = verdicts(tmp_path)
    assert found["lemma-2"]["verdict"] == "broken"
    assert found["s_i"]["verdict"] == "supported"
    assert said in capsys.readouterr().out
    assert "broken" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert said in json.loads((tmp_path / "verdicts.json").read_text(encoding="utf-8"))["broken"]["lemma-2"]


def test_a_refutation_beside_a_broken_claim_is_still_a_refutation(tmp_path, monkeypatch):
    claim = claims.get("s_i")
    false = dataclasses.replace(claim, column="over sigma_i^2")
    monkeypatch.setitem(claims.load(), "s_i", false)
    monkeypatch.setitem(claims.load(), "lemma-2", dataclasses.replace(claims.get("lemma-2"), trial=_nan))
    assert exit_code(tmp_path, "--only", "lemma-2", "--only", "s_i") == 1


def test_a_cell_outside_of_the_conditions_is_found_before_any_trial(monkeypatch):
    def never(state, rng):
        raise AssertionError("a trial was run")

    outside = Condition("n ≥ 9", lambda parameters: parameters["n"] >= 9)
    claim = dataclasses.replace(claims.get("lemma-2"), trial=never, conditions=(outside,))
    course = Sampling(claim, "smoke", 1)
    assert not course.batches
    assert course.outcome.decision.verdict == "broken"
    inside = dataclasses.replace(claim, conditions=(outside._replace(holds=lambda parameters: True),))
    assert Sampling(inside, "smoke", 1).batches


def test_a_picture_that_cannot_be_drawn_does_not_cost_the_report(tmp_path, monkeypatch, capsys):
    def fails(outcome):
        raise ValueError("no ink")

    monkeypatch.setattr(pictures, "draw", fails)
    assert exit_code(tmp_path, "--only", "lemma-2") == 4
    assert "picture cannot be drawn: ValueError: no ink" in capsys.readouterr().out
    assert verdicts(tmp_path)["lemma-2"]["verdict"] == "supported"


@pytest.mark.parametrize(
    ("source", "said"),
    [("CLAIMS = (", "SyntaxError"), ("CLAIMS = (nothing,)", "NameError"), ("", "no attribute 'CLAIMS'")],
)
def test_a_file_that_cannot_be_read_is_named_and_the_others_are_there(
    source, said, tmp_path, monkeypatch, capsys
):
    (tmp_path / "unreadable.py").write_text(textwrap.dedent(source))
    monkeypatch.setattr(claims, "__path__", [*claims.__path__, str(tmp_path)])
    claims.load.cache_clear()
    try:
        assert set(claims.broken()) == {"unreadable"}
        assert main(["--list"]) == 0
        listed = capsys.readouterr().out
        assert said in listed
        assert "theorem-2" in listed
        monkeypatch.setattr(claims_command, "_choose", lambda source, *rest: ([source.every["lemma-2"]], []))
        assert exit_code(tmp_path / "out") == 4
        assert verdicts(tmp_path / "out")["lemma-2"]["verdict"] == "supported"
        assert "unreadable.py" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    finally:
        claims.load.cache_clear()


def test_every_file_of_the_claims_can_be_read():
    assert claims.broken() == {}


def test_what_the_smoke_profile_leaves_out_is_named(tmp_path, monkeypatch, capsys):
    every = claims.load()
    left_out = [name for name, claim in every.items() if not claim.cells_of("smoke")]
    assert left_out
    monkeypatch.setattr(claims_command, "_choose", lambda *asked: ([every["lemma-2"]], []))
    exit_code(tmp_path)
    assert f"left out of the smoke profile: {', '.join(left_out)}" in capsys.readouterr().out
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(f"<code>{name}</code>" in html for name in left_out)
    assert "every statement, checked" not in html
    assert json.loads((tmp_path / "verdicts.json").read_text())["left_out"] == left_out


def test_an_error_that_nobody_expected_has_that_exit_code_too(monkeypatch, capsys):
    def fails(arguments):
        raise RuntimeError("unexpected")

    monkeypatch.setattr(cli.claims_command, "main", fails)
    assert main(["--list"]) == 4
    assert "RuntimeError: unexpected" in capsys.readouterr().err
