"""A claim can be checked without having a file."""

from dataclasses import replace

from tests.verification.support import numbers, run
from verification import claims
from verification.claims.checking import try_claim


def test_a_claim_can_be_tried_without_a_file_and_gives_the_same_numbers(tmp_path):
    outcome = try_claim(claims.get("lemma-2"), profile="smoke", seed=7)
    assert [numbers(outcome)] == run(["lemma-2"], tmp_path)
    own = replace(claims.get("lemma-2"), id="of one's own")
    assert try_claim(own, profile="smoke", seed=7).decision.verdict == "supported"


def test_a_false_claim_is_found_out_when_it_is_tried():
    claim = claims.get("lemma-2")

    def fifty_times(state, rng):
        return {name: 50 * value for name, value in claim.trial(state, rng).items()}

    false = replace(claim, trial=fifty_times)
    outcome = try_claim(false, profile="smoke", seed=7)
    assert outcome.decision.verdict == "refuted"
    assert outcome.is_red
