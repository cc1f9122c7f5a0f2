"""The tables of the pages that are made of a figure's numbers as a whole.

python docs/measured_tables.py           # writes them into their pages
python docs/measured_tables.py --check   # only says which are stale
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from verification.engine.samples import Row  # noqa: E402
from verification.engine.tables import read_table  # noqa: E402
from verification.figures import false_share, without_partner_real  # noqa: E402
from verification.scenarios.shared_objects import PARTS  # noqa: E402


def real_sets(rows: Sequence[Row]) -> list[list[str]]:
    """Give the shares of partners found and of false pairs, a line for each real set."""
    parts = [part for part in PARTS if part != "all"]
    lines = [["set", "objects", "draws", *parts, "all: no pairs"]]
    shown = [row for row in rows if row["method"] == without_partner_real.CHOSEN]
    for name in dict.fromkeys(row["data"] for row in shown):
        found = {row["part"]: row for row in shown if row["data"] == name}
        unrelated = found["all"]
        draws = round(unrelated["draws"])
        lines.append(
            [
                name if unrelated["split"] == "development" else f"held out: {name}",
                f"{found['none']['x_points']:.0f}",
                f"{draws}",
                *(f"{found[part]['recall']:.2f} / {found[part]['false']:.2f}" for part in parts),
                f"{round(unrelated['none'] * draws)} of {draws}",
            ]
        )
    return lines


def limits_of_false_pairs(rows: Sequence[Row]) -> list[list[str]]:
    """Give the share of false pairs that came, a line for each setting."""
    asked = [*map(str, false_share.ASKED), false_share.AUTO]
    lines = [["d, noise", f"`FalseShare({asked[0]})`", *asked[1:-1], '`"auto"`']]
    for d, noise in dict.fromkeys((row["d"], row["noise"]) for row in rows):
        found = {str(row["asked"]): row for row in rows if (row["d"], row["noise"]) == (d, noise)}
        cells = [
            f"{found[share]['false']:.3f} [{found[share]['false_low']:.3f}, {found[share]['false_high']:.3f}]"
            for share in asked
        ]
        lines.append([f"{d:.0f}, {noise:g}", *cells])
    return lines


class Table(NamedTuple):
    """A page, the figure whose numbers it shows, and how they become lines of cells."""

    page: Path
    figure: str
    make: Callable[[Sequence[Row]], list[list[str]]]

    def renewed(self) -> str:
        """Give the page with the table of the committed numbers, between its two marks."""
        head, *lines = self.make(read_table(HERE / "figures" / f"{self.figure}.csv"))
        cells = [head, ["---"] * len(head), *lines]
        text = "".join("| " + " | ".join(line) + " |\n" for line in cells).replace("| --- ", "|---")
        marks = re.compile(f"(<!-- {self.figure} -->\n).*?(<!-- end -->\n)", re.DOTALL)
        page, count = marks.subn(
            lambda found: f"{found[1]}\n{text}\n{found[2]}", self.page.read_text("utf-8")
        )
        assert count == 1, f"{self.page.name} has the marks of {self.figure} {count} times"
        return page


TABLES = (
    Table(HERE / "real-data.md", "without-partner-real", real_sets),
    Table(HERE / "howto" / "without-partner.md", "false-share", limits_of_false_pairs),
)


def main(arguments: list[str]) -> int:
    """Write the tables, or say which are stale: 1 if one is."""
    stale = [table for table in TABLES if table.renewed() != table.page.read_text("utf-8")]
    for table in stale:
        print(f"{table.page.name}: the table of {table.figure} is stale")
        if "--check" not in arguments:
            table.page.write_text(table.renewed(), encoding="utf-8")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
