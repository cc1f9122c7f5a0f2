"""Numbers and formulas as the page shows them."""

import math

import pytest

from verification.report.page import _plain
from verification.report.typesetting import formula, number


@pytest.mark.parametrize(
    ("typed", "html"),
    [
        ("alpha^2 <= 1", "α<sup>2</sup> ≤ 1"),
        ("||sigma||_4^2", "‖σ‖<sub>4</sub><sup>2</sup>"),
        ("sup_{|a|<1} x_i", "sup<sub>|a|&lt;1</sub> x<sub>i</sub>"),
        ("4e^(-d/(224 alpha^2))", "4e<sup>-d/(224 α<sup>2</sup>)</sup>"),
        ("Z#_π(i)", "Z#<sub>π(i)</sub>"),
        ("tau-hat", "τ\u0302"),
        ("argmin_tau beta theta", "argmin<sub>τ</sub> β θ"),
        ("<script>", "&lt;script&gt;"),
        ("7e-11 of it, 1e+03", "7 · 10<sup>−11</sup> of it, 10<sup>3</sup>"),
        ("slope -0.5 of thm-2-five", "slope −0.5 of thm-2-five"),
    ],
)
def test_formulas_are_set_and_escaped(typed, html):
    assert str(formula(typed)) == html


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0"),
        (-2.5, "−2.5"),
        (12345.6, "12\u202f346"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "undefined"),
        ("word", "word"),
        (1e-7, "1e−07"),
        (999.9, "1\u202f000"),
    ],
)
def test_numbers_for_readers(value, text):
    assert number(value) == text


def test_json_has_no_nan_or_infinity():
    assert _plain({"a": (math.inf, 1), "b": [math.nan]}) == {"a": [None, 1], "b": [None]}
