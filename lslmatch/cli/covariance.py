"""The option ``--covariance``: what may be given, and what is said of it afterwards."""

from __future__ import annotations

import math
from pathlib import Path

from lslmatch import Covariance
from lslmatch.io.points import FORMATS
from lslmatch.io.sources import format_of
from lslmatch.tables import COVARIANCES


def covariance_file(option: str) -> Path | None:
    """Give the file that the option names, or None if it names a way to find the covariance."""
    if option in COVARIANCES:
        return None
    path = Path(option)
    if format_of(path) not in FORMATS:
        raise ValueError(
            f"--covariance must be {', '.join(COVARIANCES)} or a file ({', '.join(FORMATS)}); got {option!r}"
        )
    return path


def describe_covariance(option: str, found: Covariance, pairs: int) -> str:
    """Say in one line where a covariance came from and how well it predicts.

    `pairs` is how many pairs of points there are.
    """
    path = covariance_file(option)
    if path is not None:
        return f"given, from {path}"
    rounds = f"{found.rounds} round" + ("s" if found.rounds != 1 else "")
    if found.reason:
        return "isotropic, " + (f"estimate of {rounds} not kept: " if found.rounds else "") + found.reason
    beside = found.isotropic_cross_entropy
    isotropic = "" if math.isnan(beside) else f"isotropic {beside:.3g}, "
    if found.is_diagonal:
        return (
            f"variances of the columns, learned in {rounds}, not proven best; cross-entropy "
            f"{found.cross_entropy:.3g} ({isotropic}guessing {math.log(pairs):.3g}, certain 0)"
        )
    by_lsl = "" if found.reference is not None else "by lsl "
    described = (
        f"learned {by_lsl}in {rounds}, not proven best; cross-entropy {found.cross_entropy:.3g} "
        f"({isotropic}guessing {math.log(pairs):.3g}, certain 0)"
    )
    if found.reference is not None and not found.leave_out:
        described += f"; no pair was left out, which might change {found.undecided} partners"
    return described
