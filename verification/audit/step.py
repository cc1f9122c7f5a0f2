"""A step of a proof: what it asserts, where, and falsified versions of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from verification.audit.search import Finding, Problem


class Step(NamedTuple):
    """A deterministic assertion of a proof, with falsified versions that the search must refute."""

    id: str
    statement: str
    formula: str
    problem: Problem
    controls: dict[str, Problem]
    explain: Callable[[Finding], str] | str = ""
    repair: Callable[[Finding], str] | str = ""
