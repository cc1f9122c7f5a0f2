"""The proofs of the paper's constants, run with smaller ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from verification.audit.arithmetic import Arithmetic
from verification.audit.proofs.kernel import Goal, Proof
from verification.audit.proofs.theorem_1 import PROOFS as THEOREM_1
from verification.audit.proofs.theorem_2_constants import (
    covers_zeta_1,
    covers_zeta_2,
    error_coordinates,
    obstruction,
)
from verification.audit.sharper import EPSILON, FIVE, OBSTRUCTION, SEVENTEEN


def _one_hundred_seventy_eight() -> Proof:
    proof = THEOREM_1["thm-1-h-nonnegative"]
    return proof._replace(
        ranges={**proof.ranges, "w": (0, Fraction(106, 1000))},
        reduction="As for thm-1-h-nonnegative, with w^2 <= 1/89 < 0.106^2.",
    )


def _epsilon() -> Proof:
    def goal(m: Arithmetic, u: Any) -> Any:
        return 43 - 100 * (12 * u.z / 32 + 2 * u.z**2 / 1024 + 2 * u.c * u.nu)

    return Proof(
        {"z": (0, 1), "nu": (0, Fraction(1, 38)), "c": (0, 1)},
        error_coordinates,
        (Goal(goal),),
        lambda m, p, g: g[0] / 43,
        "alpha^2 L <= d/1024, and n >= 38.",
        uses=("thm-2-small-n",),
    )


def _product() -> Proof:
    return Proof(
        {"epsilon": (0, EPSILON)},
        lambda m, p: {"epsilon": p.epsilon},
        (Goal(lambda m, u: 4752 - (3 + 2 * u.epsilon) * 1231),),
        lambda m, p, g: g[0] / 4752,
    )


def _smaller_epsilon(proof: Proof) -> Proof:
    return proof._replace(
        ranges={**proof.ranges, "epsilon": (0, EPSILON)}, uses=(*proof.uses, "sharp-epsilon")
    )


PROOFS = {
    "sharp-178": _one_hundred_seventy_eight(),
    "sharp-epsilon": _epsilon(),
    "sharp-obstruction": obstruction(OBSTRUCTION),
    "sharp-52": _product(),
    "sharp-17": _smaller_epsilon(covers_zeta_1(FIVE, SEVENTEEN, far=500)),
    "sharp-5": _smaller_epsilon(covers_zeta_2(FIVE, SEVENTEEN)),
}
