"""All proofs and witnesses by the id of their step, and the stored trees."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from verification.audit.proofs import (
    events,
    lemmas,
    proposition_1,
    section_4,
    sharper,
    theorem_1,
    theorem_2,
    theorem_2_constants,
)
from verification.audit.proofs.kernel import Proof
from verification.audit.proofs.witnesses import WITNESSES

__all__ = ["PROOFS", "STORED", "WITNESSES", "stored_trees"]

#: For each step whose proof has goals on boxes, the tree of each such goal.
STORED = Path(__file__).with_name("trees.json")

PROOFS: dict[str, Proof] = {
    name: proof
    for part in (section_4, proposition_1, theorem_1, lemmas, theorem_2, theorem_2_constants, events, sharper)
    for name, proof in part.PROOFS.items()
}


@cache
def stored_trees() -> dict[str, dict[int, str]]:
    """Read the trees that ``python -m verification prove`` wrote."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    return {name: {int(goal): tree for goal, tree in trees.items()} for name, trees in stored.items()}
