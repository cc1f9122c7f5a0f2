"""The pictures of howto/look.md and howto/without-partner.md, drawn by the code of these pages.

python docs/look_pictures.py           # writes docs/pictures/look-*.png and without-partner-*.png
python docs/look_pictures.py --print   # prints what each example prints, too
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import matplotlib

HERE = Path(__file__).resolve().parent
LOOK, WITHOUT_PARTNER = (HERE / "howto" / f"{name}.md" for name in ("look", "without-partner"))
sys.path.insert(0, str(HERE.parent))


def main(arguments: list[str]) -> None:
    """Draw the pictures of both pages."""
    matplotlib.use("Agg")
    verbose = "--print" in arguments
    _run(WITHOUT_PARTNER, verbose)
    namespace = _run(LOOK, verbose)
    _photograph(namespace["target"].as_uri(), HERE / "pictures" / "look-report.png")


def _run(page: Path, verbose: bool) -> dict[str, Any]:
    """Run the examples of a page in order; save each figure under its number."""
    namespace: dict[str, Any] = {}
    number = 0
    text = page.read_text(encoding="utf-8")
    for example in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(example, str(page), "exec"), namespace)
        if verbose and printed.getvalue():
            print(printed.getvalue())
        if "figure, " in example:
            number += 1
            target = HERE / "pictures" / f"{page.stem}-{number}.png"
            target.parent.mkdir(exist_ok=True)
            namespace["figure"].savefig(target, dpi=110, metadata={"Software": None})
    return namespace


def _photograph(address: str, target: Path) -> None:
    """Take a picture of a page, if there is a browser."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None or importlib.util.find_spec("playwright") is None:
        print(f"{target.name} was left as it is: there is no Chromium, or no playwright")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as program:
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = program.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport={"width": 900, "height": 1000})
        page.goto(address)
        page.locator("#pairs tbody button").first.click()
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
