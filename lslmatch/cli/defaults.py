"""What ``lslmatch match`` does where it is not told: what most data need, as far as that is quick."""

from __future__ import annotations

import argparse

#: By default all is chosen automatically; with --paper, and for other objectives than "lsl", as in the paper.
_AUTOMATIC = {"alignment": "auto", "covariance": "auto", "pairs": "auto"}
_PAPER = {"alignment": "standardize", "covariance": "isotropic", "pairs": "all"}
#: Pairs of points up to which each is chosen automatically by default. It may be asked for above that. On one
#: core 1,000 by 1,000 points take some seconds with a covariance; choosing pairs makes several matrices.
_MOST = {"alignment": 1 << 26, "covariance": 1 << 20, "pairs": 1 << 22}
#: And the products of numbers in each round of learning a covariance: pairs of points times coordinates.
_MOST_PRODUCTS = 1 << 27


def fill_in(options: argparse.Namespace) -> None:
    """Fill in what was not asked for, and remember what that is."""
    usual = _PAPER if options.paper or options.objective != "lsl" else _AUTOMATIC
    options.by_default = {name for name in usual if getattr(options, name) is None}
    for name in options.by_default:
        setattr(options, name, usual[name])


def keep_quick(options: argparse.Namespace, n: int, m: int, d: int) -> list[str]:
    """Do as the paper where the points are too many for a default, and say so."""
    lines = []
    for name, most in _MOST.items():
        if name not in options.by_default or getattr(options, name) != "auto":
            continue
        too_many = n * m > most or (name == "covariance" and n * m * d > _MOST_PRODUCTS)
        if too_many:
            setattr(options, name, _PAPER[name])
            lines.append(
                f"{name}: {_PAPER[name]}, as {n:,} by {m:,} points are many; --{name} auto takes its time"
            )
    return lines
