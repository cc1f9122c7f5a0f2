"""One mutation: what is changed, and which claims should see it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutation:
    """A single change of the library, or of what a statement says."""

    id: str
    what: str
    """What is wrong with it, in words."""
    target: str
    """``module:name``, or ``module:class.name``; several separated by blanks are changed alike."""
    change: Callable[[Any], Any]
    """From the honest object to the mutated one."""
    claims: tuple[str, ...]
    """The claims that are run under it."""
    unseen: str = ""
    """Why no claim can see it, and how far it would have to go; empty for one that must be seen."""
    profile: str = "smoke"
    """The least profile whose trials are enough to see it."""

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Change the target, and change it back."""
        places = [_place(target) for target in self.target.split()]
        honest = [getattr(*place) for place in places]
        for (owner, name), thing in zip(places, honest, strict=True):
            setattr(owner, name, self.change(thing))
        try:
            yield
        finally:
            for (owner, name), thing in zip(places, honest, strict=True):
                setattr(owner, name, thing)


def _place(target: str) -> tuple[Any, str]:
    module, _, path = target.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, name = path.split(".")
    for step in outer:
        owner = getattr(owner, step)
    return owner, name
