import pytest

from tests.support.solver import set_solver


@pytest.fixture(params=["by size", "streamed", "streamed, short lists"])
def each_solver(request, monkeypatch):
    """Solve as the size of the problem suggests, or without the matrix of costs however small it is."""
    if request.param != "by size":
        set_solver(monkeypatch, dense_pairs=0)
    if request.param.endswith("short lists"):
        set_solver(monkeypatch, list_size=2)
