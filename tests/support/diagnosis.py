"""Sets with a known truth, for the estimates and verdicts of a diagnosis."""

from lslmatch.model import random_configuration
from tests.support.reference import SMALL

N = 40 if SMALL else 300


def planted(n=N, d=20, separation=10.0, noise_ratio=1.0, seed=0, **options):
    truth = random_configuration(n, d, separation=separation, noise_ratio=noise_ratio, rng=seed, **options)
    return truth, *truth.sample(seed + 1000)
