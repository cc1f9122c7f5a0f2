"""Settings for the tests of the verification."""

import functools

import pytest

from verification.report import alignment_maps


@pytest.fixture(scope="session", autouse=True)
def _heat_maps_are_drawn_once():
    """Keep the heat maps of every report: they come from committed tables, and are all alike."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment_maps, "load", functools.cache(alignment_maps.load))
        yield
