"""Other settings of the solvers for the time of a test, and a look at the routes that are taken."""

import contextlib
import logging

from lslmatch.assignment import settings
from lslmatch.assignment.streamed import ROUTES

#: The routes that make no matrix of all costs in the first place.
STREAMED = tuple(route.name for route in ROUTES)
#: Changes with which it searches by region whatever the points look like, in many small regions.
BY_REGION = {
    "region_pairs": 0,
    "region_dimensions": 1000,
    "region_mutual": -1.0,
    "region_near": 1.0,
    "tile_columns": 32,
}


def set_solver(monkeypatch, **changes):
    """Change some of the default settings until the patch is undone; earlier changes stay."""
    monkeypatch.setattr(settings, "DEFAULT", settings.DEFAULT._replace(**changes))


class _Routes(logging.Handler):
    """Notes the name of each route that is tried, and whether it solved its problem."""

    def __init__(self):
        super().__init__()
        self.tried = []

    def emit(self, record):
        if record.levelno == logging.DEBUG:  # others say how far a long run is
            *_, outcome, name = record.args
            self.tried.append((name, outcome == "solved by"))


@contextlib.contextmanager
def noted_routes():
    """Give a list to which the routes are added that are tried: their names, and whether they solved it."""
    logger, handler = logging.getLogger("lslmatch"), _Routes()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield handler.tried
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
