"""Claims of one's own: files outside of this package, read by their paths.

A file gives its claims as ``CLAIMS``, like a module of this package, and may import modules beside it.
"""

from __future__ import annotations

import importlib.util
import sys
import zlib
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

from verification import claims
from verification.claims.definition import Claim
from verification.engine.errors import explain
from verification.engine.studies import CLAIM_ROLE, Find

_KINDS = ("probability", "rate", "audit")
_PICTURES = ("survival", "points", "thresholds", "bars", "means")


def load(paths: Sequence[str]) -> tuple[dict[str, Claim], dict[str, str]]:
    """Give the claims of some files by their ids, and by name the files that cannot be read, and why."""
    found: dict[str, Claim] = {}
    broken: dict[str, str] = {}
    for path in paths:
        try:
            for claim in _read(path):
                if claim.id in found:
                    raise ValueError(f"ids of claims must be unique; {claim.id!r} came twice")
                found[claim.id] = claim
        except Exception as error:
            broken[Path(path).stem] = explain(error)
    return found, broken


def finder(paths: Sequence[str]) -> Find:
    """Give the function that finds claims of files by id; worker processes read the files themselves."""
    return partial(_get, tuple(paths))


def _get(paths: tuple[str, ...], name: str) -> Claim:
    return next(claim for path in paths for claim in _read(path) if claim.id == name)


@cache
def _read(path: str) -> tuple[Claim, ...]:
    name = f"claims_of_{Path(path).stem}_{zlib.crc32(path.encode()):08x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"a file of claims must end in .py; got {path}")
    if str(Path(path).parent) not in sys.path:
        sys.path.append(str(Path(path).parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for their annotations
    try:
        spec.loader.exec_module(module)
        found: tuple[Claim, ...] = tuple(module.CLAIMS)
        for claim in found:
            _require_whole(claim)
    except BaseException:
        del sys.modules[name]
        raise
    return found


def _require_whole(claim: Claim) -> None:
    """Raise ValueError for a claim that could not fail, or that the report cannot show."""

    def require(holds: bool, rule: str) -> None:
        if not holds:
            raise ValueError(f"claim {claim.id!r} {rule}")

    require(claim.id not in claims.load(), "must have an id that no claim of the suite has")
    require(bool(claim.controls), "must have a control: a false version, which the same trials refute")
    require(claim.kind in _KINDS, f"must be of a kind among {_KINDS}; got {claim.kind!r}")
    require(claim.picture in _PICTURES, f"must have a picture among {_PICTURES}; got {claim.picture!r}")
    names = [cell.name for cell in claim.cells]
    require(len(set(names)) == len(names), "must have cells of different names: their seeds are made of them")
    roles = {cell.role for cell in claim.cells}
    require(CLAIM_ROLE in roles, "must have a cell of its own")
    for control in claim.controls:
        rule = "needs cells of its role" if control.own_cells else "has cells but not own_cells=True"
        require((control.name in roles) == control.own_cells, f"has a control {control.name!r} that {rule}")
