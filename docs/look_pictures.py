"""The pictures of howto/look.md, drawn by the code of that page.

python docs/look_pictures.py           # writes docs/pictures/look-*.png
python docs/look_pictures.py --print   # prints what each example prints, too
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib

HERE = Path(__file__).resolve().parent
PAGE = HERE / "howto" / "look.md"
sys.path.insert(0, str(HERE.parent))


def main(arguments: list[str]) -> None:
    """Run the examples in order; save each figure under its number."""
    matplotlib.use("Agg")
    namespace: dict[str, Any] = {}
    number = 0
    text = PAGE.read_text(encoding="utf-8")
    for example in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(example, str(PAGE), "exec"), namespace)
        if "--print" in arguments and printed.getvalue():
            print(printed.getvalue())
        if "figure, " in example:
            number += 1
            target = HERE / "pictures" / f"look-{number}.png"
            target.parent.mkdir(exist_ok=True)
            namespace["figure"].savefig(target, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main(sys.argv[1:])
