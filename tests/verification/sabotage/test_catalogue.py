"""The catalogue of mutations: complete, and a small part of it run."""

import pytest

from tests.verification.support import exit_code, verdicts
from verification import claims
from verification.cli.main import main
from verification.sabotage.catalogue import MUTATIONS
from verification.sabotage.mutation import Mutation
from verification.sabotage.running import run_mutations


def test_there_are_enough_mutations_and_their_claims_exist():
    assert len(MUTATIONS) >= 60
    assert {name for mutation in MUTATIONS.values() for name in mutation.claims} <= set(claims.load())


def test_most_must_be_seen_and_the_others_say_why_not():
    unseen = [mutation for mutation in MUTATIONS.values() if mutation.unseen]
    assert len(unseen) < len(MUTATIONS) / 6
    assert all(len(mutation.unseen) > 30 for mutation in unseen)


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_a_mutation_changes_its_target_and_changes_it_back(mutation):
    import importlib

    module, _, path = mutation.target.split()[0].partition(":")

    def find():
        found = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
        return found

    honest = find()
    with mutation.applied():
        assert find() is not honest
    assert find() is honest


@pytest.mark.parametrize(
    "name",
    ["typed-threshold-51", "rho-root", "phi-1-at-one", "lemma-2-exponent", "forged-lss", "lemma-4-third"]
    + ["confidence-tenth", "rate-tenth", "rate-used-tenth", "sums-for-means", "floor-doubled"],
)
def test_some_that_must_be_seen_are_seen(name):
    (found,) = run_mutations([MUTATIONS[name]], seed=3)
    assert found.is_as_expected
    assert "Error" not in found.seen_by


def test_one_that_is_true_is_not_seen_and_says_what_would_be():
    (found,) = run_mutations([MUTATIONS["lemma-3-epsilon"]], seed=3)
    assert found.is_as_expected
    assert "lemma-3 refutes" in found.caught


def test_a_claim_that_is_not_green_anyway_sees_nothing():
    broken = Mutation("broken", "", "lslmatch.theory:noise_floor", lambda honest: honest, ("no such claim",))
    with pytest.raises(ValueError, match="must be green without a mutation"):
        run_mutations([broken], seed=3)


def test_a_mutation_that_breaks_a_claim_is_seen():
    nothing = Mutation("nothing", "", "lslmatch.costs:log_rule", lambda honest: None, ("coincident-floor",))
    (found,) = run_mutations([nothing], seed=3)
    assert found.seen_by.startswith("coincident-floor: broken: ")


def test_the_command_writes_its_table(tmp_path, capsys):
    arguments = ["sabotage", "--only", "floor-root", "--out", str(tmp_path), "--quiet", "--seed", "3"]
    assert main(arguments) == 0
    assert "1 of 1 mutations seen" in capsys.readouterr().out
    assert "floor-root" in (tmp_path / "sabotage.csv").read_text()
    assert main(["sabotage", "--only", "nothing"]) == 2


def test_sabotage_leaves_the_claims_as_they_were(tmp_path):
    assert exit_code(tmp_path, "--only", "right-hand-sides") == 0
    assert verdicts(tmp_path)["right-hand-sides"]["verdict"] == "supported"
