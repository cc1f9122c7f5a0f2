"""What the pages say about runs comes from stored runs, and counts of claims from the claims."""

import json
import re
from pathlib import Path

import pytest

from verification import claims
from verification.engine.tables import read_table
from verification.sabotage.catalogue import MUTATIONS

CHECKOUT = Path(__file__).parents[2]
SEEDS = read_table(CHECKOUT / "docs" / "verification" / "smoke-seeds.csv")


def text(page):
    return re.sub(r"\s+", " ", (CHECKOUT / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", ["README.md", "docs/theory.md"])
def test_pages_count_what_is_there(page):
    every = claims.load().values()
    controls = sum(len(claim.controls) for claim in every)
    assert f"There are {len(every)} claims with {controls} controls." in text(page)
    told = re.search(
        r"the smoke profile with (\d+) seeds .*?each of the (\d+) claims .*? their (\d+) controls", text(page)
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


def test_the_run_with_a_seed_drawn_afterwards_is_quoted():
    stored = json.loads(
        (CHECKOUT / "docs" / "verification" / "smoke-983849.json").read_text(encoding="utf-8")
    )
    controls = [control for claim in stored["claims"] for control in claim["controls"]]
    assert {claim["verdict"] for claim in stored["claims"]} == {"supported"}
    assert {control["verdict"] for control in controls} == {"refuted"}
    counts = f"all {len(stored['claims'])} claims were supported and all {len(controls)} controls refuted"
    assert f"with the seed {stored['seed']} {counts}" in text("docs/what-would-be-noticed.md")
