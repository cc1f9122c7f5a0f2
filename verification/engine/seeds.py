"""Seeds: every trial has a generator of its own, keyed by the names of its study and of its cell."""

from __future__ import annotations

import zlib

import numpy as np

#: The seed of a run that is not given one.
SEED = 20260

#: In place of a trial's number, the key of the generator that a cell's setup draws from.
SETUP = 0xFFFFFFFF


def generator(seed: int, study: str, cell: str, trial: int) -> np.random.Generator:
    """Give the generator of one trial, keyed by names, so that no other study or cell can change it."""
    key = (zlib.crc32(study.encode()), zlib.crc32(cell.encode()), trial)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
