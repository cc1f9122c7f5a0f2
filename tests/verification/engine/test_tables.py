"""Tables as CSV: what is written, and what comes back."""

import math

from verification.engine.tables import read_table, table_to_csv

ROWS = [
    {"data": "corn, m5", "n": 80, "share": 1 / 3, "noise": 25.0, "high": math.inf, "slope": math.nan},
    {"data": "tablets", "n": 655, "share": 1.0, "noise": "", "high": 2e-7, "slope": -0.5},
]


def test_numbers_have_six_digits_and_integers_stay_integers():
    assert table_to_csv(ROWS) == (
        'data,n,share,noise,high,slope\n"corn, m5",80,0.333333,25,inf,nan\ntablets,655,1,,2e-07,-0.5\n'
    )


def test_a_table_is_read_as_it_was_written(tmp_path):
    (tmp_path / "table.csv").write_text(table_to_csv(ROWS))
    first, second = read_table(tmp_path / "table.csv")
    assert (first["data"], first["n"], first["share"]) == ("corn, m5", 80, 0.333333)
    assert first["high"] == math.inf
    assert math.isnan(first["slope"])
    assert math.isnan(second["noise"])
    assert second["slope"] == -0.5


def test_a_table_without_rows_is_read_as_such(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(table_to_csv([]), encoding="utf-8")
    assert read_table(path) == []
