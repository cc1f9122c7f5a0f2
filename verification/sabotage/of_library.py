"""Mutations of the library: definitions, formulas, estimators, matching, sampler, suprema."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lslmatch import theory
from lslmatch.results import Affine
from verification.sabotage.mutation import Mutation

Change = Callable[[Any], Any]


def times(factor: float) -> Change:
    """Multiply what a function gives, or both bounds that it gives."""

    def change(function: Any) -> Any:
        @functools.wraps(function)
        def mutated(*arguments: Any, **options: Any) -> Any:
            value = function(*arguments, **options)
            return type(value)(*(factor * v for v in value)) if isinstance(value, tuple) else factor * value

        return mutated

    return change


def instead(function: Callable[..., Any]) -> Change:
    """Put another function in place of the honest one."""
    return lambda honest: function


def after(function: Callable[..., Any]) -> Change:
    """Change what a function gives, knowing its arguments."""

    def change(honest: Any) -> Any:
        @functools.wraps(honest)
        def mutated(*arguments: Any, **options: Any) -> Any:
            return function(honest(*arguments, **options), *arguments, **options)

        return mutated

    return change


# ------------------------------------------------------------------------------------- definitions


def _pairs(theta: Any, scale: Any) -> float:
    theta = np.asarray(theta, float)
    gaps = np.sqrt(((theta[:, None] - theta) ** 2).sum(axis=2)) / scale
    return float(gaps[~np.eye(len(theta), dtype=bool)].min())


def _kappa_from_sigma(features: Any, noise: Any) -> float:
    noise = np.broadcast_to(np.asarray(noise, float), len(features))
    return _pairs(features, np.sqrt(noise[:, None] ** 2 + noise**2))


def _kappa_of_sums(features: Any, noise: Any) -> float:
    s = theory.centred_moments(features, noise)[1]
    return _pairs(features, s[:, None] + s)


def _uncentred_lambda(features: Any, noise: Any) -> float:
    return float(np.linalg.norm(features) / np.linalg.norm(noise))


def _moments(wrong: Callable[[Any, Any], tuple[Any, Any]]) -> Change:
    def change(honest: Any) -> Any:
        def mutated(features: Any, noise: Any) -> Any:
            mu, _ = honest(features, noise)
            noise = np.broadcast_to(np.asarray(noise, float), len(mu))
            return wrong(mu, noise)

        return mutated

    return change


def _without_sum(mu: Any, noise: Any) -> tuple[Any, Any]:
    return mu, np.sqrt((len(noise) - 2) / len(noise)) * noise


def _definition(id: str, what: str, name: str, change: Change) -> Mutation:
    return Mutation(id, what, f"lslmatch.theory:{name}", change, ("definitions", "s_i"))


DEFINITIONS = (
    _definition("kappa-sigma", "κ from σ instead of s", "separation", instead(_kappa_from_sigma)),
    _definition("kappa-sum", "κ over sᵢ + sⱼ", "separation", instead(_kappa_of_sums)),
    _definition("kappa-double", "κ twice too large", "separation", times(2.0)),
    _definition("rho-root", "ρ without its square", "noise_ratio", after(lambda v, *a: math.sqrt(v))),
    _definition("rho-inverse", "ρ upside down", "noise_ratio", after(lambda v, *a: 1 / v)),
    _definition(
        "alpha-sum",
        "α over Σσ",
        "relative_noise",
        instead(lambda noise: float(np.max(noise) / np.sum(noise))),
    ),
    _definition(
        "alpha-least",
        "α with the least noise",
        "relative_noise",
        instead(lambda noise: float(np.min(noise) / np.linalg.norm(noise))),
    ),
    _definition("lambda-double", "λ twice too large", "distortion_to_noise", times(2.0)),
    _definition(
        "lambda-not-centred",
        "λ of features with their mean",
        "distortion_to_noise",
        instead(_uncentred_lambda),
    ),
    _definition("s-without-sum", "sᵢ without ‖σ‖²/n²", "centred_moments", _moments(_without_sum)),
    _definition("s-is-sigma", "sᵢ = σᵢ", "centred_moments", _moments(lambda mu, noise: (mu, noise))),
    _definition("mu-doubled", "μ twice too large", "centred_moments", after(lambda v, *a: (2 * v[0], v[1]))),
    _definition(
        "obstruction-min",
        "obstruction with the minimum",
        "obstruction",
        instead(
            lambda features, noise, error: float(
                error
                * (
                    np.linalg.norm(theory.centred_moments(features, noise)[0], axis=1)
                    / theory.centred_moments(features, noise)[1]
                ).min()
            )
        ),
    ),
    _definition(
        "obstruction-root", "obstruction with √ε", "obstruction", after(lambda v, f, s, e: v / math.sqrt(e))
    ),
    _definition(
        "floor-root",
        "noise floor √(d log n)",
        "noise_floor",
        instead(lambda n, d: math.sqrt(d * math.log(n))),
    ),
    _definition(
        "floor-min",
        "noise floor with the minimum",
        "noise_floor",
        instead(lambda n, d: min((d * math.log(n)) ** 0.25, math.log(n) ** 0.5)),
    ),
    _definition(
        "expectation-not-centred",
        "E‖Z‖² without (n−1)/n",
        "expected_sum_of_squares",
        after(lambda v, features, noise: v + np.shape(features)[1] * float(np.mean(np.square(noise)))),
    ),
)

# --------------------------------------------------------------------------- right-hand sides, mistyped


def _formula(id: str, what: str, name: str, change: Change) -> Mutation:
    return Mutation(id, what, f"lslmatch.theory:{name}", change, ("right-hand-sides",))


def _with_the_papers_constants(function: Callable[..., float]) -> Change:
    """Put another function in place of the honest one, but for the sharp constants."""

    def change(honest: Any) -> Any:
        def mutated(*arguments: Any, constants: str = "paper", **options: Any) -> float:
            if constants != "paper":
                return float(honest(*arguments, constants=constants, **options))
            return function(*arguments, **options)

        return mutated

    return change


def _threshold(a: float, b: float, c: float, power: int = 3, rho_power: float = 0.5) -> Change:
    def threshold(n: int, d: int, *, noise_ratio: float, delta: float) -> float:
        chi = a * (d * math.log(12 * n**power / delta)) ** 0.25
        gauss = b * math.sqrt(math.log(24 * n**power / delta))
        return chi + gauss + c * noise_ratio**rho_power * math.sqrt(math.log(4 / delta))

    return _with_the_papers_constants(threshold)


def _error(first: float, second: float, third: float, power: int = 2) -> Change:
    def error(n: int, d: int, *, relative_noise: float, distortion: float, delta: float) -> float:
        log, total = math.log(4 / delta), distortion**2 + d
        part = relative_noise**power * log / total
        root = math.sqrt(relative_noise**2 * log / total)
        return first * root + second * part + third * d / (n * total)

    return _with_the_papers_constants(error)


FORMULAS = (
    _formula("typed-threshold-half", "Theorem 2's threshold halved", "recovery_threshold", times(0.5)),
    _formula("typed-threshold-tenth", "a tenth of Theorem 2's threshold", "recovery_threshold", times(0.1)),
    _formula(
        "typed-threshold-no-rho",
        "Theorem 2's threshold without ρ",
        "recovery_threshold",
        _threshold(5, 17, 52, 3, 0.0),
    ),
    _formula(
        "typed-threshold-rho", "Theorem 2 with ρ for √ρ", "recovery_threshold", _threshold(5, 17, 52, 3, 1.0)
    ),
    _formula("typed-threshold-51", "Theorem 2 with 51 for 52", "recovery_threshold", _threshold(5, 17, 51)),
    _formula(
        "typed-threshold-n2", "Theorem 2 with n² for n³", "recovery_threshold", _threshold(5, 17, 52, 2)
    ),
    _formula("typed-error-11", "Theorem 1 with 11 for 12", "scale_error_bound", _error(11, 2, 2)),
    _formula("typed-error-third", "Theorem 1 without its third term", "scale_error_bound", _error(12, 2, 0)),
    _formula(
        "typed-error-alpha",
        "Theorem 1 with α for α² in its second term",
        "scale_error_bound",
        _error(12, 2, 2, 1),
    ),
    _formula("typed-delta-1", "Theorem 1's least δ doubled", "scale_error_smallest_delta", times(2.0)),
    _formula("typed-delta-2", "Theorem 2's least δ halved", "recovery_smallest_delta", times(0.5)),
    _formula("typed-lemma-1", "Lemma 1 a hundredth smaller", "chi_square_deviation_bounds", times(0.99)),
    _formula("typed-lemma-2", "Lemma 2 without its factor 2", "gaussian_tail", times(0.5)),
    _formula(
        "typed-lemma-3",
        "Lemma 3 without its term in ε",
        "linear_supremum_bound",
        instead(lambda n, epsilon, delta: math.sqrt(2 * math.log(12 * n**3 / delta))),
    ),
    _formula(
        "typed-lemma-4",
        "Lemma 4 without its terms in ε",
        "quadratic_supremum_bound",
        instead(lambda n, d, epsilon, delta: _at_net(n, d, delta)),
    ),
    _formula(
        "typed-proposition-1", "Proposition 1 a thousandth larger", "sum_of_squares_bounds", times(1.001)
    ),
    _formula("typed-frobenius", "its form around the mean, likewise", "frobenius_bounds", times(1.001)),
)


def _at_net(n: int, d: int, delta: float) -> float:
    log = math.log(12 * n**3 / delta)
    return 2 * math.sqrt(d * log) + 2 * log


# ------------------------------------------------------------------------------ estimators and matching


def _not_centred(x: Any, y: Any) -> Affine:
    scale = float(np.linalg.norm(x) / np.linalg.norm(y))
    return Affine(scale, np.mean(x, axis=0) - scale * np.mean(y, axis=0))


def _swapped_now_and_then(result: Any, x: Any, *rest: Any, **options: Any) -> Any:
    if int(abs(float(np.asarray(x).flat[0])) * 1e9) % 20:  # in about one of twenty calls
        return result
    permutation = result.permutation.copy()
    permutation[:2] = permutation[1::-1]
    return result._replace(permutation=permutation)


def _default_objective(name: str, forged: bool = False) -> Change:
    def change(honest: Any) -> Any:
        def match(x: Any, y: Any, **options: Any) -> Any:
            result = honest(x, y, **({"objective": name} | options))
            return result._replace(criterion="lsl") if forged else result

        return match

    return change


_ESTIMATE = (
    "lslmatch:estimate_affine lslmatch.alignment.moments:estimate_affine "
    "lslmatch.alignment.moments:affine_of_moments"
)
_MATCHING = ("mild-heteroscedasticity", "theorem-2")
_SCALE = ("simulated-tails", "standardisation-invariance")

BEHAVIOUR = (
    Mutation("scale-not-centred", "τ̂ of sets with their means", _ESTIMATE, instead(_not_centred), _SCALE),
    Mutation(
        "scale-five-percent",
        "τ̂ five per cent too large",
        _ESTIMATE,
        after(lambda v, *a: v._replace(scale=1.05 * v.scale)),
        _SCALE,
    ),
    Mutation(
        "scale-squared", "τ̂² for τ̂", _ESTIMATE, after(lambda v, *a: v._replace(scale=v.scale**2)), _SCALE
    ),
    Mutation(
        "scale-inverse", "1/τ̂ for τ̂", _ESTIMATE, after(lambda v, *a: v._replace(scale=1 / v.scale)), _SCALE
    ),
    Mutation(
        "shift-sign",
        "β̂ with the wrong sign",
        _ESTIMATE,
        after(lambda v, *a: v._replace(shift=-v.shift)),
        ("standardisation-invariance", "naive-lsl-fails"),
    ),
    Mutation(
        "standardise-not-centred",
        "sets standardised with their means",
        "lslmatch:standardize",
        instead(lambda x: np.asarray(x) / np.linalg.norm(x)),
        ("standardisation-invariance",),
    ),
    Mutation(
        "second-best",
        "a second-best matching now and then",
        "lslmatch:match",
        after(_swapped_now_and_then),
        _MATCHING,
    ),
    Mutation(
        "inverse-permutation",
        "the permutation in the other direction",
        "lslmatch:match",
        after(lambda v, *a, **k: v._replace(permutation=np.argsort(v.permutation))),
        _MATCHING,
    ),
    Mutation(
        "default-lss",
        "least squares as the default objective",
        "lslmatch:match",
        _default_objective("lss"),
        _MATCHING,
    ),
    Mutation(
        "forged-lss",
        "least squares that says it is LSL",
        "lslmatch:match",
        _default_objective("lss", forged=True),
        _MATCHING,
    ),
    Mutation("greedy", "a greedy matching", "lslmatch:match", _default_objective("greedy"), _MATCHING),
    Mutation(
        "duals-off",
        "dual variables a millionth off",
        "lslmatch:match",
        after(lambda v, *a, **k: v if v.row_dual is None else v._replace(row_dual=v.row_dual + 1e-6)),
        _MATCHING,
    ),
)

# ----------------------------------------------------------------------------------- sampler, suprema


def _sample(draw: Callable[[Any, Any], tuple[Any, Any]]) -> Change:
    """Sample with other noise: `draw` gives both noises from the shape and the generator."""

    def change(honest: Any) -> Any:
        def sample(self: Any, rng: Any = None) -> Any:
            rng = np.random.default_rng(rng)
            first, second = draw(np.shape(self.features), rng)
            level = np.asarray(self.noise)[:, None]
            y = np.empty_like(self.features)
            y[self.permutation] = (self.features - self.shift + level * second) / self.scale
            return self.features + level * first, y

        return sample

    return change


def _normal(shape: Any, rng: Any) -> Any:
    return rng.standard_normal(shape)


def _same(shape: Any, rng: Any) -> tuple[Any, Any]:
    noise = _normal(shape, rng)
    return noise, noise


def _inverted(honest: Any) -> Any:
    def sample(self: Any, rng: Any = None) -> Any:
        return honest(self._replace(permutation=np.argsort(self.permutation)), rng)

    return sample


def _unscaled(honest: Any) -> Any:
    def sample(self: Any, rng: Any = None) -> Any:
        rng = np.random.default_rng(rng)
        x, y = honest(self, rng)
        extra = (self.scale - 1) * np.asarray(self.noise)[:, None] * rng.standard_normal(x.shape) / self.scale
        return x, y + extra[np.argsort(self.permutation)]

    return sample


_SAMPLE = "lslmatch.model:Configuration.sample"
_SAMPLER = ("sampler",)
_CENTRED = "verification.scenarios.configurations:centred_noise"


def _noise_law(id: str, what: str, draw: Callable[[Any, Any], tuple[Any, Any]]) -> Mutation:
    return Mutation(id, what, _SAMPLE, _sample(draw), _SAMPLER)


SAMPLER = (
    _noise_law(
        "noise-doubled", "noise of both sets doubled", lambda s, r: (2 * _normal(s, r), 2 * _normal(s, r))
    ),
    _noise_law("noise-tenth", "noise of y a tenth larger", lambda s, r: (_normal(s, r), 1.1 * _normal(s, r))),
    _noise_law(
        "noise-student",
        "Student noise of five degrees",
        lambda s, r: (r.standard_t(5, s) * math.sqrt(0.6), r.standard_t(5, s) * math.sqrt(0.6)),
    ),
    _noise_law(
        "noise-uniform",
        "uniform noise of variance 1",
        lambda s, r: (r.uniform(-math.sqrt(3), math.sqrt(3), s), _normal(s, r)),
    ),
    _noise_law("noise-same", "the same noise in both sets", _same),
    _noise_law("noise-shifted", "noise with mean 0.1", lambda s, r: (_normal(s, r) + 0.1, _normal(s, r))),
    Mutation("sample-inverse", "partners by the inverse permutation", _SAMPLE, _inverted, _SAMPLER),
    Mutation("sample-unscaled", "noise of y not divided by τ", _SAMPLE, _unscaled, _SAMPLER),
    Mutation(
        "eta-not-centred",
        "the lemmas' noise not centred",
        _CENTRED,
        instead(lambda noise, d, rng: noise[:, None] * rng.standard_normal((len(noise), d))),
        _SAMPLER,
    ),
    Mutation("eta-doubled", "the lemmas' noise doubled", _CENTRED, times(2.0), _SAMPLER),
    Mutation(
        "separation-off",
        "random configurations a twentieth closer",
        "verification.claims.definitions:random_configuration",
        after(lambda v, *a, **k: v._replace(features=0.95 * v.features)),
        ("definitions",),
    ),
    Mutation(
        "adversarial-off",
        "adversarial configurations likewise",
        "verification.claims.definitions:adversarial_configuration",
        after(lambda v, *a, **k: v._replace(features=0.95 * v.features)),
        ("definitions",),
    ),
    Mutation(
        "phi-1-at-one",
        "Φ₁ at a = 1 only",
        "verification.scenarios.suprema:linear_supremum",
        lambda honest: lambda p, q, s, e: honest(p, q, s, 1e-12),
        ("definitions",),
    ),
    Mutation(
        "phi-2-at-one",
        "Φ₂ at a = 1 only",
        "verification.scenarios.suprema:quadratic_supremum",
        lambda honest: lambda p, q, s, e: honest(p, q, s, 1e-12),
        ("definitions",),
    ),
    Mutation(
        "zeta-1-at-one",
        "ζ₁ at τ = 1 only",
        "verification.scenarios.suprema:moving_supremum",
        lambda honest: lambda m, p, q, s, e: honest(m, p, q, s, 1e-12),
        ("definitions",),
    ),
    Mutation(
        "phi-2-upper-only",
        "Φ₂ without the lower side, for few dimensions",
        "verification.scenarios.suprema:quadratic_supremum",
        lambda honest: lambda p, q, s, e: honest(p, q, s, e) * (1.0 if p.shape[1] > 3 else 0.99),
        ("definitions",),
    ),
)

MUTATIONS = DEFINITIONS + FORMULAS + BEHAVIOUR + SAMPLER
