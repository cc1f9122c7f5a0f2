"""When two results are equal: if all that they hold is, with NaN equal to NaN; arrays give one answer."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

_Class = TypeVar("_Class", bound=type)


def comparable(cls: _Class) -> _Class:
    """Give a class of tuples this comparison. They hold arrays, which can change: they have no hash."""
    cls.__eq__ = same  # type: ignore[assignment]
    cls.__ne__ = _differ  # type: ignore[assignment]
    cls.__hash__ = None  # type: ignore[assignment]
    return cls


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal; tuples and arrays are if their shapes and all their entries are."""
    if one is other:
        return True
    if isinstance(one, tuple) or isinstance(other, tuple):
        both = isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other)
        return both and all(map(same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and _same_entries(one, other)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    try:
        return bool(one == other) or bool(one != one and other != other)
    except (TypeError, ValueError):  # a missing value that is neither true nor false
        return False


def _differ(one: Any, other: Any) -> bool:
    return not same(one, other)


def _same_entries(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    numbers = "biufc"
    if one.dtype.kind in numbers and other.dtype.kind in numbers:
        return bool(np.all((one == other) | ((one != one) & (other != other))))
    return all(map(same, one.ravel().tolist(), other.ravel().tolist()))
