"""Other settings of the streamed solver for the time of a test."""

from lslmatch.assignment import settings

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
