"""What the tests of the laboratory share: which claims are light, and ways to run them."""

import json

from verification import claims, figures
from verification.claims.checking import run_claims
from verification.cli.main import main
from verification.engine.workers import Pool
from verification.figures import making

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
