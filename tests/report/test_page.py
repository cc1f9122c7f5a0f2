"""The page of a match: what it says, what it lists, and that words from the data stay words."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from lslmatch import check_certificate, diagnose, make_report, match
from lslmatch.diagnosis.outcome import Diagnosis
from lslmatch.model import random_configuration
from lslmatch.report import data, listing, words
from lslmatch.results import Labels, MatchResult

EVIL = (
    "</script><script>document.title='broken'</script>",
    "\"quotes\" & 'more'",
    "<!--<script>",
    "{{proof}}",
)


@pytest.fixture(scope="module")
def case():
    """Forty points and thirty-six, with names that look like HTML."""
    x, y = random_configuration(40, 3, separation=1.5, scale=2.0, rng=3).sample(rng=4)
    x_names = np.array([*EVIL, *(f"sample {k}" for k in range(4, 40))], object)
    y_names = np.array([f"reading {k}" for k in range(36)], object)
    result = match(x, y[:36])._replace(labels=Labels(x_names, y_names))
    return x, y[:36], result, diagnose(x, y[:36], result)


class Parts(HTMLParser):
    """Collects the elements of a page, and the text of its scripts."""

    def __init__(self):
        super().__init__()
        self.elements, self.scripts, self.open = [], [], False

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open = tag == "script"
        if self.open:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.open = False

    def handle_data(self, text):
        if self.open:
            self.scripts[-1] += text


def parts(page):
    found = Parts()
    found.feed(page)
    return found


def test_page_says_what_was_found(case):
    x, y, result, diagnosis = case
    page = make_report(
        x, y, result, diagnosis, names=("a.csv", "b.csv"), command="lslmatch match a.csv b.csv"
    )
    for said in (
        "40 points of a.csv and 36 points of b.csv were matched: 36 pairs. Without a partner: 4 of a.csv.",
        f"{diagnosis.doubtful().size} pairs with a confidence below 0.9 are doubtful",
        "All 36 pairs are listed.",
        "Proven by dual variables",
        "not that the pairs are true",
        "<code>lslmatch match a.csv b.csv</code>",
        "numba 0.",
    ):
        assert said in page
    assert f"{check_certificate(x, y, result):.1e}" in page


def test_data_of_the_page_are_those_of_the_match(case):
    x, y, result, diagnosis = case
    found = json.loads(parts(make_report(x, y, result, diagnosis)).scripts[0])
    rows, partner = np.array(found["x"]), np.array(found["y"])
    np.testing.assert_array_equal(result.permutation[rows], partner)
    assert rows.size == 36
    assert found["xLabel"] == [str(result.labels.x[i]) for i in rows]
    np.testing.assert_allclose(found["confidence"], diagnosis.confidence[rows], rtol=1e-4)
    np.testing.assert_allclose(found["margin"], diagnosis.margin[rows], rtol=1e-4)
    away = np.linalg.norm(x[rows] - result.transform(y)[partner], axis=1)
    np.testing.assert_allclose(found["distance"], away, rtol=1e-4)
    for k, (first, second, difference) in found["details"].items():
        np.testing.assert_allclose(first, x[rows[int(k)]], rtol=1e-5)
        np.testing.assert_allclose(second, result.transform(y)[partner[int(k)]], rtol=1e-5)
        exact = x[rows[int(k)]] - result.transform(y)[partner[int(k)]]
        np.testing.assert_allclose(difference, exact, rtol=1e-4)
    assert len(found["details"]) == 36
    assert len(found["xAlone"]) == 8
    # Where y was before it was mapped, as the script computes it.
    mapped, offset = np.reshape(found["yPlace"], (-1, 2)), np.array(found["offset"])
    plane = data.principal_plane(data.midpoints(x, y, result))._replace(centre=x.mean(axis=0))
    np.testing.assert_allclose((mapped - offset) / found["scale"], plane.places(y)[partner], atol=1e-2)


def test_words_from_the_data_stay_words(case):
    x, y, result, diagnosis = case
    names = (EVIL[0], EVIL[1])
    plain = parts(make_report(x, y, result._replace(labels=None), diagnosis, command="a command"))
    found = parts(make_report(x, y, result, diagnosis, names=names, command=EVIL[0]))
    assert [tag for tag, _ in found.elements] == [tag for tag, _ in plain.elements]
    assert len(found.scripts) == 2
    assert EVIL[3] in json.loads(found.scripts[0])["xLabel"]
    assert "<" not in found.scripts[0]


def test_page_asks_for_nothing(case):
    x, y, result, diagnosis = case
    page = make_report(x, y, result, diagnosis)
    found = parts(page)
    for tag, attributes in found.elements:
        assert not {"src", "srcset", "action"} & set(attributes), tag
        assert attributes.get("href", "data:,") == "data:,"
    assert "url(" not in page
    assert not re.search(r"https?://", page)
    (policy,) = [a["content"] for t, a in found.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy


def test_without_diagnosis_or_certificate_the_page_says_so(case):
    x, y, result, _ = case
    page = make_report(x, y, match(x, y, objective="greedy"))
    assert "was not estimated" in page
    assert "There is no certificate" in page
    bare = diagnose(x, y, match(x, y, objective="greedy"))
    assert "no confidences of single pairs" in make_report(x, y, match(x, y, objective="greedy"), bare)
    found = json.loads(parts(make_report(x, y, result)).scripts[0])
    assert found["confidence"] is None
    assert found["margin"] is None


@pytest.mark.parametrize("d", [1, 2, 60])
def test_any_dimension_and_size_has_a_page(d):
    x = np.random.default_rng(0).normal(size=(5, d)) * 1e150
    result = match(x, x[::-1].copy(), pairs=4)
    found = json.loads(parts(make_report(x, x[::-1], result)).scripts[0])
    assert len(found["x"]) == 4
    assert len(found["details"]["0"]) == (4 if d == 60 else 3)
    assert len(found["details"]["0"][0]) == min(d, data.MOST_COORDINATES)
    assert None not in found["xPlace"]


def test_a_matching_of_no_pairs_has_a_page_and_a_summary():
    x = np.random.default_rng(0).normal(size=(4, 3))
    none = match(x, x)._replace(permutation=np.full(4, -1), price=-100.0)
    page = make_report(x, x, none, violation=0.0)
    assert "0 pairs. Without a partner: 4 of x and 4 of y." in page
    assert len(json.loads(parts(page).scripts[0])["yAlone"]) == 8
    assert "4 of x, 4 of y" in str(none.summary())
    assert np.isnan(none.aligned(x)).all()
    assert none.aligned(x, missing="drop").shape == (0, 3)


def large(pairs, doubtful):
    """Make a result of many pairs, some of them doubtful, without matching anything."""
    confidence = np.ones(pairs)
    confidence[:doubtful] = np.linspace(0.1, 0.89, doubtful)
    result = MatchResult(np.arange(pairs), 1.0, np.zeros(2), 0.0, None, None, "lsl", None)
    unknown = [np.nan] * 3
    return result, Diagnosis("", *unknown, confidence, *unknown, confidence, confidence)


@pytest.mark.parametrize(
    ("pairs", "doubtful", "kept", "sampled"),
    [(5000, 10, 5000, 0), (5001, 10, 10, 4990), (9000, 4500, 4000, 1000), (5001, 0, 0, 5000)],
)
def test_many_pairs_are_listed_in_part(pairs, doubtful, kept, sampled):
    result, diagnosis = large(pairs, doubtful)
    found = listing.list_pairs(result, diagnosis)
    assert (found.doubtful, found.sampled) == (doubtful, sampled)
    assert found.rows.size == 5000
    assert np.unique(found.rows).size == 5000
    if sampled:
        assert set(range(kept)) <= set(found.rows.tolist())
        said = words.listed(result, found)
        assert f"Of {pairs:,} pairs this page lists 5,000: {kept:,} doubtful ones" in said
        assert ("the least confident of 4,500" in said) == (doubtful == 4500)
        assert f"{sampled:,} of the others, drawn at random" in said
    again = listing.list_pairs(result, diagnosis)
    np.testing.assert_array_equal(found.rows, again.rows)


def test_a_share_just_below_one_is_not_called_all():
    result, diagnosis = large(10, 0)
    nearly = diagnosis._replace(expected_right=0.9997, expected_right_interval=(0.99, 1.0))
    assert "Over 99.9 % of the pairs are right (99 % to 100 %)" in words.trust(nearly)
    assert "No pair has a confidence below 0.9" in words.trust(nearly)
