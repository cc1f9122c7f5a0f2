"""Without compilation a look at all angles takes long: only its own tests, with few points, have it then."""

import pytest

from tests.support.reference import SMALL


@pytest.fixture(autouse=True)
def no_look_at_all_angles(request, monkeypatch):
    if SMALL and request.node.path.name != "test_looking.py":
        monkeypatch.setattr("lslmatch.similarity.looking._PAIRS", 0)
