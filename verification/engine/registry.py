"""Find what the modules of a package define, so that a new file is found by being there."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Sequence
from types import ModuleType
from typing import Any

from verification.engine.errors import explain


def load(
    package: ModuleType,
    attribute: str,
    *,
    order: Sequence[str] = (),
    shared: Collection[str] = (),
    broken: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Give by its ``id`` everything that the modules of a package list under a name.

    Parameters
    ----------
    package : module
        Its modules are imported.
    attribute : str
        The name of a tuple in each module, such as ``CLAIMS``.
    order : sequence of str
        Modules that come first, in this order; the others follow by name.
    shared : collection of str
        Modules that hold what the others share, and define nothing themselves.
    broken : dict, optional
        Takes by name the modules that cannot be imported, and why; without it they raise.
    """
    names = sorted({module.name for module in pkgutil.iter_modules(package.__path__)} - set(shared))
    names.sort(key=lambda name: order.index(name) if name in order else len(order))
    found: dict[str, Any] = {}
    for name in names:
        try:
            module = importlib.import_module(f"{package.__name__}.{name}")
            items = getattr(module, attribute)
        except Exception as error:
            if broken is None:
                raise
            broken[name] = explain(error)
            continue
        for item in items:
            if item.id in found:
                raise ValueError(f"ids must be unique; {item.id!r} came twice, again in {name}")
            found[item.id] = item
    return found
