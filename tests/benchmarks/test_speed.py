"""The timings. The ordinary tests run them on tiny instances, once each and untimed."""

import functools

import numpy as np
import pytest

from tests.benchmarks.instances import draw
from tests.benchmarks.peers import OURS, PRODUCT, PRODUCT_IN_PLACE, pair_costs, prepare
from tests.benchmarks.plan import current_plan

PLAN = current_plan()


@functools.lru_cache(maxsize=1)
def data_of(case):
    return draw(case)


@functools.lru_cache(maxsize=1)
def costs_of(case):
    return pair_costs(data_of(case), prepare(OURS, data_of(case), case.objective)(), case.objective)


@pytest.mark.filterwarnings("ignore::lslmatch.AlignmentWarning")  # wild points are among the cases
@pytest.mark.parametrize("entry", PLAN, ids=lambda e: f"{e.case.name}-{e.repeat}-{e.contestant}")
def test_speed(benchmark, entry):
    data = data_of(entry.case)
    benchmark.extra_info |= {"case": list(entry.case), "contestant": entry.contestant}
    call = prepare(entry.contestant, data, entry.case.objective)
    warm = entry.rounds > 1 or entry.contestant == OURS and entry.repeat == 0
    columns = benchmark.pedantic(call, rounds=entry.rounds, warmup_rounds=int(warm))
    if entry.contestant not in (PRODUCT, PRODUCT_IN_PLACE):
        assert_solves(entry.case, columns)


def assert_solves(case, columns):
    """The same optimum as the library's, up to the digits that distances by a matrix product lose."""
    assert np.unique(columns).size == case.n
    costs, ours = pair_costs(data_of(case), columns, case.objective), costs_of(case)
    assert abs(costs.sum() - ours.sum()) <= 1e-6 * np.abs(ours).sum()
