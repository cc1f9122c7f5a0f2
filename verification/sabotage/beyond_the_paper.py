"""Mutations of what the library says of its pairs, and of what costs and scales are beside the paper's."""

from __future__ import annotations

import math

import numpy as np

from verification.sabotage.mutation import Mutation
from verification.sabotage.of_library import after, times

MUTATIONS = (
    Mutation(
        "confidence-tenth",
        "confidences a tenth too large",
        "lslmatch.diagnosis.judging:pair_probabilities",
        after(lambda v, *a, **k: np.minimum(1.1 * v, 1.0)),
        ("confidences-exact",),
    ),
    Mutation(
        "doubts-tenth",
        "doubts a tenth too small",
        "lslmatch.diagnosis.judging:pair_probabilities",
        after(lambda v, *a, **k: 1 - 0.9 * (1 - v)),
        ("confidences-exact",),
    ),
    Mutation(
        "learned-doubts-tenth",
        "doubts under a learned noise a tenth too small",
        "lslmatch.diagnosis.judging:pair_posteriors",
        after(lambda v, *a, **k: 1 - 0.9 * (1 - v)),
        ("confidences-learned",),
        profile="quick",
    ),
    Mutation(
        "rate-tenth",
        "the likelihood of a unit of cost a tenth too large",
        "lslmatch.diagnosis.judging:likelihood_rate lslmatch.diagnosis.diagnose:likelihood_rate "
        "verification.claims.confidences:likelihood_rate",
        times(1.1),
        ("likelihood-rates",),
    ),
    Mutation(
        "rate-used-tenth",
        "the same where confidences are computed",
        "lslmatch.diagnosis.diagnose:likelihood_rate",
        times(1.1),
        ("confidences-exact",),
    ),
    Mutation(
        "sums-for-means",
        "the scale from sums, for sets of different sizes",
        "lslmatch:estimate_affine",
        after(lambda v, x, y: v._replace(scale=v.scale * math.sqrt(len(x) / len(y)))),
        ("scale-of-sizes",),
    ),
    Mutation(
        "profile-shrunken",
        "the profile's scale two per cent too small",
        "lslmatch:match",
        after(lambda v, *a, **k: v._replace(scale=0.98 * v.scale)),
        ("profile-scale",),
    ),
    Mutation(
        "floor-doubled",
        "the floor for coincident points doubled",
        "lslmatch.costs:log_rule",
        after(lambda v, *a, **k: v._replace(floor=2 * v.floor)),
        ("coincident-floor",),
    ),
)
