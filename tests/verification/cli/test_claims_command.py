"""The command `python -m verification`, end to end in the smoke profile."""

import dataclasses
import json
import re

import pytest

from tests.verification.support import LIGHT, exit_code, verdicts
from verification import audit, claims
from verification.cli import progress
from verification.cli.main import main
from verification.engine.trials import Batch

AUDIT_FIELDS = {"method", "reduction", "exact_witness", "repair", "line", "consequence"}
FIELDS = {"id", "statement", "kind", "verdict", "trials", "violations", "allowed", "upper_limit", "slack"}
FIELDS |= {"controls", "cells", "trials_per_second"}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One end-to-end run; the audit's own tests search its steps."""
    out = tmp_path_factory.mktemp("run") / "report"
    every = [name for name, claim in claims.load().items() if claim.cells_of("smoke")]
    names = [*every, "section-4-scale-minimiser"]
    return out, exit_code(out, *(word for name in names for word in ("--only", name)))


def test_nothing_is_refuted_and_no_control_survives(smoke):
    out, code = smoke
    found = verdicts(out)
    assert {name: claim["verdict"] for name, claim in found.items() if claim["verdict"] == "refuted"} in (
        {},
        {"section-4-scale-minimiser": "refuted"},
    )
    assert code == 0


def test_every_claim_is_supported_even_in_the_smoke_profile(smoke):
    found = verdicts(smoke[0])
    assert {claim["verdict"] for claim in found.values() if claim["kind"] != "audit"} == {"supported"}
    assert len(found) >= len([claim for claim in claims.load().values() if claim.cells_of("smoke")])


def test_verdicts_have_the_agreed_fields(smoke):
    record = json.loads((smoke[0] / "verdicts.json").read_text())
    fields = {"seed", "profile", "versions", "revision", "seconds", "claims", "left_out", "broken"}
    assert set(record) == fields
    for claim in record["claims"]:
        assert set(claim) - AUDIT_FIELDS == FIELDS
        assert claim["verdict"] in (
            "supported",
            "refuted",
            "inconclusive",
            "vacuous",
            "proved",
            "searched only",
        )
        for control in claim["controls"]:
            assert set(control) == {"name", "verdict", "expected"}
            assert control["verdict"] == control["expected"] == "refuted"
        for cell in claim["cells"]:
            assert {"name", "parameters", "trials", "violations"} <= set(cell)


def test_report_needs_nothing_from_outside(smoke):
    html = (smoke[0] / "report.html").read_text(encoding="utf-8")
    outside = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?!#)([^"'\s>)]+)""", html)
    assert [link for link in outside if not link.startswith(("#", "data:image/png;base64,"))] == []
    assert "<script" not in html


def test_report_opens_with_the_verdicts_and_shows_every_claim(smoke):
    html = (smoke[0] / "report.html").read_text(encoding="utf-8")
    for name, claim in verdicts(smoke[0]).items():
        if claim["kind"] == "audit" and name not in claims.load():
            assert f'id="{name}"' in html
            continue
        slug = claims.get(name).slug
        assert html.index(f'href="#{slug}"') < html.index(f'id="{slug}"')
        assert (smoke[0] / "pictures" / f"{slug}.svg").read_text().startswith("<svg")
    assert html.index('id="verdicts"') < html.index('id="claims"')
    assert "Minimax lower bounds range over all estimators" in html


def test_nothing_half_written_is_left(smoke):
    assert not list(smoke[0].rglob("*.tmp"))


def test_only_takes_ids(tmp_path):
    assert exit_code(tmp_path, "--only", "s_i", "--only", "lemma-1-lower") == 0
    assert set(verdicts(tmp_path)) == {"s_i", "lemma-1-lower"}


@pytest.mark.parametrize("word", ["lemma-99", "lemm", "sqrt-rho-necessity"])
def test_only_says_what_it_does_not_know(word, tmp_path, capsys):
    assert exit_code(tmp_path, "--only", word) == 2
    assert word in capsys.readouterr().err


def test_list_names_all_claims(capsys):
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{name} " in f"\n{listed}" for name in claims.load())


def test_table_goes_to_the_terminal(tmp_path, capsys):
    exit_code(tmp_path, "--only", LIGHT[1])
    printed = capsys.readouterr().out
    assert re.search(rf"{LIGHT[1]} +supported", printed)
    assert "false-fail rate of the whole suite at most 0.001" in printed
    assert "result: green" in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workers", "0"], "at least 1; got '0'"),
        (["--workers", "x"], "must be a whole number of at least 1; got 'x'"),
        (["--seed", "-1"], "at least 0; got '-1'"),
        (["--profile", "huge"], "huge"),
        (["--scheduler", "rubbish"], "must be an address such as tcp://HOST:PORT; got 'rubbish'"),
    ],
)
def test_wrong_calls(arguments, said, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_one_step_of_the_audit_runs_alone(tmp_path, monkeypatch):
    searched = []
    honest = audit.audit

    def search(step, seed, effort):
        searched.append(step.id)
        return honest(step, seed, effort)

    monkeypatch.setattr(audit, "audit", search)
    assert exit_code(tmp_path, "--only", "section-4-scale-minimiser") == 0
    assert searched == ["section-4-scale-minimiser"]


def test_an_undecided_claim_has_an_exit_code_of_its_own(tmp_path, monkeypatch, capsys):
    claim = claims.get("lemma-2")

    def on_the_edge(state, rng):
        values = claim.trial(state, rng)
        values[claim.column] = 2.0 * (rng.random() < 0.06)
        return values

    monkeypatch.setitem(claims.load(), "lemma-2", dataclasses.replace(claim, trial=on_the_edge))
    assert exit_code(tmp_path, "--only", "lemma-2") == 3
    printed = capsys.readouterr().out
    assert "result: UNDECIDED" in printed
    assert "more trials would decide it" in printed or "inconclusive" in printed
    assert "undecided" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_without_a_terminal_progress_comes_in_lines(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_SECONDS", 0.0)
    with progress.Bar(quiet=False) as bar:
        bar.batch(Batch("lemma-2", "cell", 0, 1, 1), 3, 7)
        bar.expect(2, "proof audit")
        bar.step("one")
    with progress.Bar(quiet=True) as bar:
        bar.batch(Batch("lemma-3", "cell", 0, 1, 1), 3, 7)
    lines = capsys.readouterr().err
    assert "3 of 7 batches so far planned; last lemma-2" in lines
    assert "of 2 steps; last one" in lines
    assert "lemma-3" not in lines
