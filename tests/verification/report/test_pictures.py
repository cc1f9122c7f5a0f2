"""Pictures of claims."""

import re

import pytest

from verification import claims
from verification.claims.checking import try_claim
from verification.report import pictures


def test_a_notebook_can_show_the_picture_of_a_claim():
    outcome = try_claim(claims.get("lemma-2"), profile="smoke", seed=7)
    assert pictures.sheet(outcome)._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("claim", ["lemma-2", "standardisation-invariance", "s_i"])
def test_a_phone_gets_a_picture_of_its_own_width(claim):
    picture = pictures.draw(try_claim(claims.get(claim), profile="smoke", seed=7))
    inline, narrow = (float(re.search(r'width="([0-9.]+)pt"', form)[1]) for form in picture[:2])
    assert narrow <= 252 < inline
    # The words are those of the wide picture, so that the same legend serves both.
    names = [set(re.findall(r">([^<>]{6,})</text>", form)) for form in picture[:2]]
    assert names[0] & names[1]
