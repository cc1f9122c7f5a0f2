"""What the pages say about runs comes from stored runs, and counts of claims from the claims."""

import json
import re
from pathlib import Path

import pytest

from verification import claims
from verification.engine.tables import read_table
from verification.figures.rare_failures import slope
from verification.sabotage.catalogue import MUTATIONS

CHECKOUT = Path(__file__).parents[2]
SEEDS = read_table(CHECKOUT / "docs" / "verification" / "smoke-seeds.csv")


def text(page):
    return re.sub(r"\s+", " ", (CHECKOUT / page).read_text(encoding="utf-8"))


def test_the_page_counts_what_is_there():
    page = text("docs/theory.md")
    every = claims.load().values()
    controls = sum(len(claim.controls) for claim in every)
    assert f"There are {len(every)} claims with {controls} controls." in page
    told = re.search(
        r"the smoke profile with (\d+) seeds .*?each of the (\d+) claims .*? their (\d+) controls", page
    )
    assert [int(number) for number in told.groups()] == [
        len(SEEDS),
        *{row["claims"] for row in SEEDS},
        *{row["controls"] for row in SEEDS},
    ]


def test_the_stored_runs_were_green():
    for row in SEEDS:
        assert row["exit_code"] == 0
        assert (row["supported"], row["controls_refuted"]) == (row["claims"], row["controls"])


def test_the_page_tells_how_the_quick_seeds_ended():
    page = text("docs/what-would-be-noticed.md")
    rows = read_table(CHECKOUT / "docs" / "verification" / "quick-seeds.csv")
    for row in rows:
        decided = row["supported"] == row["claims"] and row["controls_refuted"] == row["controls"]
        assert decided == (row["exit_code"] == 0)
    assert [row["seed"] for row in rows if row["exit_code"] != 0] == [11]
    assert [row["seed"] for row in rows if row["exit_code"] == 0] == [12, 13, 14, 15, 11]
    assert "One of the five runs, with 11, ended red" in page
    (claims,), (controls,) = ({row[name] for row in rows} for name in ("claims", "controls"))
    counts = f"all {claims:.0f} claims were supported and all {controls:.0f} controls refuted"
    assert f"With 12 to 15, and with 11 again, {counts}" in page


def test_the_page_on_power_counts_the_mutations():
    page = text("docs/what-would-be-noticed.md")
    assert f"There are {len(MUTATIONS)} such changes." in page
    unseen = sum(bool(mutation.unseen) for mutation in MUTATIONS.values())
    words = {8: "Eight", 9: "Nine", 10: "Ten", 11: "Eleven", 12: "Twelve", 13: "Thirteen"}
    assert f"{words[unseen]} cannot be seen" in page


def test_the_page_on_power_quotes_the_thresholds():
    rows = read_table(CHECKOUT / "docs" / "figures" / "empirical-threshold.csv")
    page = text("docs/what-would-be-noticed.md")
    for family in ("random directions", "adversarial"):
        asked, enough = ([row[key] for row in rows if row["family"] == family] for key in ("asked", "enough"))
        ends = f"{min(asked):.0f} to {max(asked):.0f} where {min(enough):.1f} to {max(enough):.1f} is enough"
        assert ends in page


def test_the_page_on_power_quotes_the_rare_failures():
    rows = read_table(CHECKOUT / "docs" / "figures" / "rare-failures-thresholds.csv")
    page = text("docs/what-would-be-noticed.md")
    by_delta = {row["delta"]: row for row in rows}
    last, other = by_delta[1e-12], by_delta[1e-6]
    assert (
        f"a separation of {last['enough']:.1f} is enough there where it asks for {last['asked']:.0f}" in page
    )
    assert f"at δ = 1e-6 it is {other['enough']:.1f} and {other['asked']:.0f}" in page
    grows = f"grows by {slope(rows, 'enough'):.1f} for each unit of log(1/δ), that of the threshold by"
    assert f"{grows} {round(slope(rows, 'asked'), -1):.0f}." in page


@pytest.mark.parametrize("name", ["smoke-983849", "quick-435424", "full-435424"])
def test_the_runs_with_a_seed_drawn_afterwards_are_quoted(name):
    stored = json.loads((CHECKOUT / "docs" / "verification" / f"{name}.json").read_text(encoding="utf-8"))
    claimed = [claim for claim in stored["claims"] if claim["id"] in claims.load()]  # not the audit's steps
    controls = [control for claim in claimed for control in claim["controls"]]
    assert {claim["verdict"] for claim in claimed} == {"supported"}
    assert {control["verdict"] for control in controls} == {"refuted"}
    counts = f"all {len(claimed)} claims were supported and all {len(controls)} controls refuted"
    assert f"with the seed {stored['seed']} {counts}" in text("docs/what-would-be-noticed.md")


def test_the_page_on_power_counts_the_changes_of_the_code():
    page = text("docs/what-would-be-noticed.md")
    groups = {}
    for row in read_table(CHECKOUT / "docs" / "verification" / "code-mutation.csv"):
        module = "lslmatch.alignment" if row["module"].startswith("lslmatch.alignment") else row["module"]
        groups.setdefault(module, []).append(row["noticed"] != "no")
    assert len(groups) == 6
    for module, noticed in groups.items():
        assert f"| `{module}` | {sum(noticed)} of {len(noticed)} |" in page
