"""Mutations that nobody chose: changes of single lines, drawn from the code that claims are about."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from verification.sabotage.changes import Change, changes, compiled, function_of, is_compiled
from verification.sabotage.mutation import Mutation

#: Modules of the library and of the statements, and the claims that are about them.
PLACES: dict[str, tuple[str, ...]] = {
    "lslmatch.theory": ("definitions", "right-hand-sides", "s_i"),
    "lslmatch.model": ("definitions", "sampler", "sampler-moments"),
    "lslmatch.alignment.moments": ("standardisation-invariance", "scale-of-sizes", "simulated-tails"),
    "lslmatch.costs": ("coincident-floor", "lss-scale-free"),
    "lslmatch.objectives.lsl": ("likelihood-rates", "coincident-floor"),
    "lslmatch.objectives.lss": ("likelihood-rates", "lss-scale-free"),
    "lslmatch.objectives.lsns": ("likelihood-rates", "confidences-exact"),
    "lslmatch.objectives.distance": ("likelihood-rates",),
    "lslmatch.diagnosis.confidence": ("confidences-exact",),
    "lslmatch.diagnosis.chance": ("confidences-exact",),
    "lslmatch.diagnosis.judging": ("confidences-exact",),
    "verification.claims.lemma_1": ("lemma-1-upper", "lemma-1-lower", "calibrated-draws"),
    "verification.claims.lemma_2": ("lemma-2", "calibrated-draws"),
    "verification.claims.lemma_3": ("lemma-3", "suprema-reach", "calibrated-draws"),
    "verification.claims.lemma_4": ("lemma-4", "suprema-reach", "calibrated-draws"),
    "verification.claims.zeta_1": ("zeta-1", "suprema-reach", "calibrated-draws"),
    "verification.claims.proposition_1": (
        "proposition-1-upper",
        "proposition-1-lower",
        "proposition-1-frobenius",
        "calibrated-draws",
    ),
    "verification.claims.theorem_1": ("theorem-1",),
    "verification.claims.theorem_1_rates": ("theorem-1-rate-alpha", "theorem-1-fast-rate"),
    "verification.claims.centred_moments": ("s_i", "E|Z|^2"),
    "verification.claims.confidences": ("confidences-exact", "likelihood-rates"),
    "verification.claims.scale_estimates": ("scale-of-sizes", "profile-scale"),
    "verification.claims.coincident_floor": ("coincident-floor",),
    "verification.claims.sampler_moments": ("sampler-moments",),
    "verification.claims.tau_bias": ("tau-bias",),
    "verification.claims.trace_form": ("trace-form",),
    "verification.scenarios.configurations": ("definitions", "sampler-moments", "simulated-tails"),
    "verification.scenarios.suprema": ("definitions", "suprema-reach"),
}


@dataclass(frozen=True)
class CodeMutation(Mutation):
    """A change of one line of a function."""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the function its changed code, and its own back."""
        function = function_of(*self.target.split(":"))
        honest = function.__code__
        function.__code__ = self.change(honest)
        try:
            yield
        finally:
            function.__code__ = honest


def draw_mutations(count: int, seed: int) -> list[Mutation]:
    """Draw changes of all places, each as probable as any other; of functions that are not compiled."""
    every = [(module, change) for module in PLACES for change in _changes(module)]
    chosen = np.random.default_rng(seed).permutation(len(every))[:count]
    return [_mutation(k, *every[k]) for k in sorted(chosen)]


def _changes(module: str) -> Iterator[Change]:
    for change in changes(inspect.getsource(importlib.import_module(module))):
        if not is_compiled(module, change.function):
            yield change


def _mutation(number: int, module: str, change: Change) -> Mutation:
    found = importlib.import_module(module)
    code = compiled(inspect.getsource(found), str(found.__file__), change).code
    return CodeMutation(
        f"{module}:{change.line}:{number}",
        f"{change.function}: {change.change}",
        f"{module}:{change.function}",
        lambda honest: code,
        PLACES[module],
    )
