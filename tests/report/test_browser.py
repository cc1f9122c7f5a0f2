"""The page of a match in a real browser: it renders, sorts, searches, asks for nothing; words stay words."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from lslmatch import diagnose, make_report, match
from lslmatch.model import random_configuration
from lslmatch.results import Labels
from tests.support.reference import SMALL

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.skipif(SMALL, reason="kernels do not matter here: the run with compiled ones is enough"),
]

EVIL = (
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
)
OPTIONS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as program:
        browser = program.chromium.launch(executable_path=CHROMIUM, args=OPTIONS.split())
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A page of ninety pairs, twelve points of x without a partner, two of them named like HTML."""
    x, y = random_configuration(102, 6, separation=1.7, noise_ratio=9, scale=2.0, shift=30.0, rng=1).sample(2)
    names = np.array([*EVIL, *(f"sample {k}" for k in range(2, 102))], object)
    result = match(x, y[:90])._replace(labels=Labels(names, None))
    diagnosis = diagnose(x, y[:90], result)
    path = tmp_path_factory.mktemp("report") / "match.html"
    path.write_text(make_report(x, y[:90], result, diagnosis, names=EVIL, command=EVIL[0]), encoding="utf-8")
    return path.as_uri(), result, diagnosis


def look_at(context, address):
    """Open a page; give it, and a list of what it writes to its console or asks for."""
    page = context.new_page()
    trouble = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: trouble.append(request.url))
    page.goto(address)
    return page, trouble


@pytest.fixture(params=[(1200, 900, "light"), (390, 800, "dark")], ids=["desk", "phone"])
def opened(request, browser, case):
    """Open the page on a large or small screen; fail at the end if there was trouble."""
    width, height, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page, trouble = look_at(context, case[0])
    page.wait_for_selector("html[data-ready]", state="attached")
    yield page, *case[1:]
    assert trouble == [case[0]]  # the page itself
    context.close()


def column(page, k):
    return page.locator(f"#pairs tbody td:nth-child({k})").all_inner_texts()


def test_page_renders_sorts_searches_and_shows_pairs(opened):
    page, result, diagnosis = opened
    # It fits, and something is drawn.
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    canvas = page.locator("#clouds")
    after = canvas.screenshot()
    assert len(after) > 5000
    page.click("#before")
    before = canvas.screenshot()
    assert len(before) > 5000
    assert before != after
    page.click("#after")
    assert canvas.screenshot() == after

    # The least confident pair comes first; a click on a heading sorts by it, another one turns it round.
    weakest = int(diagnosis.doubtful()[0])
    assert column(page, 1)[0] == result.labels.x[weakest]
    page.get_by_role("button", name="distance").click()
    distance = [float(text) for text in column(page, 5)]
    assert distance == sorted(distance)
    page.get_by_role("button", name="distance").click()
    assert float(column(page, 5)[0]) > distance[-1] or len(distance) == 90
    assert page.get_attribute("th[aria-sort]", "aria-sort") == "descending"

    # Search, by the keyboard; and doubtful ones only.
    page.focus("#search")
    page.keyboard.type("SAMPLE 10")
    matched = [k for k in range(2, 102) if result.permutation[k] >= 0]
    wanted = {f"sample {k}" for k in matched if str(k).startswith("10")}
    assert set(column(page, 1)) == wanted
    page.fill("#search", "")
    page.check("#only")
    assert f"{diagnosis.doubtful().size} of 90 pairs" in page.inner_text("#count")
    page.uncheck("#only")
    page.click("#all")
    assert page.locator("#pairs tbody tr").count() == 90

    # Both rows side by side, reached by the keyboard alone.
    page.locator("#pairs tbody button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#detail tbody tr").count() == 6
    assert page.locator("#detail:focus").count() == 1

    # Words stay words.
    assert page.title() == f"{EVIL[0]} and {EVIL[1]}, matched"
    assert page.inner_text("h1") == page.title()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def test_pairs_of_the_picture_can_be_pointed_at_and_clicked(browser, case):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page, _ = look_at(context, case[0])
    page.wait_for_selector("html[data-ready]", state="attached")
    canvas = page.locator("#clouds")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    # From the left edge to the right, until something is met.
    for step in range(0, int(box["width"]), 6):
        page.mouse.move(box["x"] + step, box["y"] + box["height"] / 2)
        if page.locator("#tip").is_visible():
            break
    shown = page.inner_text("#tip")
    assert ", confidence " in shown
    page.mouse.down()
    page.mouse.up()
    assert page.inner_text("#detail h3") in shown
    context.close()


def test_a_page_that_does_not_escape_words_is_noticed(browser, case, tmp_path):
    """The control: script from a label is met, and even then the page's own policy stops it."""
    whole = Path.from_uri(case[0]) if hasattr(Path, "from_uri") else Path(case[0].removeprefix("file://"))
    naive = tmp_path / "naive.html"
    text = whole.read_text(encoding="utf-8").replace("\\u003c", "<").replace("\\u003e", ">")
    naive.write_text(text, encoding="utf-8")
    context = browser.new_context()
    page, trouble = look_at(context, naive.as_uri())
    assert len(trouble) > 1
    assert any("Content Security Policy" in line for line in trouble)
    assert page.title() != "broken"
    context.close()
