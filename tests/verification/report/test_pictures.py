"""Pictures of claims."""

from verification import claims
from verification.claims.checking import try_claim
from verification.report import pictures


def test_a_notebook_can_show_the_picture_of_a_claim():
    outcome = try_claim(claims.get("lemma-2"), profile="smoke", seed=7)
    assert pictures.sheet(outcome)._repr_png_().startswith(b"\x89PNG")
