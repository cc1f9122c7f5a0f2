"""The figure of limits for the share of false pairs."""

from tests.verification.support import run_cells
from verification.figures import false_share


def test_a_lower_limit_keeps_fewer_pairs_and_fewer_false_ones():
    tables, sheet = run_cells(
        false_share.STUDY, false_share.FIGURES[0], ["d=4, noise=0.1", "d=10, noise=0.45"]
    )
    rows = {(row["noise"], row["asked"]): row for row in tables[""]}
    assert len(rows) == 2 * (len(false_share.ASKED) + 1)
    assert rows[0.1, "auto"]["recall"] > 0.9
    for noise in (0.1, 0.45):
        assert rows[noise, "0.02"]["pairs"] < rows[noise, "0.2"]["pairs"] <= rows[noise, "auto"]["pairs"]
        assert rows[noise, "0.02"]["false"] < rows[noise, "auto"]["false"]
        assert all(rows[noise, str(asked)]["expected"] <= asked for asked in false_share.ASKED)
    assert len(sheet.axes) == 2
