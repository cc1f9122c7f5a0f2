"""Run the claims of each mutation, and say whether it was seen."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from verification import claims
from verification.claims.checking import try_claim
from verification.sabotage.elsewhere import run_elsewhere
from verification.sabotage.mutation import Mutation


@dataclass(frozen=True)
class Sighting:
    """A mutation, and what became of it."""

    mutation: Mutation
    seen_by: str
    """The first claim that was not green, and what it said; empty if all were."""
    caught: str
    """For a mutation that was not seen: which multiples of their bounds its claims would have refuted."""
    seconds: float

    @property
    def is_as_expected(self) -> bool:
        """Whether it was seen, or was known to be out of sight."""
        return bool(self.seen_by) != bool(self.mutation.unseen)


#: Claims that take longer than so many seconds of the processor under a drawn mutation hang.
_HANGS = 120.0


def run_mutations(
    mutations: Iterable[Mutation],
    *,
    seed: int,
    progress: Callable[[str], None] | None = None,
    apart: bool = False,
) -> list[Sighting]:
    """Apply one mutation after the other, and run its claims in its profile until one is not green.

    `apart` runs each mutation in a process of its own, as one that nobody chose may hang or crash. Raises
    ValueError if a claim is not green without any mutation.
    """
    mutations, found = list(mutations), []
    for name, profile in sorted({(name, item.profile) for item in mutations for name in item.claims}):
        said, _ = _look(name, profile, seed)
        if said:
            raise ValueError(f"{name} must be green without a mutation; it was not: {said}")
    for mutation in mutations:
        started = time.perf_counter()
        if apart:
            seen_by, caught = run_elsewhere(partial(_watch, mutation, seed), _HANGS) or (
                "hangs or crashes",
                "",
            )
        else:
            seen_by, caught = _watch(mutation, seed)
        found.append(Sighting(mutation, seen_by, caught, time.perf_counter() - started))
        if progress is not None:
            progress(mutation.id)
    return found


def _watch(mutation: Mutation, seed: int) -> tuple[str, str]:
    """Say which claim sees a mutation, and what; and which multiples of bounds the others would have seen."""
    with mutation.applied(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numbers that a mutation makes meaningless
        caught: list[str] = []
        for name in mutation.claims:
            said, reach = _look(name, mutation.profile, seed)
            if said:
                return f"{name}: {said}", "; ".join(caught)
            caught += [reach] if reach else []
    return "", "; ".join(caught)


def _look(name: str, profile: str, seed: int) -> tuple[str, str]:
    """Run one claim; give what was wrong, and which multiple of its bound it would have refuted."""
    try:
        outcome = try_claim(claims.get(name), profile=profile, seed=seed)
    except Exception as error:
        return f"{type(error).__name__}", ""
    if outcome.is_broken:
        return f"broken: {outcome.decision.detail}", ""
    if outcome.error:
        return "trials without a certificate", ""
    if outcome.decision.verdict == "refuted":
        return "refuted", ""
    wrong = [control for control in outcome.controls if control.survived]
    if wrong or outcome.is_undecided:
        return f"control {wrong[0].verdict}" if wrong else "undecided", ""
    reach = outcome.decision.caught
    return "", f"{name} refutes {reach:.2g} of its bound" if reach else ""
