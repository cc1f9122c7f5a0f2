"""A limit for false pairs with a proof: that it is kept, and the lemma and the constants of its proof."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from lslmatch.choice.blind.counting import count_pairs
from verification.claims.conditions import at_least
from verification.claims.definition import Claim, Condition, Control
from verification.engine.studies import Cell, Parameters, keep_parameters
from verification.engine.tally import Values
from verification.scenarios.blind_edges import (
    Setting,
    draw_ranked,
    draw_structure,
    kept_without_one,
    looked_at,
    pick_false,
)
from verification.statistics.binomial import decide_events

_LIMIT, _EXACT = 0.2, Fraction(1, 100)
_RELATED = "strangers have relatives in the other set"
_CLOSED = "edges that close cycles"


def trial(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Pair two sets blindly; of the pairs that each rule keeps, draw one and say whether it is false."""
    ranked = draw_ranked(Setting(**parameters), rng)
    seen = looked_at(ranked)
    return {
        "a kept pair is false": pick_false(ranked, count_pairs(ranked.joins, _LIMIT).kept, rng),
        "the sets are looked at first": pick_false(seen, count_pairs(seen.joins, _LIMIT).kept, rng),
        "the rule has no 1": pick_false(ranked, kept_without_one(ranked.joins, _LIMIT), rng),
    }


def enumerate_coins(parameters: Parameters, rng: np.random.Generator) -> Values:
    """Draw false edges, enumerate all coins, and compare the expected share of false pairs with limits."""
    edges = parameters["edges"]
    structure = draw_structure(edges, parameters["kind"], _EXACT, rng)
    mean = structure.mean_false_share(_EXACT) / _EXACT
    return {
        "no fair coins": not structure.are_fair_coins(),
        "above the limit": bool(mean > 1 - Fraction(1, 2**edges)),
        "above the limit itself": bool(mean > 1),
        "above twice the limit": bool(mean > 2),
    }


def _cell(name: str, trials: tuple[int, int, int], tier: str, **setting: float) -> Cell:
    parameters = {"strangers": 10, "d": 3, "noise": 0.3, "correlated": False, "relatives": 0, **setting}
    return Cell(name, parameters, _LIMIT, trials, tier)


def _structures(kind: str, role: str = "claim") -> tuple[Cell, ...]:
    return tuple(
        Cell(f"{kind}, {edges} edges", {"kind": kind, "edges": edges}, 0.0, trials, tier, role)
        for edges, trials, tier in (
            (4, (60, 200, 1000), "smoke"),
            (7, (20, 60, 400), "smoke"),
            (9, (0, 20, 100), "quick"),
        )
    )


_LIMIT_CELLS = (
    _cell("nothing in common", (400, 800, 4000), "smoke", pairs=0, strangers=20),
    _cell("most in common", (800, 1600, 6000), "smoke", pairs=30),
    _cell("ten dimensions", (0, 6000, 20000), "quick", pairs=30, d=10, noise=0.5),
    _cell("noise is learned", (600, 1200, 6000), "quick", pairs=30, d=4, noise=0.2, correlated=True),
    Cell(
        _RELATED,
        _cell("", (0, 0, 0), "smoke", pairs=20, strangers=20, noise=0.1, relatives=12).parameters,
        _LIMIT,
        (400, 800, 4000),
        "smoke",
        _RELATED,
    ),
)

CLAIMS = (
    Claim(
        id="blind-pairs-limit",
        kind="probability",
        source="beyond the paper",
        statement="Of blind pairs that are kept under a limit, the expected share of false ones is at most "
        "that limit.",
        formula=f"P( a pair drawn from those that are kept is false ) ≤ {_LIMIT}",
        cells=_LIMIT_CELLS,
        conditions=(
            Condition("strangers without relatives in the other set", lambda p: p["relatives"] == 0),
        ),
        setup=keep_parameters,
        trial=trial,
        column="a kept pair is false",
        decide=decide_events,
        controls=(
            Control("which set a point is from is looked at before ranking", "the sets are looked at first"),
            Control("the rule counts no pair in advance", "the rule has no 1"),
            Control(_RELATED, own_cells=True),
        ),
        picture="bars",
        axes=("", "share of kept pairs that are false"),
        batch=50,
        remark="One pair is drawn from those that a draw keeps, so that a mean of shares becomes a "
        "probability. Relatives are what no rule can tell from partners that sees distances alone.",
    ),
    Claim(
        id="blind-pairs-coins",
        kind="probability",
        source="beyond the paper",
        statement="Where false pairs close no cycle of objects, whether they join the sets are independent "
        "fair coins.",
        formula="all 2^m outcomes of m false pairs are equally frequent",
        cells=(*_structures("forest"), *_structures("cycles", _CLOSED)),
        conditions=(at_least("edges", 1),),
        setup=keep_parameters,
        trial=enumerate_coins,
        column="no fair coins",
        decide=decide_events,
        controls=(Control(_CLOSED, own_cells=True),),
        picture="bars",
        axes=("", "share of structures whose coins are not fair"),
        batch=20,
        remark="Each trial draws a structure and enumerates all outcomes of its objects' coins.",
    ),
    Claim(
        id="blind-pairs-forest",
        kind="probability",
        source="beyond the paper",
        statement="Where m false pairs close no cycle of objects, the expected share of false pairs is at "
        "most 1 − 2^−m times the limit.",
        formula="E[ false share ] ≤ α (1 − 2^−m), exactly",
        cells=(*_structures("forest"), *_structures("twins", _CLOSED)),
        conditions=(at_least("edges", 1),),
        setup=keep_parameters,
        trial=enumerate_coins,
        column="above the limit",
        decide=decide_events,
        controls=(Control(_CLOSED, own_cells=True),),
        picture="bars",
        axes=("", "share of structures above it"),
        batch=20,
        remark="Enumerated in rational numbers, with a limit of 1/100.",
    ),
    Claim(
        id="blind-pairs-twins",
        kind="probability",
        source="beyond the paper",
        statement="Where all cycles have two pairs, as of twins that exchange partners, it is at most twice "
        "the limit.",
        formula="E[ false share ] ≤ 2 α, exactly",
        cells=_structures("twins"),
        conditions=(at_least("edges", 1),),
        setup=keep_parameters,
        trial=enumerate_coins,
        column="above twice the limit",
        decide=decide_events,
        controls=(Control("it is at most the limit itself", "above the limit itself"),),
        picture="bars",
        axes=("", "share of structures above it"),
        batch=20,
        remark="Enumerated in rational numbers, with a limit of 1/100.",
    ),
)
