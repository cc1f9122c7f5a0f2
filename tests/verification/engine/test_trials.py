"""Batches: the unit of work."""

import dataclasses

import pytest

from verification import claims
from verification.engine import trials
from verification.engine.trials import Batch


@pytest.mark.parametrize("size", [1, 7, 5000])
def test_batch_size_changes_nothing(size, monkeypatch):
    claim = claims.get("lemma-2")
    cell = claim.cells[1]

    def total(claim):
        tallies = [trials.run_batch(claims.get, batch)[1] for batch in trials.split(claim, cell, 60, seed=3)]
        for tally in tallies[1:]:
            tallies[0].merge(tally)
        return tallies[0].to_json() | {"seconds": 0}

    assert total(claim) == total(dataclasses.replace(claim, batch=size))


def test_a_batch_knows_all_that_a_worker_needs():
    batch = Batch("lemma-2", "n=8 d=1 delta=0.06", 0, 3, 1)
    assert trials.run_batch(claims.get, batch)[1].trials == 3
